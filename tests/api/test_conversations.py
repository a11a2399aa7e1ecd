import json

import pytest

from domain import LOCAL_USER, Principal
from tests.api.conftest import bearer

TALKS = "/api/v1/conversations"
BERT = Principal("bert")


@pytest.fixture
def client(call):
    return call()


def begun(client, title="Leave", **more):
    response = client.post(TALKS, json={"title": title, **more})
    assert response.status_code == 201, response.text
    return response.json()


def asked(client, question="How many days of annual leave?", **more):
    response = client.post("/api/v1/ask", json={"question": question, **more})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_conversation_can_be_begun_read_changed_and_asked_in(client):
    talk = begun(client, search={"mode": "bm25", "k": 3})
    path = f"{TALKS}/{talk['id']}"
    assert client.get(path).json() == {**talk, "turns": []}
    assert talk["search"]["mode"] == "bm25"
    changed = client.patch(path, json={"title": " Days off ", "search": {"k": 2}}).json()
    assert (changed["title"], changed["search"]["k"]) == ("Days off", 2)
    assert changed["search"]["mode"] is None, "the search is told as a whole"
    assert client.patch(path, json={}).json() == changed
    turn = asked(client, conversation_id=talk["id"])
    assert turn["search"]["k"] == 2
    [read] = client.get(path).json()["turns"]
    assert read == {**turn, "versions": [turn["id"]]}


def test_the_list_has_pages_and_finds_words(client):
    ids = [begun(client, f"Talk {n}")["id"] for n in range(3)]
    asked(client, conversation_id=ids[0])
    listed = client.get(TALKS).json()
    assert [one["id"] for one in listed["items"]] == [ids[0], ids[2], ids[1]]
    page = client.get(TALKS, params={"limit": 1, "offset": 1}).json()
    assert ([one["id"] for one in page["items"]], page["total"]) == ([ids[2]], 3)
    found = client.get(TALKS, params={"words": "ANNUAL leave"}).json()
    assert ([one["id"] for one in found["items"]], found["total"]) == ([ids[0]], 1)
    assert client.get(TALKS, params={"limit": 201}).status_code == 422


def test_the_branch_of_an_older_version_can_be_shown_again(client):
    first = asked(client)
    talk, id_ = first["conversation_id"], first["id"]
    after = asked(client, "And then?", conversation_id=talk)
    second = asked(client, "Which gateway?", conversation_id=talk, turn_id=id_)
    path = f"{TALKS}/{talk}"
    assert [one["id"] for one in client.get(path).json()["turns"]] == [second["id"]]
    shown = client.put(f"{path}/shown", json={"turn_id": id_}).json()
    assert [one["id"] for one in shown["turns"]] == [id_, after["id"]]
    assert shown["turns"][0]["versions"] == [id_, second["id"]]
    assert client.get(path).json() == shown
    assert client.put(f"{path}/shown", json={"turn_id": "none"}).status_code == 404


def test_a_turn_of_any_branch_is_read_by_its_id(client):
    first = asked(client)
    path = f"{TALKS}/{first['conversation_id']}"
    asked(client, conversation_id=first["conversation_id"], turn_id=first["id"])
    assert client.get(f"{path}/turns/{first['id']}").json() == first
    elsewhere = f"{TALKS}/{begun(client)['id']}/turns/{first['id']}"
    assert [client.get(f"{path}/turns/none").status_code, client.get(elsewhere).status_code] == [
        404,
        404,
    ]


def test_a_deleted_conversation_is_gone_until_it_is_restored(client):
    talk = begun(client)
    path = f"{TALKS}/{talk['id']}"
    response = client.delete(path)
    assert (response.status_code, response.content) == (204, b"")
    assert client.get(path).status_code == 404
    assert client.get(TALKS).json()["total"] == 0
    assert client.post(f"{path}/restore").json()["id"] == talk["id"]
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("format", "media_type", "holds"),
    [
        ("md", "text/markdown", "25 days"),
        ("html", "text/html", "25 days"),
        ("json", "application/json", "25 days"),
    ],
)
def test_a_conversation_is_downloaded_as_a_file(client, format, media_type, holds):
    talk = asked(client, "휴가 annual leave?")["conversation_id"]
    response = client.get(f"{TALKS}/{talk}/export", params={"format": format})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith(media_type)
    name = response.headers["content-disposition"]
    assert name == f"attachment; filename*=UTF-8''%ED%9C%B4%EA%B0%80-annual-leave.{format}"
    assert holds in response.text
    assert client.get(f"{TALKS}/{talk}/export", params={"format": "pdf"}).status_code == 422


def test_an_exported_conversation_can_be_imported_as_a_new_one(client):
    turn = asked(client)
    path = f"{TALKS}/{turn['conversation_id']}"
    file = client.get(f"{path}/export", params={"format": "json"}).content
    response = client.post(f"{TALKS}/import", files={"file": ("talk.json", file)})
    assert response.status_code == 201
    kept = client.get(f"{TALKS}/{response.json()['id']}").json()
    assert kept["id"] != turn["conversation_id"]
    assert kept["turns"][0]["citations"] == turn["citations"]


@pytest.mark.parametrize("file", [b"", b"{}", b"\xff", json.dumps({"footnote": "x"}).encode()])
def test_another_file_is_no_conversation_and_nothing_is_kept(client, file):
    response = client.post(f"{TALKS}/import", files={"file": ("talk.json", file)})
    assert response.status_code == 409
    assert client.get(TALKS).json()["total"] == 0


@pytest.mark.parametrize(
    "wrong", [{}, {"title": " "}, {"title": "x" * 61}, {"title": "x", "user_id": "bert"}]
)
def test_what_cannot_begin_a_conversation_is_refused(client, wrong):
    assert client.post(TALKS, json=wrong).status_code == 422
    assert client.get(TALKS).json()["total"] == 0


@pytest.mark.parametrize(
    ("method", "below", "more"),
    [
        ("GET", "", {}),
        ("PATCH", "", {"json": {"title": "Mine now"}}),
        ("PATCH", "", {"json": {"search": {"k": 1}}}),
        ("PATCH", "", {"json": {}}),
        ("DELETE", "", {}),
        ("POST", "/restore", {}),
        ("PUT", "/shown", {"json": {"turn_id": "none"}}),
        ("GET", "/export?format=json", {}),
    ],
)
def test_the_conversation_of_another_is_none(client, method, below, more):
    other = client.services.conversations.begin(BERT, "Mine")
    for id_ in (other.id, "none"):
        assert client.request(method, f"{TALKS}/{id_}{below}", **more).status_code == 404
    assert client.services.conversations.get(BERT, other.id) == other
    assert client.get(TALKS).json()["total"] == 0
    theirs = bearer(client.services, principal=BERT)
    assert client.get(TALKS, headers=theirs).json()["items"][0]["id"] == other.id


def test_a_key_that_does_not_ask_sees_no_conversation(client):
    client.services.conversations.begin(LOCAL_USER, "Mine")
    headers = bearer(client.services, "read", "manage")
    assert client.get(TALKS, headers=headers).status_code == 403
