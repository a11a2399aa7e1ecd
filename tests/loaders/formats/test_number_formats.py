import pytest

from loaders.formats.number_formats import format_number


@pytest.mark.parametrize(
    ("number", "number_format", "expected"),
    [
        (4, "lowerRoman", "iv"),
        (1994, "upperRoman", "MCMXCIV"),
        (5000, "upperRoman", "5000"),
        (28, "lowerLetter", "bb"),
        (1, "upperLetter", "A"),
        (0, "lowerLetter", "0"),
        (99999, "lowerLetter", "99999"),
        (2, "ganada", "나"),
        (15, "ganada", "15"),
        (3, "chosung", "ㄷ"),
        (20, "koreanDigital", "이영"),
        (23, "koreanCounting", "이십삼"),
        (6, "aiueoFullWidth", "カ"),
        (3, "iroha", "ハ"),
        (10, "japaneseCounting", "十"),
        (42, "japaneseCounting", "四十二"),
        (105, "japaneseCounting", "105"),
        (20, "ideographDigital", "二〇"),
        (10, "decimalFullWidth", "１０"),
        (3, "decimalEnclosedCircle", "③"),
        (3, "decimalEnclosedParen", "⑶"),
        (7, "decimalZero", "07"),
        (7, "none", ""),
        (7, "unheardOf", "7"),
    ],
)
def test_numbers_are_formatted_as_in_word(number, number_format, expected):
    assert format_number(number, number_format) == expected
