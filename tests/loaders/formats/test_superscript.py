import pytest

from loaders.formats.superscript import continues_number, join_superscripts, superscript
from tests.linear_time import require_linear_time


@pytest.mark.parametrize(
    ("before", "raised", "after", "expected"),
    [
        ("10", "6", " cells", "10^6 cells"),
        ("10", "-6", " m", "10^-6 m"),
        ("in 2024.", "3", " Next", "in 2024.^3 Next"),
        ("５", "2", "", "５^2"),
        ("40 m", "2", "", "40 m2"),
        ("the 5", "th", " day", "the 5th day"),
        ("25 ", "1", " days", "25 1 days"),
        ("", "1", "25 days", "1 25 days"),
        ("10", " ", "6", "10 6"),
    ],
)
def test_a_superscript_does_not_change_a_number(before, raised, after, expected):
    assert join_superscripts(before + superscript(raised) + after) == expected


def test_adjacent_superscripts_are_one():
    assert join_superscripts(f"10{superscript('1')}{superscript('2')} m") == "10^12 m"


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [("10", "6", True), ("2024.", "3 Next", True), ("m", "2", False), ("10 ", "6", False)],
)
def test_digits_continue_only_a_number(before, text, expected):
    assert continues_number(before, text) is expected


@pytest.mark.parametrize("part", ["1" + superscript("2"), superscript("x")[0], superscript("x")[2]])
def test_superscripts_are_joined_in_linear_time(part):
    require_linear_time(lambda count: join_superscripts("1" + part * count), 200_000)
