"""Labels over HTTP: given, listed page by page, taken back, each person's own."""

import pytest

from domain import LOCAL_USER, ApiScope, Principal, SearchMode
from services.evaluation.label_service import LabelOrigin
from tests.api.conftest import bearer

LABELS = "/api/v1/labels"
LEAVE = "How many days of leave?"
BERT = Principal("bert")


@pytest.fixture
def client(call):
    return call(embed=True)


@pytest.fixture
def passage(client):
    return client.services.search.search(LOCAL_USER, "annual leave", mode=SearchMode.BM25)[0]


def put(client, passage_id, grade=1, question=LEAVE, **more):
    body = {"question": question, "passage_id": passage_id, "grade": grade}
    return client.put(LABELS, json=body, **more)


def test_a_label_holds_the_passage_it_judges(client, passage):
    told = put(client, passage.id, question=f" {LEAVE} ").json()
    assert (told["question"], told["passage_id"], told["grade"]) == (LEAVE, passage.id, 1)
    assert told["text"] == passage.page_content
    assert told["created_at"].endswith("Z")
    [kept] = client.services.labels.list(LOCAL_USER)
    assert kept.origin is LabelOrigin.API


def test_a_label_is_replaced_by_another_of_the_same_passage_and_question(client, passage):
    first, second = put(client, passage.id, 1).json(), put(client, passage.id, 0).json()
    assert first["id"] == second["id"]
    assert client.get(LABELS).json() == {"items": [second], "total": 1}


def test_labels_are_listed_page_by_page_the_oldest_first(client, passage):
    given = [put(client, passage.id, question=text).json() for text in "abc"]
    page = client.get(LABELS, params={"limit": 2, "offset": 1}).json()
    assert page == {"items": given[1:], "total": 3}


def test_a_label_that_is_taken_back_is_gone(client, passage):
    label = put(client, passage.id).json()
    assert client.delete(f"{LABELS}/{label['id']}").status_code == 204
    assert client.get(LABELS).json()["total"] == 0
    assert client.delete(f"{LABELS}/{label['id']}").status_code == 404


def test_the_labels_of_others_are_neither_listed_nor_taken_back(client, passage):
    label = put(client, passage.id).json()
    bert = bearer(client.services, principal=BERT)
    assert client.get(LABELS, headers=bert).json()["total"] == 0
    assert client.delete(f"{LABELS}/{label['id']}", headers=bert).status_code == 404
    assert client.get(LABELS).json()["total"] == 1


def test_a_passage_that_is_not_there_has_no_label(client):
    answer = put(client, "nowhere:1")
    assert answer.status_code == 404
    assert "search again" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"grade": 2},
        {"grade": True},
        {"grade": None},
        {"question": "\t"},
        {"question": "x" * 20_001},
    ],
)
def test_what_is_no_label_is_refused(client, passage, body):
    whole = {"question": LEAVE, "passage_id": passage.id, "grade": 1} | body
    assert client.put(LABELS, json=whole).status_code == 422


def test_a_key_that_only_reads_gives_no_labels(client, passage):
    reader = bearer(client.services, ApiScope.READ)
    assert put(client, passage.id, headers=reader).status_code == 403
    assert client.get(LABELS, headers=reader).status_code == 200
