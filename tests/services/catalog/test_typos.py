"""Long names are found with one typo, and no other words for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.catalog.word_finder import TypoFinder

TYPOS = TypoFinder([("queens", "Q"), ("brooklyn", "B"), ("staten island", "S"), ("bronx", "X")])


def found(text):
    return [(text[one.start : one.end], *one.meanings) for one in TYPOS.find(text)]


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
def test_a_name_with_one_typo_is_found(text, names):
    assert found(text) == names


@given(st.integers(1, 6), st.sampled_from("abcxyz"))
def test_another_letter_inside_is_a_typo(place, letter):
    typed = "brooklyn"[:place] + letter + "brooklyn"[place + 1 :]
    assert found(typed) == ([] if typed == "brooklyn" else [(typed, "B")])


@given(st.text(alphabet="brooklynqe ", max_size=40))
def test_what_is_found_stands_there(text):
    places = [(one.start, one.end) for one in TYPOS.find(text)]
    assert places == sorted(places)
    assert all(text[start:end].strip() for start, end in places)
