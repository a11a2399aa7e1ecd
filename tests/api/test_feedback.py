"""Ratings over HTTP: put, read, delete, list, and replay the answer."""

import pytest

from domain import LOCAL_USER, ApiScope, Principal, Scope, SearchChoice
from tests.api.conftest import bearer

RATINGS = "/api/v1/ratings"
LEAVE = "How many days of annual leave do new employees get?"
BERT = Principal("bert")


@pytest.fixture
def client(build_client):
    with build_client(embed=True) as client:
        yield client


@pytest.fixture
def turn(client):
    return client.services.chat.ask(LOCAL_USER, LEAVE)


def test_a_rating_is_stored_with_its_reason_and_can_be_read(client, turn):
    body = {"grade": 0, "reason": "wrong sources", "comment": " Not this page. "}
    rating = client.put(f"{RATINGS}/{turn.id}", json=body).json()
    assert rating["comment"] == "Not this page."
    assert client.get(f"{RATINGS}/{turn.id}").json() == rating
    assert [one.grade for one in client.services.labels.list(LOCAL_USER)] == [0]


def test_deleting_a_rating_deletes_its_labels(client, turn):
    client.put(f"{RATINGS}/{turn.id}", json={"grade": 1})
    assert client.services.labels.list(LOCAL_USER)
    assert client.delete(f"{RATINGS}/{turn.id}").status_code == 204
    assert client.services.labels.list(LOCAL_USER) == []
    unrated = client.get(f"{RATINGS}/{turn.id}")
    assert unrated.status_code == 404
    assert "not rated" in unrated.json()["detail"]


def test_ratings_are_listed_with_their_questions_and_conversations(client, turn):
    client.put(f"{RATINGS}/{turn.id}", json={"grade": 1})
    page = client.get(RATINGS, params={"limit": 1}).json()
    assert page["total"] == 1
    [rated] = page["items"]
    assert (rated["question"], rated["conversation_id"]) == (LEAVE, turn.conversation_id)
    assert rated["rating"]["grade"] == 1
    assert client.get(RATINGS, params={"offset": 1}).json() == {"items": [], "total": 1}


def test_a_replay_compares_both_answers_and_stores_nothing(client, turn, handbook):
    (handbook / "leave.md").write_text("# Leave policy\n\nNew employees get 27 days of leave.\n")
    client.services.directories.import_directory(LOCAL_USER, handbook)
    replay = client.post(f"{RATINGS}/{turn.id}/replay").json()
    assert "25 days" in replay["before"]["answer"]
    assert "27 days" in replay["after"]["answer"]
    assert None in {one["now"] for one in replay["passages"]}
    assert None in {one["then"] for one in replay["passages"]}
    [stored] = client.services.turns.list(LOCAL_USER, turn.conversation_id)
    assert "25 days" in stored.answer


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("PUT", "", {"grade": 1}), ("GET", "", None), ("DELETE", "", None), ("POST", "/replay", None)],
)
def test_the_answers_of_other_users_are_not_found(client, turn, method, path, body):
    bert = bearer(client.services, principal=BERT)
    address = f"{RATINGS}/{turn.id}{path}"
    assert client.request(method, address, json=body, headers=bert).status_code == 404


def test_replaying_a_missing_answer_logs_no_disconnection(client, caplog):
    for _ in range(5):
        assert client.post(f"{RATINGS}/nothing/replay").status_code == 404
    assert "nobody waited" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"grade": None},
        {"grade": 3},
        {"grade": 1, "reason": "because"},
        {"grade": 1, "comment": "x" * 2001},
        {"grade": 1, "stars": 5},
    ],
)
def test_an_invalid_rating_is_rejected(client, turn, body):
    assert client.put(f"{RATINGS}/{turn.id}", json=body).status_code == 422


def test_replaying_an_answer_from_a_deleted_source_is_a_conflict(client, turn):
    services = client.services
    [source] = services.sources.list(LOCAL_USER)
    search = SearchChoice(Scope(sources=(source.source.id,)))
    narrow = services.chat.ask(LOCAL_USER, LEAVE, search=search)
    removal = services.sources.delete(LOCAL_USER, source.source.id)
    services.worker.wait(LOCAL_USER, removal.id, lambda _: None)
    assert client.post(f"{RATINGS}/{narrow.id}/replay").status_code == 409


def test_a_read_only_key_cannot_rate(client, turn):
    reader = bearer(client.services, ApiScope.READ)
    address = f"{RATINGS}/{turn.id}"
    assert client.put(address, json={"grade": 1}, headers=reader).status_code == 403
    assert client.post(f"{address}/replay", headers=reader).status_code == 403
    assert client.get(RATINGS, headers=reader).status_code == 200
