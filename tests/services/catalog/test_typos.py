"""A long name is recognized despite one typo; other words are not mistaken for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.catalog.word_finder import TypoFinder

TYPOS = TypoFinder([("queens", "Q"), ("brooklyn", "B"), ("staten island", "S"), ("bronx", "X")])


def matches(text):
    return [(text[match.start : match.end], *match.meanings) for match in TYPOS.find(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("in brookyln, or quens", [("brookyln", "B"), ("quens", "Q")]),
        ("brroklyn broooklyn", [("brroklyn", "B"), ("broooklyn", "B")]),
        ("statan island ferry", [("statan island", "S")]),
        ("brooklyn", []),
        ("queen", []),
        ("the bronz", []),
        ("roklyn", []),
        ("", []),
    ],
)
def test_a_name_with_one_typo_is_recognized(text, names):
    assert matches(text) == names


@given(st.integers(1, 6), st.sampled_from("abcxyz"))
def test_a_replaced_letter_is_a_typo(place, letter):
    typed = "brooklyn"[:place] + letter + "brooklyn"[place + 1 :]
    assert matches(typed) == ([] if typed == "brooklyn" else [(typed, "B")])


@given(st.text(alphabet="brooklynqe ", max_size=40))
def test_matches_are_sorted_and_not_blank(text):
    spans = [(match.start, match.end) for match in TYPOS.find(text)]
    assert spans == sorted(spans)
    assert all(text[start:end].strip() for start, end in spans)
