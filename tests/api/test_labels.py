"""Labels over HTTP: put, list, and delete; users see only their own."""

import pytest

from domain import LOCAL_USER, ApiScope, Principal, SearchMode
from services.evaluation.label_service import LabelOrigin
from tests.api.conftest import bearer

LABELS = "/api/v1/labels"
LEAVE = "How many days of leave?"
BERT = Principal("bert")


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


@pytest.fixture
def passage(client):
    return client.services.search.search(LOCAL_USER, "annual leave", mode=SearchMode.BM25)[0]


def put(client, passage_id, grade=1, question=LEAVE, **more):
    body = {"question": question, "passage_id": passage_id, "grade": grade}
    return client.put(LABELS, json=body, **more)


def test_a_label_contains_the_passage_that_it_judges(client, passage):
    label = put(client, passage.id, question=f" {LEAVE} ").json()
    assert (label["question"], label["passage_id"], label["grade"]) == (LEAVE, passage.id, 1)
    assert label["text"] == passage.page_content
    assert label["created_at"].endswith("Z")
    [stored] = client.services.labels.list(LOCAL_USER)
    assert stored.origin is LabelOrigin.API


def test_a_label_is_replaced_by_another_of_the_same_passage_and_question(client, passage):
    first, second = put(client, passage.id, 1).json(), put(client, passage.id, 0).json()
    assert first["id"] == second["id"]
    assert client.get(LABELS).json() == {"items": [second], "total": 1}


def test_labels_are_listed_page_by_page_oldest_first(client, passage):
    labels = [put(client, passage.id, question=text).json() for text in "abc"]
    page = client.get(LABELS, params={"limit": 2, "offset": 1}).json()
    assert page == {"items": labels[1:], "total": 3}


def test_a_deleted_label_is_no_longer_listed(client, passage):
    label = put(client, passage.id).json()
    assert client.delete(f"{LABELS}/{label['id']}").status_code == 204
    assert client.get(LABELS).json()["total"] == 0
    assert client.delete(f"{LABELS}/{label['id']}").status_code == 404


def test_the_labels_of_other_users_are_neither_listed_nor_deleted(client, passage):
    label = put(client, passage.id).json()
    bert = bearer(client.services, principal=BERT)
    assert client.get(LABELS, headers=bert).json()["total"] == 0
    assert client.delete(f"{LABELS}/{label['id']}", headers=bert).status_code == 404
    assert client.get(LABELS).json()["total"] == 1


def test_a_missing_passage_cannot_be_labeled(client):
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
def test_an_invalid_label_is_rejected(client, passage, body):
    whole = {"question": LEAVE, "passage_id": passage.id, "grade": 1} | body
    assert client.put(LABELS, json=whole).status_code == 422


def test_a_read_only_key_cannot_label(client, passage):
    reader = bearer(client.services, ApiScope.READ)
    assert put(client, passage.id, headers=reader).status_code == 403
    assert client.get(LABELS, headers=reader).status_code == 200
