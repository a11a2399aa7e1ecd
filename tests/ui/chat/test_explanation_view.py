import re

from hypothesis import given
from hypothesis import strategies as st

from domain import Explanation, Move, ScorePart
from ui.chat.explanation_view import (
    explanation_html,
    matched_spans,
    passage_html,
    snippet_html,
)
from ui.text import words

BOTH = (ScorePart("dense", 4, 0.456, 0.3), ScorePart("bm25", 1, 12.5, 0.1))


def explain(**changes):
    defaults = {"score": 0.4, "parts": BOTH, "matched_words": ("leave",)}
    return explanation_html(Explanation(**(defaults | changes)))


def test_each_ranking_shows_its_rank_its_score_and_its_share_as_a_bar():
    html = explain()
    assert "<td>Meaning</td><td>4</td><td>0.456</td>" in html
    assert "<td>Words</td><td>1</td><td>12.500</td>" in html
    assert "width:75%" in html
    assert "width:25%" in html


def test_a_ranking_without_the_passage_is_marked_and_has_an_empty_bar():
    html = explain(score=0.3, parts=(BOTH[0], ScorePart("bm25", None, None, 0.0)))
    assert f"<td>Words</td><td>{words.NOT_IN_LIST}</td><td></td>" in html
    assert "width:0%" in html


def test_a_negative_share_has_an_empty_bar():
    parts = (ScorePart("dense", 1, 0.9, 0.6), ScorePart("bm25", 9, 1.0, -0.2))
    html = explain(parts=parts)
    assert "width:100%" in html
    assert "width:0%" in html
    assert "-0.200" in html


def test_the_effect_of_reranking_is_shown_or_why_it_was_skipped():
    assert "moved from rank 7 to 2 (score 4.310)" in explain(move=Move(4.31, 7, 2))
    assert "kept at rank 2" in explain(move=Move(4.31, 2, 2))
    assert "skipped: too slow" in explain(move=Move(skipped="too slow"))
    assert words.RERANK not in explain()


def test_the_filter_is_shown_in_readable_form():
    html = explain(condition={"format": {"$in": ["md", "pdf"]}, "page": {"$gte": 2}, "key": "a"})
    assert "format is one of md, pdf · page ≥ 2 · key = a" in html
    assert f"<strong>Filter</strong> {words.NO_FILTER}" in explain()


def test_matched_words_are_listed_once_regardless_of_case():
    html = explain(matched_words=("Leave", "days", "leave"))
    assert html.count("<mark>") == 2
    assert explain(matched_words=()).count(words.NO_MATCHED_WORDS) == 1


def test_only_whole_words_are_highlighted_except_in_korean():
    assert passage_html("Leave, leaves", ["leave"]).count("<mark>Leave</mark>") == 1
    assert passage_html("연차휴가를", ["휴가"]).count("<mark>휴가</mark>") == 1


def test_text_of_a_document_is_escaped():
    markup = "<script>alert(1)</script> <b>"
    for html in (
        passage_html(markup, ["script", "b"]),
        snippet_html(markup, ["script"]),
        explain(matched_words=("<b>",), condition={"key": "<b>"}, move=Move(skipped="<b>")),
    ):
        assert "<script" not in html
        assert "<b>" not in html


def test_the_snippet_shows_the_part_with_the_most_matched_words():
    text = "leave " + "filler " * 80 + "annual leave of new employees " + "filler " * 80
    html = snippet_html(text, ["annual", "leave", "new", "employees"])
    assert html.count("<mark>") == 4
    assert html.count("…") == 2


def test_the_snippet_omits_the_markup_of_headings_and_bold_text():
    assert snippet_html("## Leave\n\n**25** days", []).endswith(">25 days</div>")
    table = snippet_html("| Years | Days |\n| --- | --- |\n| 1 | 25 |", ["25"])
    assert table.endswith(">Years · Days\n\n1 · <mark>25</mark></div>")


@given(st.text(), st.lists(st.text(min_size=1), max_size=4))
def test_only_matched_words_are_highlighted(text, words):
    for start, stop in matched_spans(text, words):
        found = text[start:stop]
        assert any(re.fullmatch(re.escape(word), found, re.IGNORECASE) for word in words)
