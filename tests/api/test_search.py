"""Search over HTTP: results, filters, explanations, comparisons, and errors."""

from typing import get_type_hints

import pytest

from api.rest.search_routes import LabelsCondition, MetadataFilter, PageCondition, TextCondition
from domain import FILTER_FIELDS, LOCAL_USER, ApiScope, Principal, SearchMode
from services.search.search_scope import require_known_fields
from tests.api.conftest import bearer
from tests.fakes.openai import Fault

SEARCH, COMPARE = "/api/v1/search", "/api/v1/search/compare"
LEAVE = "annual leave"


@pytest.fixture
def client(build_client):
    return build_client(embed=True)


def search(client, **body):
    answer = client.post(SEARCH, json={"query": LEAVE, "mode": "bm25", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def keys(client, **body):
    return {one["key"] for one in search(client, **body)["items"]}


@pytest.mark.parametrize("mode", list(SearchMode))
def test_each_mode_finds_passages_with_their_spans(client, mode):
    results = search(client, mode=mode, k=2, score_threshold=0)
    assert results["mode"] == mode
    assert results["total"] == len(results["items"]) == 2
    best = results["items"][0]
    document = client.services.reader.text(LOCAL_USER, best["document_id"])
    assert document[best["start"] : best["end"]] == best["text"]


def test_the_default_mode_is_that_of_the_settings(build_client):
    client = build_client(embed=True, search_mode="ensemble")
    assert client.post(SEARCH, json={"query": LEAVE}).json()["mode"] == "ensemble"


def test_an_integer_may_have_a_decimal_point(client):
    assert search(client, k=1.0, score_threshold=1)["total"] == 1


def test_a_passage_has_its_location_and_metadata(client):
    [best] = search(client, k=1)["items"]
    assert best["title"] == "Leave policy"
    assert best["heading_path"][-1] == "Annual leave"
    assert best["location"] == "leave.md"
    assert (best["format"], best["collection"], best["page"]) == ("md", "handbook", None)
    assert best["modified_at"].endswith("Z")
    assert best["why"] is None


def test_explanations_are_returned_on_request(client):
    [best] = search(client, k=1, explain=True, filter={"format": "md"})["items"]
    assert sum(part["share"] for part in best["why"]["parts"]) == pytest.approx(best["score"])
    assert {"annual", "leave"} <= {word.lower() for word in best["why"]["matched_words"]}
    assert best["why"]["condition"] == {"format": "md"}


def test_a_search_is_narrowed_by_scope_and_filter_together(client):
    query = "leave 휴가 休暇 VPN"
    assert len(keys(client, query=query)) == 4
    assert keys(client, query=query, filter={"script": {"$in": ["korean"]}}) == {"휴가.md"}
    assert keys(client, query=query, filter={"key": "vpn.md"}, scope={"formats": ["md"]}) == {
        "vpn.md"
    }
    assert keys(client, query=query, scope={"formats": ["pdf"]}) == set()
    assert keys(client, query=query, scope={"since": "2300-01-01"}) == set()
    assert len(keys(client, query=query, filter={"key": {}})) == 4


@pytest.mark.parametrize(
    "body",
    [
        {"scope": {"sources": ["nowhere"]}},
        {"scope": {"since": "2026-02-01", "until": "2026-01-01"}},
        {"scope": {"formats": ["md"]}, "filter": {"format": "md"}},
        {"rerank": True},
    ],
)
def test_a_search_that_does_not_fit_the_library_is_a_conflict(client, body):
    answer = client.post(SEARCH, json={"query": LEAVE, **body})
    assert answer.status_code == 409
    assert answer.json()["retryable"] is False


@pytest.mark.parametrize(
    "body",
    [
        {"query": " "},
        {"query": "x" * 20_001},
        {"mode": "regex"},
        {"k": 0},
        {"k": 1001},
        {"k": "5"},
        {"k": True},
        {"k": 2.5},
        {"score_threshold": 1.1},
        {"score_threshold": False},
        {"explain": "yes"},
        {"filter": {"pages": 1}},
        {"filter": {"page": None}},
        {"filter": {"page": 0}},
        {"filter": {"source_id": {"a": 1}}},
        {"filter": {"source_id": {"$regex": ".*"}}},
        {"filter": {"title": {"$in": "text"}}},
        {"filter": {"labels": ["hr"]}},
        {"filter": {"modified_at": "yesterday"}},
        {"filter": {"$or": [{"page": 1}]}},
        {"scope": {"since": "2026-13-01"}},
        {"limit": 3},
    ],
)
def test_an_invalid_search_is_rejected(client, body):
    answer = client.post(SEARCH, json={"query": LEAVE, **body})
    assert answer.status_code == 422
    assert next(iter(body)) in answer.json()["detail"]


@pytest.mark.parametrize(
    "query", ['"', "((", "a AND OR NOT", "title:x~9^", "*", "\u202e\u0301", "\U0010ffff", "[0 TO"]
)
@pytest.mark.parametrize("mode", ["bm25", "convex"])
def test_no_query_is_parsed_as_a_query_language(client, query, mode):
    search(client, query=query, mode=mode, explain=True)


def test_the_filter_schema_has_every_filter_field():
    assert get_type_hints(MetadataFilter).keys() == FILTER_FIELDS.keys()


@pytest.mark.parametrize(
    ("field", "conditions", "several", "one"),
    [
        ("title", TextCondition, ["a"], "a"),
        ("page", PageCondition, [1], 1),
        ("labels", LabelsCondition, ["a"], "a"),
    ],
)
def test_the_filter_schema_has_only_supported_operators(field, conditions, several, one):
    for operator, hint in get_type_hints(conditions).items():
        operand = several if getattr(hint, "__origin__", None) is list else one
        require_known_fields({field: {operator: operand}})


def test_files_of_a_conversation_are_not_found_by_a_search(client):
    services = client.services
    conversation_id = services.conversations.begin(LOCAL_USER, "Lunch").id
    file = ("lunch.md", b"# Lunch\n\nLunch is at noon in the Bristol canteen.")
    source_id = services.uploads.add(LOCAL_USER, [file], conversation_id=conversation_id).source_id
    services.worker.wait(
        LOCAL_USER, services.queue.enqueue(LOCAL_USER, source_id).id, lambda _: None
    )
    query = "Lunch in the Bristol canteen"
    for options in ({}, {"filter": {"source_id": source_id}}, {"filter": {"key": "lunch.md"}}):
        assert "lunch.md" not in keys(client, query=query, **options)
    stranger = bearer(services, ApiScope.READ, principal=Principal("bert"))
    scope = {"sources": [source_id]}
    response = client.post(SEARCH, json={"query": query, "scope": scope}, headers=stranger)
    assert response.status_code == 409
    assert "Lunch" not in response.json()["detail"]


def test_modes_are_compared_side_by_side_with_explanations(client):
    modes = ["bm25", "similarity", "bm25"]
    comparison = client.post(COMPARE, json={"query": LEAVE, "modes": modes, "k": 3}).json()
    assert [one["mode"] for one in comparison["results"]] == ["bm25", "similarity"]
    first, second = ([hit["passage_id"] for hit in one["items"]] for one in comparison["results"])
    assert comparison["shared"] == [id_ for id_ in first if id_ in second]
    assert all(hit["why"]["parts"] for one in comparison["results"] for hit in one["items"])


def test_a_failed_mode_is_reported_beside_the_results_of_the_others(client, model_server):
    model_server.will_embed(Fault(400), Fault(400))
    modes = ["similarity", "bm25"]
    dense, words = client.post(COMPARE, json={"query": LEAVE, "modes": modes}).json()["results"]
    assert "embed" in dense["error"]
    assert not dense["items"]
    assert not words["error"]


@pytest.mark.parametrize("path", [SEARCH, COMPARE])
def test_searching_requires_the_scope_read(client, path):
    answer = client.post(
        path, json={"query": LEAVE}, headers=bearer(client.services, ApiScope.MANAGE)
    )
    assert answer.status_code == 403


def test_a_damaged_index_is_reported_while_the_other_index_is_searched(client):
    [index] = (client.services.parts.settings.data_dir / "indexes").iterdir()
    for file in index.glob("keywords/index/*.idx"):
        file.write_bytes(file.read_bytes()[:-1])
    results = client.post(SEARCH, json={"query": LEAVE, "k": 2}).json()
    assert results["total"] == 2
    assert f"{index}/keywords can't be used" in results["notices"][0]
    assert "python cli.py reindex" in results["notices"][0]
    response = client.post(SEARCH, json={"query": LEAVE, "mode": "bm25"})
    assert response.status_code >= 500
    assert "python cli.py reindex" in response.text
