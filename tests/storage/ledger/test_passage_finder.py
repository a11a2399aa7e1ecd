import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Passage
from storage.ledger.passage_finder import matching_passage

pytestmark = pytest.mark.usefixtures("ledger_kind")


def split_at(text, *ends):
    """The text split into passages that end at these offsets."""
    starts = [0, *ends[:-1]]
    return [
        Passage(f"{start}-{end}", "d", n, start, end, text[start:end])
        for n, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def test_a_passage_with_the_same_text_matches_even_if_it_moved():
    text = "Something new. Ten days of leave. Tell your lead."
    [_, leave, _] = passages = split_at(text, 15, 34, 49)
    assert matching_passage(leave.text, 0, text, passages) == leave


def test_of_equal_passages_the_nearest_matches():
    text = "ten days ten days ten days "
    passages = split_at(text, 9, 18, 27)
    assert matching_passage("ten days ", 10, text, passages) == passages[1]


def test_after_resplitting_the_passage_with_most_of_the_text_matches():
    text = "aaaa bbbb cccc dddd "
    passages = split_at(text, 14, 20)
    assert matching_passage("bbbb cccc ", 5, text, passages) == passages[0]
    assert matching_passage("dddd", 15, text, passages) == passages[1]


def test_text_that_the_document_no_longer_contains_has_no_match():
    text = "Leave is twelve days."
    assert matching_passage("Leave is ten days.", 0, text, split_at(text, len(text))) is None


def test_a_passage_with_less_than_half_of_the_text_does_not_match():
    text = "x" * 3 + "needle ab" + "y" * 30
    passages = [Passage("p", "d", 0, 9, 42, text[9:42])]
    assert matching_passage("needle ab", 3, text, passages) is None


def test_a_document_without_passages_has_no_match():
    assert matching_passage("text", 0, "text", []) is None


@given(st.text("ab ", min_size=1, max_size=40), st.data())
def test_every_passage_matches_itself(text, data):
    ends = sorted(data.draw(st.sets(st.integers(1, len(text)))) | {len(text)})
    passages = split_at(text, *ends)
    for passage in passages:
        assert matching_passage(passage.text, passage.start, text, passages) == passage
