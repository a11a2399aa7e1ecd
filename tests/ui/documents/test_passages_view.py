from hypothesis import given
from hypothesis import strategies as st

from domain import Passage, SharedPassage
from ui.documents.passage_list import passage_html
from ui.shared.safe_html import escape


def shared_passage(text, before=0, after=0, **details):
    passage = Passage("p", "d", 2, 100, 100 + len(text), text, **details)
    return SharedPassage(passage, before, after)


def test_overlaps_with_neighboring_passages_are_highlighted():
    html = passage_html(shared_passage("one two three", 3, 5, heading_path=("Leave",), page=4), 9)
    assert "<mark>one</mark> two <mark>three</mark>" in html
    assert "Passage 3 of 9" in html
    assert "<span>Leave</span><span>page 4</span>" in html
    assert 'href="document?id=d&amp;start=100&amp;end=113"' in html


def test_a_passage_without_overlaps_has_no_highlight():
    assert "<mark>" not in passage_html(shared_passage("alone"), 1)


def test_adjacent_overlaps_are_highlighted_together():
    assert "<mark>abcdef</mark>" in passage_html(shared_passage("abcdef", 4, 4), 3)


@given(st.text(min_size=1, max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_highlighting_keeps_every_character(text, before, after):
    passage = shared_passage(text, min(before, len(text)), min(after, len(text)))
    html = passage_html(passage, 3).partition('class="fn-passage"')[2].partition(">")[2]
    text_html = html.partition("</div>")[0].replace("<mark>", "").replace("</mark>", "")
    assert text_html == "".join(map(escape, text))
