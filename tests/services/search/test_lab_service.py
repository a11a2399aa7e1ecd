from dataclasses import dataclass, field

import pytest
from langchain_core.documents import Document

from domain import LOCAL_USER, SearchMode
from errors import InputError, ModelUnavailableError
from services.search.lab_service import LabService

SIMILARITY, BM25, CONVEX = SearchMode.SIMILARITY, SearchMode.BM25, SearchMode.CONVEX


@dataclass
class Search:
    """Finds the ids that a test sets for a mode, or raises the error it sets."""

    found: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    reranked: list = field(default_factory=list)
    reranking: object = None

    def search(self, principal, question, *, mode, k, condition, rerank):
        self.asked.append((question, mode, k, condition))
        self.reranked.append(rerank)
        found = self.found.get(mode, [])
        if isinstance(found, Exception):
            raise found
        return [document(item, rank) for rank, item in enumerate(found[:k], start=1)]


def document(item, rank):
    part = {"ranker": "dense", "rank": rank, "score": 1 / rank, "share": 1 / rank}
    noted = {"title": "Leave", "heading_path": (), "score": 1 / rank, "parts": [part]}
    return Document(item, id=item, metadata=noted)


def ids(result):
    return [hit.passage_id for hit in result.hits]


def compare(found, modes=(SIMILARITY, BM25), k=5, condition=None):
    return LabService(Search(found)).compare(LOCAL_USER, "leave", modes, k, condition)


def test_each_mode_gets_a_result_of_its_own_in_the_order_asked_for():
    comparison = compare({SIMILARITY: ["a", "b"], BM25: ["b"]}, modes=[BM25, SIMILARITY])
    found = [(one.mode, ids(one)) for one in comparison.results]
    assert found == [(BM25, ["b"]), (SIMILARITY, ["a", "b"])]


def test_the_overlap_names_the_modes_that_found_a_passage():
    comparison = compare({SIMILARITY: ["a", "b"], BM25: ["b"]})
    assert comparison.modes_with("b") == (SIMILARITY, BM25)
    assert comparison.modes_with("a") == (SIMILARITY,)
    assert comparison.modes_with("c") == ()


def test_nothing_is_reranked_unless_it_is_asked_for():
    search = Search({BM25: ["a"]})
    lab = LabService(search)
    lab.compare(LOCAL_USER, "leave", [BM25], 5)
    assert set(search.reranked) == {False}
    search.reranked.clear()
    lab.compare(LOCAL_USER, "leave", [BM25], 5, rerank=True)
    assert set(search.reranked) == {True}


def test_it_can_rerank_where_a_reranker_is_set():
    assert not LabService(Search()).can_rerank
    assert LabService(Search(reranking=object())).can_rerank


def test_shared_are_the_passages_of_more_than_one_mode_in_the_order_they_appear():
    found = {SIMILARITY: ["a", "b", "c"], BM25: ["c", "d", "b"]}
    assert compare(found).shared == ("b", "c")
    assert compare(found, modes=[BM25]).shared == ()


def test_each_hit_has_its_rank_and_its_explanation():
    [result] = compare({BM25: ["annual leave", "b"]}, modes=[BM25]).results
    assert [hit.rank for hit in result.hits] == [1, 2]
    explanation = result.hits[1].explanation
    assert [part.rank for part in explanation.parts] == [2]
    assert explanation.score == sum(part.share for part in explanation.parts)
    assert result.hits[0].explanation.matched_words == ("Leave", "leave")


def test_the_explanation_names_the_filter_that_held():
    [result] = compare({BM25: ["a"]}, modes=[BM25], condition={"format": "md"}).results
    assert result.hits[0].explanation.condition == {"format": "md"}


def test_a_failing_mode_reports_its_error_and_the_others_return_results():
    down = ModelUnavailableError("The embedding endpoint does not answer.")
    comparison = compare({SIMILARITY: down, BM25: ["a"]})
    failed, other = comparison.results
    assert (failed.error, failed.hits) == ("The embedding endpoint does not answer.", ())
    assert ids(other) == ["a"]
    assert (other.error, comparison.searched) == ("", 1)


def test_a_mode_named_twice_is_searched_and_shown_once():
    assert [one.mode for one in compare({}, modes=[BM25, BM25]).results] == [BM25]


def test_the_question_k_and_condition_reach_every_mode():
    search = Search()
    LabService(search).compare(LOCAL_USER, "leave", [BM25, CONVEX], 3, {"format": "md"})
    assert {(question, k, str(condition)) for question, _, k, condition in search.asked} == {
        ("leave", 3, "{'format': 'md'}")
    }
    assert {BM25, CONVEX} <= {mode for _, mode, _, _ in search.asked}


def test_a_request_without_modes_is_rejected():
    with pytest.raises(InputError, match="at least one"):
        compare({}, modes=[])


def test_invalid_input_is_rejected_once_for_all_modes():
    with pytest.raises(InputError, match="k must be"):
        compare({CONVEX: InputError("k must be between 1 and 1,000, it is 0.")}, k=0)


def test_the_real_modes_find_the_same_passage_of_a_real_library(build_services, handbook):
    services = build_services()
    services.directories.import_directory(LOCAL_USER, handbook)
    modes = list(SearchMode)
    comparison = services.lab.compare(LOCAL_USER, "annual leave of new employees", modes, 3)
    assert [one.mode for one in comparison.results] == modes
    assert not [one.error for one in comparison.results if one.error]
    best = comparison.results[0].hits[0].passage_id
    assert set(comparison.modes_with(best)) == set(modes)
    assert all(one.milliseconds > 0 for one in comparison.results)
