import pytest

from chains.citations.number_words import word_numbers
from tests.linear_time import require_linear_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes seven days.", {"7"}),
        ("Nineteen people, Forty chairs", {"19", "40"}),
        ("twenty-one days, thirty two days, forty\u2011five days", {"21", "32", "45"}),
        ("someone tenderly forwarded a weight", set()),
        ("two hundred, two\nhundred, two thousand twenty-four", set()),
        ("one hundred and twenty-five", set()),
        ("five million, five trillion, five dozen", set()),
        ("two and a half hours, three point five", set()),
        ("seven eighths, two thirds, a quarter", set()),
        ("the twenty-first, the forty-second floor, the ninth", set()),
    ],
)
def test_only_whole_numbers_below_100_are_read(text, expected):
    assert word_numbers(text) == expected


def test_numbers_are_read_in_linear_time():
    for part in ("seven ", "twenty-", "and a ", "tenth and a "):
        require_linear_time(lambda count, part=part: word_numbers(part * count), 50_000)
