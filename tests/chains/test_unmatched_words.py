"""The part of a question that a passage does not contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.extractive.answer_decision import unmatched_words
from domain.language.tokens import content_tokens


def unmatched(question, passage):
    return unmatched_words(question, set(content_tokens(passage)))


@pytest.mark.parametrize(
    ("question", "passage", "rest"),
    [
        (
            "What is the Dunlin's top speed?",
            "Dunlin is 6.2 metres long.",
            "What is the top speed?",
        ),
        ("소라 회의실 내선 번호", "소라 회의실은 8층에 있습니다.", "내선 번호"),
        ("汐路フェリーの社長は誰ですか", "汐路フェリーは来年移行する。", "の社長は誰ですか"),
    ],
)
def test_the_words_that_the_passage_lacks_remain(question, passage, rest):
    assert unmatched(question, passage) == rest


def test_nothing_remains_if_the_passage_contains_all_words():
    assert unmatched("Which port is it?", "The port is 51820.") == ""


@given(st.text())
def test_a_passage_without_words_matches_nothing(question):
    rest = unmatched_words(question, frozenset())
    assert rest == "" or set(content_tokens(rest)) == set(content_tokens(question))
