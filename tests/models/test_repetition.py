"""Detects endless repetition and ignores texts that only repeat themselves for a while."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.openai_chat import (
    CHECK_EVERY_CHARS,
    LEAST_CHARS,
    LEAST_TIMES,
    LONGEST_TAIL,
    LoopDetector,
    ends_in_loop,
)

LONGEST_BLOCK = LONGEST_TAIL // LEAST_TIMES

blocks = st.text(st.characters(exclude_characters="0123456789"), min_size=1, max_size=LONGEST_BLOCK)


def repeated(block, chars):
    return block * (chars // len(block) + 1)


@given(st.text(), blocks)
def test_repetition_is_detected_after_any_text(before, block):
    assert ends_in_loop(before + repeated(block, LONGEST_TAIL))


@given(st.text(max_size=LEAST_CHARS - 1))
def test_a_short_text_is_not_a_loop(text):
    assert not ends_in_loop(text)


@given(blocks, st.integers(1, LEAST_TIMES - 1))
def test_a_few_repetitions_are_not_a_loop(block, times):
    distinct = "".join(f"{n}. {n * n}\n" for n in range(300))
    long_block = (block + distinct)[:LONGEST_BLOCK]
    assert not ends_in_loop(distinct + "—" + long_block * times)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"| {n} | the same words in each row of a table | {n * 7} |" for n in range(99)),
        "\n".join(f"{n}. Press button {n} and wait for the lamp [{n}]." for n in range(99)),
        "Before the rule\n\n" + "-" * 200,
    ],
)
def test_tables_lists_and_rules_are_not_loops(text):
    assert not ends_in_loop(text)


@pytest.mark.parametrize(
    "line", ["[{n}] Leave policy > Annual leave\n", "{n}. Fill in the form.\n", "  {n}) 네.\n\n"]
)
def test_lines_that_differ_only_in_their_number_are_a_loop(line):
    assert ends_in_loop("".join(line.format(n=n) for n in range(6, 120)))


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_loop_is_detected_soon_however_the_text_is_split(size):
    text = "An answer that begins well. " + "모델이 같은 말을 되풀이합니다. " * 400
    detector, read = LoopDetector(), 0
    while not detector.in_loop:
        detector.read(text[read : read + size])
        read += size
    assert read <= 28 + LEAST_CHARS + CHECK_EVERY_CHARS + 40 + 2 * size


@given(st.lists(st.text(alphabet="ab ", max_size=400), max_size=20))
def test_a_loop_detected_in_pieces_is_also_one_in_the_whole_text(pieces):
    detector = LoopDetector()
    for end in range(len(pieces)):
        before = detector.in_loop
        detector.read(pieces[end])
        if detector.in_loop and not before:
            assert ends_in_loop("".join(pieces[: end + 1]))
