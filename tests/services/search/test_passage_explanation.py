import pytest
from langchain_core.documents import Document

from domain import LOCAL_USER, Move, ScorePart, SearchMode
from services.search.search_service import explain


def found(**more):
    parts = [{"ranker": "bm25", "rank": 1, "score": 2.0, "share": 2.0}]
    metadata = {"title": "Leave", "heading_path": ["Annual"], "score": 2.0, "parts": parts}
    return Document("Fifteen days a year.", id="p1", metadata=metadata | more)


def test_matched_words_stand_in_title_headings_and_text():
    assert explain("days of annual leave", found()).matched_words == ("Leave", "Annual", "days")


def test_what_the_lists_gave_is_told_part_by_part():
    assert explain("leave", found()).parts == (ScorePart("bm25", 1, 2.0, 2.0),)


def test_without_a_reranker_nothing_moved():
    assert explain("leave", found()).move is None


def test_a_reranker_tells_where_the_passage_stood_before():
    noted = {"score": 0.9, "rank": 1, "rank_before": 7}
    assert explain("leave", found(rerank=noted)).move == Move(0.9, 7, 1)


def test_a_reranker_that_was_skipped_tells_why():
    assert explain("leave", found(rerank={"skipped": "too slow"})).move == Move(skipped="too slow")


@pytest.mark.parametrize("mode", list(SearchMode))
def test_in_every_mode_the_shares_add_up_and_the_filter_is_told(build_services, handbook, mode):
    services = build_services()
    services.directories.import_directory(LOCAL_USER, handbook)
    condition = {"format": "md"}
    question = "annual leave of new employees"
    passages = services.search.search(LOCAL_USER, question, mode=mode, condition=condition)
    assert passages
    for passage in passages:
        told = explain(question, passage, condition)
        assert sum(part.share for part in told.parts) == pytest.approx(told.score)
        assert told.condition == condition
