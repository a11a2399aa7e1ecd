"""Quotes are highlighted in a passage, and text far from them is collapsed."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from services.library.document_style import Style
from ui.documents.highlight import excerpt_html, mark_html

TEXT = st.text(st.sampled_from("ab <>&\"'\n가각나é☂ひらが漢"), min_size=1, max_size=40)


@given(TEXT, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4))
def test_highlighting_keeps_the_text_and_marks_exactly_the_spans(
    passage: str, ends: list[tuple[int, int]]
) -> None:
    spans = [(min(a, b), max(a, b)) for a, b in ends if max(a, b) <= len(passage) and a != b]
    html = mark_html(passage, spans)
    assert unescape(re.sub("</?mark>", "", html)) == passage
    highlighted = "".join(re.findall("<mark>(.*?)</mark>", html, re.DOTALL))
    inside = {index for start, stop in spans for index in range(start, stop)}
    assert unescape(highlighted) == "".join(passage[index] for index in sorted(inside))


@given(st.text())
def test_a_passage_is_escaped(passage: str) -> None:
    assert "<" not in mark_html(passage, [])


@st.composite
def passages_with_spans(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    words = draw(st.lists(st.text(st.sampled_from("ab가<&"), min_size=1, max_size=40), max_size=40))
    passage = draw(st.sampled_from([" ", "\n", ""])).join(words)
    ends = st.integers(0, len(passage))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=3))
    return passage, [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]


@given(passages_with_spans())
def test_an_excerpt_contains_the_whole_passage_and_collapses_no_highlight(
    case: tuple[str, list[tuple[int, int]]],
) -> None:
    passage, spans = case
    html = excerpt_html(passage, spans, Style.PLAIN)
    assert unescape(re.sub("<[^>]*>", "", html)).split() == passage.split()
    near = re.sub(r'<p[^>]* data-far=""[^>]*>.*?</p>', "", html, flags=re.DOTALL)
    near = re.sub(r'<span class="fn-far"><span>[^<]*</span></span>', "", near)
    marks = re.compile("<mark>(.*?)</mark>", re.DOTALL)
    expected = "".join(marks.findall(mark_html(passage, spans)))
    assert "".join(marks.findall(near)).split() == expected.split()


def test_text_far_from_the_quote_is_collapsed_at_white_space() -> None:
    passage = "before " * 50 + "THE QUOTE" + " after" * 50
    html = excerpt_html(passage, [(350, 359)])
    near = re.sub(r'<span class="fn-far">.*?</span></span>', "", html)
    near = re.sub("</?p>", "", near)
    assert "<mark>THE QUOTE</mark>" in near
    assert set(near.replace("<mark>THE QUOTE</mark>", "").split()) == {"before", "after"}
    assert len(near) < 300


def test_less_than_a_line_between_two_quotes_is_not_collapsed() -> None:
    passage = "a" * 10 + " word" * 50 + " b"
    html = excerpt_html(passage, [(0, 10), (len(passage) - 1, len(passage))])
    assert "fn-far" in html
    passage = "a" * 10 + " word" * 40 + " b"
    html = excerpt_html(passage, [(0, 10), (len(passage) - 1, len(passage))])
    assert "fn-far" not in html


def test_a_short_passage_is_not_collapsed() -> None:
    assert "fn-far" not in excerpt_html("word " * 25, [(0, 4)])


def test_a_card_shows_a_table_and_a_heading_without_their_syntax() -> None:
    text = "## Leave\n\n| Years | Days |\n| --- | ---: |\n| 1 | 25 |"
    html = excerpt_html(text, [(text.index("25"), len(text) - 2)])
    assert '<p class="fn-h">Leave</p>' in html
    assert '<td class="fn-right"><mark>25</mark></td>' in html
    assert "#" not in html
    assert "|" not in html


def test_rows_far_from_the_quote_are_collapsed_as_a_whole() -> None:
    rows = [f"| {n} | days in year {n} |" for n in range(40)]
    text = "\n".join(["| Years | Days |", "|---|---|", *rows])
    html = excerpt_html(text, [(text.index("days in year 20"), text.index("days in year 20") + 15)])
    assert "<tr><td>20</td><td><mark>days in year 20</mark></td></tr>" in html
    assert re.search(r'<tr data-far="">.*days in year 3<', html)
    assert re.search(r'<tr data-far="">.*days in year 37<', html)


def test_a_passage_that_begins_within_a_table_is_a_table() -> None:
    text = "| 1 | a \\| b |\n| 2 | c |"
    html = excerpt_html(text, [(text.index("c"), text.index("c") + 1)])
    assert "<td>1</td><td>a | b</td>" in html
    assert "<td><mark>c</mark></td>" in html
