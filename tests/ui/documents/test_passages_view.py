from hypothesis import given
from hypothesis import strategies as st

from domain import Passage, SharedPassage
from ui.documents.document_page import passage_html
from ui.shared.safe_html import escape


def listed(text, before=0, after=0, **told):
    passage = Passage("p", "d", 2, 100, 100 + len(text), text, **told)
    return SharedPassage(passage, before, after)


def test_what_a_passage_shares_with_its_neighbours_is_marked():
    html = passage_html(listed("one two three", 3, 5, heading_path=("Leave",), page=4), 9)
    assert "<mark>one</mark> two <mark>three</mark>" in html
    assert "Passage 3 of 9" in html
    assert "<span>Leave</span><span>page 4</span>" in html
    assert 'href="document?id=d&amp;start=100&amp;end=113"' in html


def test_a_passage_that_shares_nothing_has_no_mark():
    assert "<mark>" not in passage_html(listed("alone"), 1)


def test_overlaps_that_meet_are_one_mark():
    assert "<mark>abcdef</mark>" in passage_html(listed("abcdef", 4, 4), 3)


@given(st.text(min_size=1, max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_marking_keeps_every_character(text, before, after):
    shared = listed(text, min(before, len(text)), min(after, len(text)))
    shown = passage_html(shared, 3).partition('class="fn-passage"')[2].partition(">")[2]
    inside = shown.partition("</div>")[0].replace("<mark>", "").replace("</mark>", "")
    assert inside == "".join(map(escape, text))
