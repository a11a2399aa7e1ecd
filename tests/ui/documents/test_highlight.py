"""Quotes are highlighted in a passage, and text far from them is collapsed."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from ui.documents.highlight import excerpt_html, marked_html, reading_html

TEXT = st.text(st.sampled_from("ab <>&\"'\n가각나é☂ひらが漢"), min_size=1, max_size=40)


@given(TEXT, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4))
def test_highlighting_keeps_the_text_and_marks_exactly_the_spans(
    passage: str, ends: list[tuple[int, int]]
) -> None:
    spans = [(min(a, b), max(a, b)) for a, b in ends if max(a, b) <= len(passage) and a != b]
    html = marked_html(passage, spans)
    assert unescape(re.sub("</?mark>", "", html)) == passage
    highlighted = "".join(re.findall("<mark>(.*?)</mark>", html, re.DOTALL))
    inside = {index for start, stop in spans for index in range(start, stop)}
    assert unescape(highlighted) == "".join(passage[index] for index in sorted(inside))


@given(st.text())
def test_a_passage_is_escaped(passage: str) -> None:
    assert "<" not in marked_html(passage, [])


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
    html = excerpt_html(passage, spans)
    assert unescape(re.sub("<[^>]*>", "", html)).split() == passage.split()
    near = re.sub(r'<span class="fn-far"><span>[^<]*</span></span>', "", html)
    marks = re.compile("<mark>(.*?)</mark>", re.DOTALL)
    expected = marks.findall(marked_html(passage, spans))
    assert [mark.split() for mark in marks.findall(near)] == [mark.split() for mark in expected]


def test_text_far_from_the_quote_is_collapsed_at_white_space() -> None:
    passage = "before " * 50 + "THE QUOTE" + " after" * 50
    html = excerpt_html(passage, [(350, 359)])
    near = re.sub(r'<span class="fn-far">.*?</span></span>', "", html)
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


def test_only_wrapped_prose_is_rejoined() -> None:
    prose = "이 규정은 부산 사무소에 근무하는 모든 직원에게 적용됩니다. 밤이나\n주말에도"
    assert "밤이나 주말에도" in excerpt_html(prose, [])
    long = "a line that is long enough to have been wrapped"
    for text in (f"{long}\n- item", f"{long}\n| cell |", f"| {long} |\nAfter", f"{long}\n\nNext"):
        assert excerpt_html(text, []) == text
    for text in ("short\nlines", f"```\n{long}\n{long}\n```", f"{long}\n1. item"):
        assert excerpt_html(text, []) == text


def test_markdown_syntax_is_dimmed_and_preserved() -> None:
    table = "## Leave\n\n| Years | Days |\n| --- | ---: |\n| 1 # | 25 |"
    html = excerpt_html(table, [])
    assert re.findall('<span class="fn-syntax">(.*?)</span>', html) == ["## ", "| --- | ---: |"]
    assert unescape(re.sub("<[^>]*>", "", html)) == table


def test_a_short_passage_is_not_collapsed() -> None:
    assert "fn-far" not in excerpt_html("word " * 25, [(0, 4)])


def test_the_passage_in_focus_is_distinct_from_its_context():
    html = reading_html("# One\nbefore\n# <Two>\nten days\nafter", (13, 28), [(21, 29)])
    assert html == (
        '<span class="fn-around"><span class="fn-syntax"># </span>One\nbefore\n</span>'
        '<span class="fn-focus"><span class="fn-syntax"># </span>&lt;Two&gt;\n'
        "<mark>ten day</mark></span>"
        '<span class="fn-around"><mark>s</mark>\nafter</span>'
    )


@given(
    st.text(alphabet="ab <\n#|"),
    st.lists(st.integers(0, 40), min_size=2, max_size=2).map(sorted),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted), max_size=4),
)
def test_a_document_shows_every_character_once_with_any_highlights(text, focus, spans):
    html = reading_html(text, tuple(focus), spans)
    visible_text = unescape(re.sub(r"<[^>]*>", "", html))
    assert len(visible_text) == len(text)
    assert "".join(visible_text.split()) == "".join(text.split())
