"""The figures of a person's labels over HTTP."""

import pytest

from domain import COMPARED_MODES, LOCAL_USER, Principal, SearchMode
from tests.api.conftest import bearer

EVALUATION = "/api/v1/evaluation"


@pytest.fixture
def client(call):
    return call(embed=True)


@pytest.fixture
def labelled(client):
    services = client.services
    for question in ("annual leave", "WireGuard gateway"):
        best = services.search.search(LOCAL_USER, question, mode=SearchMode.BM25)[0]
        services.labels.label(LOCAL_USER, question, best.id, 1)
    return client


def measured(client, **body):
    answer = client.post(EVALUATION, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_usual_modes_are_measured_where_none_is_named(labelled):
    told = measured(labelled)
    assert [one["mode"] for one in told["results"]] == list(COMPARED_MODES)
    assert any("Few labels" in notice for notice in told["notices"])


def test_each_figure_has_its_interval(labelled):
    [row] = measured(labelled, modes=["bm25", "bm25"], k=3)["results"]
    assert (row["mode"], row["k"], row["queries"]) == ("bm25", 3, 2)
    for name in ("ndcg", "recall", "mrr"):
        assert row[name] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert row["ms_per_query"] > 0


def test_without_labels_it_is_said_what_to_do(labelled):
    bert = bearer(labelled.services, principal=Principal("bert"))
    answer = labelled.post(EVALUATION, json={}, headers=bert)
    assert answer.status_code == 409
    assert "mark one in the lab" in answer.json()["detail"]


@pytest.mark.parametrize("body", [{"modes": []}, {"modes": ["best"]}, {"k": 0}, {"folder": "/etc"}])
def test_what_can_not_be_measured_is_refused(labelled, body):
    assert labelled.post(EVALUATION, json=body).status_code == 422
