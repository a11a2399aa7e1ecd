import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.language.script import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＦＯＯＴＮＯＴＥ", "footnote"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("Straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("caf\u00e9", "CAFE\u0301"),
    ],
)
def test_texts_that_differ_only_in_form_fold_to_the_same_text(one, other):
    assert fold(one) == fold(other)


def test_different_texts_stay_different():
    assert fold("は") != fold("ば")
    assert fold("v1.2") != fold("v12")


@settings(deadline=None)
@given(st.text())
def test_case_does_not_matter(text):
    assert fold(text.swapcase().casefold()) == fold(text.swapcase())


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=0x7F)))
def test_the_fast_path_for_ascii_equals_the_general_path(text):
    assert fold(text) == fold(text + "é")[:-1]
