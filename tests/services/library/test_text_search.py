import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.library.text_search import find_words


def found(text, words):
    return [text[start:end] for start, end in find_words(text, words)]


@pytest.mark.parametrize(
    ("text", "words", "matches"),
    [
        ("Leave and LEAVE", "leave", ["Leave", "LEAVE"]),
        ("ten\n  days", "ten days", ["ten\n  days"]),
        ("ＡＢＣ社のﾃﾞｰﾀ", "abc社のデータ", ["ＡＢＣ社のﾃﾞｰﾀ"]),
        (
            "휴가 " + unicodedata.normalize("NFD", "휴가"),
            "휴가",
            ["휴가", unicodedata.normalize("NFD", "휴가")],
        ),
        ("각", "가", []),
        (unicodedata.normalize("NFD", "각"), "가", []),
        ("ﬁne", "fin", ["ﬁn"]),
        ("a.b", ".", ["."]),
        ("text", " ", []),
    ],
)
def test_case_width_and_unicode_form_are_ignored(text, words, matches):
    assert found(text, words) == matches


@given(st.text(), st.integers(0, 20), st.integers(1, 10))
def test_every_piece_of_a_text_is_found_in_it(text, start, length):
    piece = text[start : start + length].strip()
    spans = find_words(text, piece)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    if piece and piece.isalnum() and piece.isascii() and text.isascii():
        assert any(start <= text.index(piece) for start, _ in spans)
