import json

import pytest

from domain import LOCAL_USER, Principal
from tests.api.conftest import bearer

pytestmark = pytest.mark.usefixtures("ledger_kind")

CONVERSATIONS = "/api/v1/conversations"
BERT = Principal("bert")


@pytest.fixture
def client(build_client):
    return build_client()


def create(client, title="Leave", **more):
    response = client.post(CONVERSATIONS, json={"title": title, **more})
    assert response.status_code == 201, response.text
    return response.json()


def ask(client, question="How many days of annual leave?", **more):
    response = client.post("/api/v1/ask", json={"question": question, **more})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_conversation_can_be_created_read_changed_and_continued(client):
    conversation = create(client, search={"mode": "bm25", "k": 3})
    path = f"{CONVERSATIONS}/{conversation['id']}"
    assert client.get(path).json() == {**conversation, "turns": []}
    assert conversation["search"]["mode"] == "bm25"
    changed = client.patch(path, json={"title": " Days off ", "search": {"k": 2}}).json()
    assert (changed["title"], changed["search"]["k"]) == ("Days off", 2)
    assert changed["search"]["mode"] is None, "the search is replaced as a whole"
    assert client.patch(path, json={}).json() == changed
    turn = ask(client, conversation_id=conversation["id"])
    assert turn["search"]["k"] == 2
    [stored] = client.get(path).json()["turns"]
    assert stored == {**turn, "versions": [turn["id"]]}


def test_conversations_are_listed_in_pages_and_found_by_words(client):
    ids = [create(client, f"Talk {n}")["id"] for n in range(3)]
    ask(client, conversation_id=ids[0])
    everything = client.get(CONVERSATIONS).json()
    assert [one["id"] for one in everything["items"]] == [ids[0], ids[2], ids[1]]
    page = client.get(CONVERSATIONS, params={"limit": 1, "offset": 1}).json()
    assert ([one["id"] for one in page["items"]], page["total"]) == ([ids[2]], 3)
    matches = client.get(CONVERSATIONS, params={"words": "ANNUAL leave"}).json()
    assert ([one["id"] for one in matches["items"]], matches["total"]) == ([ids[0]], 1)
    assert client.get(CONVERSATIONS, params={"limit": 201}).status_code == 422


def test_the_branch_of_an_older_version_can_be_shown_again(client):
    first = ask(client)
    conversation_id, id_ = first["conversation_id"], first["id"]
    after = ask(client, "And then?", conversation_id=conversation_id)
    second = ask(client, "Which gateway?", conversation_id=conversation_id, turn_id=id_)
    path = f"{CONVERSATIONS}/{conversation_id}"
    assert [one["id"] for one in client.get(path).json()["turns"]] == [second["id"]]
    branch = client.put(f"{path}/shown", json={"turn_id": id_}).json()
    assert [one["id"] for one in branch["turns"]] == [id_, after["id"]]
    assert branch["turns"][0]["versions"] == [id_, second["id"]]
    assert client.get(path).json() == branch
    assert client.put(f"{path}/shown", json={"turn_id": "none"}).status_code == 404


def test_a_turn_of_any_branch_can_be_read_by_its_id(client):
    first = ask(client)
    path = f"{CONVERSATIONS}/{first['conversation_id']}"
    ask(client, conversation_id=first["conversation_id"], turn_id=first["id"])
    assert client.get(f"{path}/turns/{first['id']}").json() == first
    elsewhere = f"{CONVERSATIONS}/{create(client)['id']}/turns/{first['id']}"
    assert [client.get(f"{path}/turns/none").status_code, client.get(elsewhere).status_code] == [
        404,
        404,
    ]


def test_a_deleted_conversation_is_not_found_until_it_is_restored(client):
    conversation = create(client)
    path = f"{CONVERSATIONS}/{conversation['id']}"
    response = client.delete(path)
    assert (response.status_code, response.content) == (204, b"")
    assert client.get(path).status_code == 404
    assert client.get(CONVERSATIONS).json()["total"] == 0
    assert client.post(f"{path}/restore").json()["id"] == conversation["id"]
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("format", "media_type", "text"),
    [
        ("md", "text/markdown", "25 days"),
        ("html", "text/html", "25 days"),
        ("json", "application/json", "25 days"),
    ],
)
def test_a_conversation_can_be_downloaded_as_a_file(client, format, media_type, text):
    conversation_id = ask(client, "휴가 annual leave?")["conversation_id"]
    response = client.get(f"{CONVERSATIONS}/{conversation_id}/export", params={"format": format})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith(media_type)
    name = response.headers["content-disposition"]
    assert name == f"attachment; filename*=UTF-8''%ED%9C%B4%EA%B0%80-annual-leave.{format}"
    assert text in response.text
    assert (
        client.get(
            f"{CONVERSATIONS}/{conversation_id}/export", params={"format": "pdf"}
        ).status_code
        == 422
    )


def test_an_exported_conversation_can_be_imported_as_a_new_one(client):
    turn = ask(client)
    path = f"{CONVERSATIONS}/{turn['conversation_id']}"
    file = client.get(f"{path}/export", params={"format": "json"}).content
    response = client.post(f"{CONVERSATIONS}/import", files={"file": ("talk.json", file)})
    assert response.status_code == 201
    copy = client.get(f"{CONVERSATIONS}/{response.json()['id']}").json()
    assert copy["id"] != turn["conversation_id"]
    assert copy["turns"][0]["citations"] == turn["citations"]


@pytest.mark.parametrize("file", [b"", b"{}", b"\xff", json.dumps({"footnote": "x"}).encode()])
def test_importing_an_invalid_file_is_rejected_and_nothing_is_stored(client, file):
    response = client.post(f"{CONVERSATIONS}/import", files={"file": ("talk.json", file)})
    assert response.status_code == 409
    assert client.get(CONVERSATIONS).json()["total"] == 0


@pytest.mark.parametrize(
    "body", [{}, {"title": " "}, {"title": "x" * 61}, {"title": "x", "user_id": "bert"}]
)
def test_an_invalid_new_conversation_is_rejected(client, body):
    assert client.post(CONVERSATIONS, json=body).status_code == 422
    assert client.get(CONVERSATIONS).json()["total"] == 0


@pytest.mark.parametrize(
    ("method", "suffix", "options"),
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
def test_the_conversation_of_another_user_is_not_found(client, method, suffix, options):
    other = client.services.conversations.begin(BERT, "Mine")
    for id_ in (other.id, "none"):
        assert (
            client.request(method, f"{CONVERSATIONS}/{id_}{suffix}", **options).status_code == 404
        )
    assert client.services.conversations.get(BERT, other.id) == other
    assert client.get(CONVERSATIONS).json()["total"] == 0
    theirs = bearer(client.services, principal=BERT)
    assert client.get(CONVERSATIONS, headers=theirs).json()["items"][0]["id"] == other.id


def test_a_key_without_the_scope_ask_cannot_list_conversations(client):
    client.services.conversations.begin(LOCAL_USER, "Mine")
    headers = bearer(client.services, "read", "manage")
    assert client.get(CONVERSATIONS, headers=headers).status_code == 403
