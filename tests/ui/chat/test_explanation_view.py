from hypothesis import given
from hypothesis import strategies as st

from domain import Explanation, Move, ScorePart
from ui.chat.citation_view import explanation_html, matched_spans, passage_html, snippet_html
from ui.text import words

BOTH = (ScorePart("dense", 4, 0.456, 0.3), ScorePart("bm25", 1, 12.5, 0.1))


def explained(**changes):
    plain = {"score": 0.4, "parts": BOTH, "matched_words": ("leave",)}
    return explanation_html(Explanation(**(plain | changes)))


def test_each_list_shows_its_rank_its_score_and_its_part_of_the_whole_as_a_bar():
    html = explained()
    assert "<td>Meaning</td><td>4</td><td>0.456</td>" in html
    assert "<td>Words</td><td>1</td><td>12.500</td>" in html
    assert "width:75%" in html
    assert "width:25%" in html


def test_a_list_that_does_not_hold_the_passage_says_so_and_has_an_empty_bar():
    html = explained(score=0.3, parts=(BOTH[0], ScorePart("bm25", None, None, 0.0)))
    assert f"<td>Words</td><td>{words.NOT_IN_LIST}</td><td></td>" in html
    assert "width:0%" in html


def test_a_share_below_zero_draws_no_bar():
    parts = (ScorePart("dense", 1, 0.9, 0.6), ScorePart("bm25", 9, 1.0, -0.2))
    html = explained(parts=parts)
    assert "width:100%" in html
    assert "width:0%" in html
    assert "-0.200" in html


def test_the_rerankers_move_is_told_or_why_there_was_none():
    assert "moved from rank 7 to 2 (score 4.310)" in explained(move=Move(4.31, 7, 2))
    assert "kept at rank 2" in explained(move=Move(4.31, 2, 2))
    assert "not done: too slow" in explained(move=Move(skipped="too slow"))
    assert words.RERANK not in explained()


def test_the_filter_is_told_as_a_person_would_say_it():
    html = explained(condition={"format": {"$in": ["md", "pdf"]}, "page": {"$gte": 2}, "key": "a"})
    assert "format is one of md, pdf · page ≥ 2 · key = a" in html
    assert f"<strong>Filter</strong> {words.NO_FILTER}" in explained()


def test_matched_words_stand_once_in_whatever_case():
    html = explained(matched_words=("Leave", "days", "leave"))
    assert html.count("<mark>") == 2
    assert explained(matched_words=()).count(words.NO_MATCHED_WORDS) == 1


def test_a_spaced_word_is_marked_only_as_a_whole_and_korean_within_a_run():
    assert passage_html("Leave, leaves", ["leave"]).count("<mark>Leave</mark>") == 1
    assert passage_html("연차휴가를", ["휴가"]).count("<mark>휴가</mark>") == 1


def test_nothing_of_a_document_becomes_markup():
    hostile = "<script>alert(1)</script> <b>"
    for html in (
        passage_html(hostile, ["script", "b"]),
        snippet_html(hostile, ["script"]),
        explained(matched_words=("<b>",), condition={"key": "<b>"}, move=Move(skipped="<b>")),
    ):
        assert "<script" not in html
        assert "<b>" not in html


def test_the_snippet_shows_the_stretch_with_most_of_the_words():
    text = "leave " + "filler " * 80 + "annual leave of new employees " + "filler " * 80
    html = snippet_html(text, ["annual", "leave", "new", "employees"])
    assert html.count("<mark>") == 4
    assert html.count("…") == 2


def test_the_snippet_leaves_out_headings_and_stars():
    assert snippet_html("## Leave\n\n**25** days", []).endswith(">25 days</div>")


@given(st.text(), st.lists(st.text(min_size=1), max_size=4))
def test_what_is_marked_is_one_of_the_words(text, matched):
    folded = {word.casefold() for word in matched} | {word.lower() for word in matched}
    for start, stop in matched_spans(text, matched):
        found = text[start:stop]
        assert {found.casefold(), found.lower()} & folded or len(found) == 1
