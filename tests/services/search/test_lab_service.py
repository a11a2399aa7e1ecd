from dataclasses import dataclass, field

import pytest
from langchain_core.documents import Document

from domain import LOCAL_USER, SearchMode
from domain.errors import InputError, ModelUnavailableError
from services.search.lab_service import LabService

SIMILARITY, BM25, CONVEX = SearchMode.SIMILARITY, SearchMode.BM25, SearchMode.CONVEX


@dataclass
class Search:
    """Returns the ids that a test sets for a mode, or raises the error it sets."""

    results: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    rerank_options: list = field(default_factory=list)
    reranking: object = None

    def search(self, principal, question, *, mode, k, condition, rerank):
        self.requests.append((question, mode, k, condition))
        self.rerank_options.append(rerank)
        result = self.results.get(mode, [])
        if isinstance(result, Exception):
            raise result
        return [document(item, rank) for rank, item in enumerate(result[:k], start=1)]


def document(item, rank):
    part = {"ranker": "dense", "rank": rank, "score": 1 / rank, "share": 1 / rank}
    metadata = {"title": "Leave", "heading_path": (), "score": 1 / rank, "parts": [part]}
    return Document(item, id=item, metadata=metadata)


def ids(result):
    return [hit.passage_id for hit in result.hits]


def compare(results, modes=(SIMILARITY, BM25), k=5, condition=None):
    return LabService(Search(results)).compare(LOCAL_USER, "leave", modes, k, condition)


def test_each_mode_has_its_own_result_in_the_requested_order():
    comparison = compare({SIMILARITY: ["a", "b"], BM25: ["b"]}, modes=[BM25, SIMILARITY])
    results = [(one.mode, ids(one)) for one in comparison.results]
    assert results == [(BM25, ["b"]), (SIMILARITY, ["a", "b"])]


def test_the_overlap_lists_the_modes_that_found_a_passage():
    comparison = compare({SIMILARITY: ["a", "b"], BM25: ["b"]})
    assert comparison.modes_with("b") == (SIMILARITY, BM25)
    assert comparison.modes_with("a") == (SIMILARITY,)
    assert comparison.modes_with("c") == ()


def test_results_are_reranked_only_on_request():
    search = Search({BM25: ["a"]})
    lab = LabService(search)
    lab.compare(LOCAL_USER, "leave", [BM25], 5)
    assert set(search.rerank_options) == {False}
    search.rerank_options.clear()
    lab.compare(LOCAL_USER, "leave", [BM25], 5, rerank=True)
    assert set(search.rerank_options) == {True}


def test_reranking_is_available_if_a_reranker_is_configured():
    assert not LabService(Search()).can_rerank
    assert LabService(Search(reranking=object())).can_rerank


def test_passages_of_more_than_one_mode_are_shared_in_order_of_appearance():
    results = {SIMILARITY: ["a", "b", "c"], BM25: ["c", "d", "b"]}
    assert compare(results).shared == ("b", "c")
    assert compare(results, modes=[BM25]).shared == ()


def test_each_hit_has_its_rank_and_its_explanation():
    [result] = compare({BM25: ["annual leave", "b"]}, modes=[BM25]).results
    assert [hit.rank for hit in result.hits] == [1, 2]
    explanation = result.hits[1].explanation
    assert [part.rank for part in explanation.parts] == [2]
    assert explanation.score == sum(part.share for part in explanation.parts)
    assert result.hits[0].explanation.matched_words == ("Leave", "leave")


def test_the_explanation_contains_the_filter():
    [result] = compare({BM25: ["a"]}, modes=[BM25], condition={"format": "md"}).results
    assert result.hits[0].explanation.condition == {"format": "md"}


def test_a_failing_mode_reports_its_error_and_the_others_return_results():
    down = ModelUnavailableError("The embedding endpoint does not answer.")
    comparison = compare({SIMILARITY: down, BM25: ["a"]})
    failed, other = comparison.results
    assert (failed.error, failed.hits) == ("The embedding endpoint does not answer.", ())
    assert ids(other) == ["a"]
    assert (other.error, comparison.searched) == ("", 1)


def test_a_mode_requested_twice_is_searched_once():
    assert [one.mode for one in compare({}, modes=[BM25, BM25]).results] == [BM25]


def test_the_question_k_and_condition_reach_every_mode():
    search = Search()
    LabService(search).compare(LOCAL_USER, "leave", [BM25, CONVEX], 3, {"format": "md"})
    assert {(question, k, str(condition)) for question, _, k, condition in search.requests} == {
        ("leave", 3, "{'format': 'md'}")
    }
    assert {BM25, CONVEX} <= {mode for _, mode, _, _ in search.requests}


def test_a_request_without_modes_is_rejected():
    with pytest.raises(InputError, match="at least one"):
        compare({}, modes=[])


def test_invalid_input_is_rejected_once_for_all_modes():
    with pytest.raises(InputError, match="k must be"):
        compare({CONVEX: InputError("k must be between 1 and 1,000, it is 0.")}, k=0)


def test_all_modes_find_the_same_best_passage_of_a_real_library(imported):
    services = imported()
    modes = list(SearchMode)
    comparison = services.lab.compare(LOCAL_USER, "annual leave of new employees", modes, 3)
    assert [one.mode for one in comparison.results] == modes
    assert not [one.error for one in comparison.results if one.error]
    best = comparison.results[0].hits[0].passage_id
    assert set(comparison.modes_with(best)) == set(modes)
    assert all(one.milliseconds > 0 for one in comparison.results)
