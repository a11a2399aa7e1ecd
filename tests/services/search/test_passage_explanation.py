import pytest
from langchain_core.documents import Document

from domain import LOCAL_USER, Move, ScorePart, SearchMode
from services.search.search_service import explain


def passage(**changes):
    parts = [{"ranker": "bm25", "rank": 1, "score": 2.0, "share": 2.0}]
    metadata = {"title": "Leave", "heading_path": ["Annual"], "score": 2.0, "parts": parts}
    return Document("Fifteen days a year.", id="p1", metadata=metadata | changes)


def test_words_are_matched_in_title_headings_and_text():
    assert explain("days of annual leave", passage()).matched_words == ("Leave", "Annual", "days")


def test_the_explanation_has_a_part_for_each_ranked_list():
    assert explain("leave", passage()).parts == (ScorePart("bm25", 1, 2.0, 2.0),)


def test_without_a_reranker_there_is_no_move():
    assert explain("leave", passage()).move is None


def test_a_reranked_passage_has_its_score_and_both_ranks():
    rerank = {"score": 0.9, "rank": 1, "rank_before": 7}
    assert explain("leave", passage(rerank=rerank)).move == Move(0.9, 7, 1)


def test_a_skipped_reranker_has_a_reason():
    assert explain("leave", passage(rerank={"skipped": "too slow"})).move == Move(
        skipped="too slow"
    )


@pytest.mark.parametrize("mode", list(SearchMode))
def test_in_every_mode_the_shares_add_up_to_the_score(imported, mode):
    services = imported()
    condition = {"format": "md"}
    question = "annual leave of new employees"
    passages = services.search.search(LOCAL_USER, question, mode=mode, condition=condition)
    assert passages
    for passage in passages:
        explanation = explain(question, passage, condition)
        assert sum(part.share for part in explanation.parts) == pytest.approx(explanation.score)
        assert explanation.condition == condition
