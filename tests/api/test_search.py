"""Passages over HTTP: what is found, narrowed, explained, compared, and what is refused."""

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
def client(call):
    return call(embed=True)


def found(client, **body):
    answer = client.post(SEARCH, json={"query": LEAVE, "mode": "bm25", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def keys(client, **body):
    return {one["key"] for one in found(client, **body)["items"]}


@pytest.mark.parametrize("mode", list(SearchMode))
def test_each_mode_finds_passages_with_their_place(client, mode):
    told = found(client, mode=mode, k=2, score_threshold=0)
    assert told["mode"] == mode
    assert told["total"] == len(told["items"]) == 2
    best = told["items"][0]
    document = client.services.reader.text(LOCAL_USER, best["document_id"])
    assert document[best["start"] : best["end"]] == best["text"]


def test_where_no_mode_is_named_it_is_that_of_the_settings(call):
    client = call(embed=True, search_mode="ensemble")
    assert client.post(SEARCH, json={"query": LEAVE}).json()["mode"] == "ensemble"


def test_a_whole_number_may_be_written_with_a_point(client):
    assert found(client, k=1.0, score_threshold=1)["total"] == 1


def test_a_passage_tells_where_it_stands_and_what_it_is_filed_under(client):
    [best] = found(client, k=1)["items"]
    assert best["title"] == "Leave policy"
    assert best["heading_path"][-1] == "Annual leave"
    assert best["location"].endswith("leave.md")
    assert (best["format"], best["collection"], best["page"]) == ("md", "handbook", None)
    assert best["modified_at"].endswith("Z")
    assert best["why"] is None


def test_the_reasons_are_told_where_they_are_asked_for(client):
    [best] = found(client, k=1, explain=True, filter={"format": "md"})["items"]
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
def test_what_does_not_fit_the_library_is_a_conflict(client, body):
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
def test_what_no_search_could_be_is_refused(client, body):
    answer = client.post(SEARCH, json={"query": LEAVE, **body})
    assert answer.status_code == 422
    assert next(iter(body)) in answer.json()["detail"]


@pytest.mark.parametrize(
    "query", ['"', "((", "a AND OR NOT", "title:x~9^", "*", "\u202e\u0301", "\U0010ffff", "[0 TO"]
)
@pytest.mark.parametrize("mode", ["bm25", "convex"])
def test_no_query_is_taken_for_a_language(client, query, mode):
    found(client, query=query, mode=mode, explain=True)


def test_the_filter_names_every_field_there_is():
    assert get_type_hints(MetadataFilter).keys() == FILTER_FIELDS.keys()


@pytest.mark.parametrize(
    ("field", "conditions", "several", "one"),
    [
        ("title", TextCondition, ["a"], "a"),
        ("page", PageCondition, [1], 1),
        ("labels", LabelsCondition, ["a"], "a"),
    ],
)
def test_the_filter_names_no_operator_that_there_is_not(field, conditions, several, one):
    for operator, hint in get_type_hints(conditions).items():
        operand = several if getattr(hint, "__origin__", None) is list else one
        require_known_fields({field: {operator: operand}})


def test_what_is_dropped_into_a_conversation_is_found_by_no_search(client):
    services = client.services
    talk = services.conversations.begin(LOCAL_USER, "Lunch").id
    file = ("lunch.md", b"# Lunch\n\nLunch is at noon in the Bristol canteen.")
    box = services.uploads.add(LOCAL_USER, [file], conversation_id=talk).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id, lambda _: None)
    query = "Lunch in the Bristol canteen"
    for narrowed in ({}, {"filter": {"source_id": box}}, {"filter": {"key": "lunch.md"}}):
        assert "lunch.md" not in keys(client, query=query, **narrowed)
    stranger = bearer(services, ApiScope.READ, principal=Principal("bert"))
    scope = {"sources": [box]}
    refused = client.post(SEARCH, json={"query": query, "scope": scope}, headers=stranger)
    assert refused.status_code == 409
    assert "Lunch" not in refused.json()["detail"]


def test_modes_are_compared_side_by_side_with_their_reasons(client):
    modes = ["bm25", "similarity", "bm25"]
    told = client.post(COMPARE, json={"query": LEAVE, "modes": modes, "k": 3}).json()
    assert [one["mode"] for one in told["results"]] == ["bm25", "similarity"]
    first, second = ([hit["passage_id"] for hit in one["items"]] for one in told["results"])
    assert told["shared"] == [id_ for id_ in first if id_ in second]
    assert all(hit["why"]["parts"] for one in told["results"] for hit in one["items"])


def test_a_mode_that_fails_says_so_beside_the_others(client, model_server):
    model_server.will_embed(Fault(400), Fault(400))
    modes = ["similarity", "bm25"]
    dense, words = client.post(COMPARE, json={"query": LEAVE, "modes": modes}).json()["results"]
    assert "embed" in dense["error"]
    assert not dense["items"]
    assert not words["error"]


@pytest.mark.parametrize("path", [SEARCH, COMPARE])
def test_searching_needs_a_key_that_reads(client, path):
    answer = client.post(
        path, json={"query": LEAVE}, headers=bearer(client.services, ApiScope.MANAGE)
    )
    assert answer.status_code == 403


def test_with_a_damaged_index_the_other_one_answers_and_a_notice_says_so(client):
    [index] = (client.services.imports.data_dir / "indexes").iterdir()
    for file in index.glob("keywords/index/*.idx"):
        file.write_bytes(file.read_bytes()[:-1])
    told = client.post(SEARCH, json={"query": LEAVE, "k": 2}).json()
    assert told["total"] == 2
    assert f"{index}/keywords can't be used" in told["notices"][0]
    assert "python cli.py reindex" in told["notices"][0]
    refused = client.post(SEARCH, json={"query": LEAVE, "mode": "bm25"})
    assert refused.status_code >= 500
    assert "python cli.py reindex" in refused.text
