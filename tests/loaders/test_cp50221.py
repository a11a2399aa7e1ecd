import pytest

from loaders.cp50221 import decode_cp50221
from tests.linear_time import require_linear_time

# Code page 932 shows these of JIS X 0208 as their full-width or Windows forms.
WINDOWS_FORMS = str.maketrans("〜‖−¢£¬", "～∥－￠￡￢")


def jis_pairs(rows):
    return (bytes((row + 0x20, cell)) for row in rows for cell in range(0x21, 0x7F))


def kanji(pair, escape=b"\x1b$B"):
    return escape + pair + b"\x1b(B"


def test_every_character_of_jis_x_0208_is_decoded_as_by_the_codec_of_iso_2022_jp():
    compared = 0
    for pair in jis_pairs(range(1, 95)):
        expected = kanji(pair).decode("iso2022_jp", "replace")
        if "\ufffd" not in expected:
            assert decode_cp50221(kanji(pair)) == expected.translate(WINDOWS_FORMS)
            compared += 1
    assert compared == 6879


def test_row_13_of_nec_is_decoded_as_in_jis_x_0213():
    """JIS X 0213 took over this row, except for ten characters that it has elsewhere."""
    compared = 0
    for pair in jis_pairs([13]):
        text = decode_cp50221(kanji(pair))
        expected = bytes(byte | 0x80 for byte in pair).decode("euc_jis_2004", "replace")
        if "\ufffd" not in text + expected:
            assert text == expected
            compared += 1
    assert compared == 73


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b$B-!;3ED\x1b(B", "①山田"),
        (b"\x1b$@-j\x1b(B", "㈱"),
        (b"\x1b$B|b\x1b(B", "髙"),
        (b"No. \x1b$B-b\x1b(B 5", "No. № 5"),
        (b"\x1b(I6E\x1b$B-!\x1b(B", "ｶﾅ①"),
        (b"\x1b$B-!\x1b(J\\500\x1b(B", "①¥500"),
        (b"\x1b$B-!\r\n-\x22\x1b(B\r\nx", "①\r\n②\r\nx"),
        (b"\x1b$B-!", "①"),
    ],
)
def test_characters_of_windows_and_half_width_kana_are_decoded(data, text):
    assert decode_cp50221(data) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b$B-!-\x1b(Bx", "①\ufffdx"),
        (b"\x1b$B-!-\nx\x1b(Bx", "①\ufffd\n\ufffdx"),
        (b"\x1b$B-!\x1b", "①\ufffd"),
    ],
)
def test_incomplete_characters_are_shown_as_invalid(data, text):
    assert decode_cp50221(data) == text


@pytest.mark.parametrize("unit", [b"\x1b$B", b"\x1b$B-!", b"-!", b"\x1b", b"\x1b(I6", b"\x1b$B!"])
def test_texts_are_decoded_in_linear_time(unit):
    def decode(size):
        return decode_cp50221(b"\x1b$B" + unit * (size // len(unit)))

    require_linear_time(decode, 400_000)
