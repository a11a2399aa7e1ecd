"""Evaluation with the labels of a user over HTTP."""

import pytest

from domain import COMPARED_MODES, LOCAL_USER, Principal, SearchMode
from tests.api.conftest import bearer

EVALUATION = "/api/v1/evaluation"


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


@pytest.fixture
def labeled_client(client):
    services = client.services
    for question in ("annual leave", "WireGuard gateway"):
        best = services.search.search(LOCAL_USER, question, mode=SearchMode.BM25)[0]
        services.labels.label(LOCAL_USER, question, best.id, 1)
    return client


def evaluate(client, **body):
    answer = client.post(EVALUATION, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_default_modes_are_evaluated_if_none_is_named(labeled_client):
    evaluation = evaluate(labeled_client)
    assert [one["mode"] for one in evaluation["results"]] == list(COMPARED_MODES)
    assert any("Few labels" in notice for notice in evaluation["notices"])


def test_each_metric_has_its_interval(labeled_client):
    [row] = evaluate(labeled_client, modes=["bm25", "bm25"], k=3)["results"]
    assert (row["mode"], row["k"], row["queries"]) == ("bm25", 3, 2)
    for name in ("ndcg", "recall", "mrr"):
        assert row[name] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert row["ms_per_query"] > 0


def test_without_labels_the_problem_says_what_to_do(labeled_client):
    bert = bearer(labeled_client.services, principal=Principal("bert"))
    answer = labeled_client.post(EVALUATION, json={}, headers=bert)
    assert answer.status_code == 409
    assert "mark one in the lab" in answer.json()["detail"]


@pytest.mark.parametrize("body", [{"modes": []}, {"modes": ["best"]}, {"k": 0}, {"folder": "/etc"}])
def test_an_invalid_evaluation_is_rejected(labeled_client, body):
    assert labeled_client.post(EVALUATION, json=body).status_code == 422
