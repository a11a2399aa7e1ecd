from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chains.citations.marker_parser import MarkerParser
from chains.citations.markers import MAX_MARKER_CHARS, Marker, Text, plain_text
from tests.linear_time import require_linear_time


def claims(answer):
    """The citations of all markers of an answer: numbers, or pairs of number and quote."""
    markers = [piece for piece in MarkerParser().parse(answer) if isinstance(piece, Marker)]
    parsed = [claim for marker in markers for claim in marker.claims]
    return [(claim.n, claim.quote) if claim.quote else claim.n for claim in parsed]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("15 days [1].", [1]),
        ("15 days[1][2].", [1, 2]),
        ("15 days [1, 2].", [1, 2]),
        ("15 days [1-3].", [1, 2, 3]),
        ("15日［１］です。", [1]),
        ("15日【1】です。", [1]),
        ("15 days【1†source】.", [1]),
        ('15 days [1: "15 days of leave"].', [(1, "15 days of leave")]),
        ("15 days [1: “15 days of leave”].", [(1, "15 days of leave")]),
        ("15일 [1: 「연차는 15일」].", [(1, "연차는 15일")]),
        ("15 days [1: '15 days']", [(1, "15 days")]),
        ("15 days [1: 15 days of leave]", [(1, "15 days of leave")]),
        ('[1: "a b", 2: "c d"]', [(1, "a b"), (2, "c d")]),
        ('[1: "a b", "c d"]', [(1, "a b"), (1, "c d")]),
        ('[1: "the "core" hours"]', [(1, 'the "core" hours')]),
        ('[1: "see [2] for all"]', [(1, "see [2] for all")]),
        ('[1: "two\nlines"]', [(1, "two\nlines")]),
        ("[9]", [9]),
        ('[120: "fifteen days"]', [(120, "fifteen days")]),
        ("`code` [1]", [1]),
        ("an `open span [1]\nnext line [2]", [1, 2]),
        ("an `open span [1]\nnext line [2]`", [1, 2]),
        ("```\n[1]\n```\n[2]", [2]),
        ("a \\` backtick [1]", [1]),
        ("\\\\[1]", [1]),
        ("`a\\` [1]", [1]),
        ("\\``a` [1]", [1]),
        ("a \\", []),
    ],
)
def test_every_form_of_a_marker_is_parsed(answer, cited):
    assert claims(answer) == cited


@pytest.mark.parametrize(
    "answer",
    [
        "[2024]", "[100]", "[0]", "[text]", "[1](http://x.example)", "`a[1]`", "``a ` [1]``", "[x]",
        "```\na[1]\n```", "~~~py\n[1]\n~~~~", "```\n[1]", "[3-1]", "[10: 30]", "\\[1]", "[ ]",
        "[1\n]", '[1: "a\n\nb"]',
    ],
)  # fmt: skip
def test_other_brackets_are_not_markers(answer):
    pieces = MarkerParser().parse(answer)
    assert all(isinstance(piece, Text) for piece in pieces)
    assert plain_text(pieces) == answer


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("15 days [1", [1]),
        ("15 days [1, 2", [1, 2]),
        ("15 days [1,", [1]),
        ('15 days [1: "15 days of le', [(1, "15 days of")]),
        ('15 days [1: "15 days"', [(1, "15 days")]),
        ('15 days [1: "15 days" and more text.', [(1, "15 days")]),
        ('15 days [1: "15 days" and more text.\n\nEnd [2].', [(1, "15 days"), 2]),
        ("15 days [", []),
    ],
)
def test_an_unfinished_marker_cites_its_complete_words(answer, cited):
    assert claims(answer) == cited


def test_a_marker_is_displayed_as_its_numbers():
    marker = MarkerParser().parse('[1: "a b", 3]')[0]
    assert isinstance(marker, Marker)
    assert marker.shown == "[1][3]"


def joined(pieces):
    """The pieces, with consecutive texts as one string."""
    groups = groupby(pieces, lambda piece: isinstance(piece, Text))
    return [plain_text(list(group)) if is_text else [*group] for is_text, group in groups]


PARTS = ["[", "1", "2]", ":", '"', "“", "”", " ", ",", "-", "`", "```", "\n", "~~~", "(", "a",
         "two words", "†", "【", "】", "「", "」", "日本語", "\\",
         '[1: "ab cd', '"]', "[3]"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=25), st.data())
def test_the_pieces_do_not_depend_on_how_the_answer_is_split(parts, data):
    answer = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=12)))
    parser = MarkerParser()
    pieces = []
    for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True):
        pieces += parser.feed(answer[start:end])
    whole = MarkerParser()
    assert joined(pieces + parser.close()) == joined(whole.feed(answer) + whole.close())


@given(st.lists(st.sampled_from(PARTS), max_size=25))
def test_no_character_is_lost(parts):
    answer = "".join(parts)
    pieces = MarkerParser().parse(answer)
    assert "".join(p.text if isinstance(p, Text) else p.raw for p in pieces) == answer


def test_plain_text_is_returned_immediately_and_a_marker_once_it_is_complete():
    parser = MarkerParser()
    assert parser.feed("Fifteen ") == [Text("Fifteen ")]
    assert parser.feed("days [") == [Text("days ")]
    assert parser.feed('1: "15 days"') == []
    pieces = parser.feed("].")
    assert isinstance(pieces[0], Marker)
    assert pieces[1:] == [Text(".")]


def test_at_most_the_length_of_a_marker_is_held_back():
    parser = MarkerParser()
    returned = sum(
        len(p.text) for _ in range(5000) for p in parser.feed("x") if isinstance(p, Text)
    )
    assert returned == 5000
    answer = '[1: "' + "x" * 5000
    pieces = [piece for letter in answer for piece in parser.feed(letter)]
    assert sum(len(p.text) for p in pieces if isinstance(p, Text)) >= 5000 - MAX_MARKER_CHARS


@pytest.mark.parametrize("unit", ['[1: "', '[1: "a b c" ', "【1†", "[1: a b "])
def test_long_answers_of_unfinished_markers_are_parsed_in_linear_time(unit):
    require_linear_time(lambda chars: MarkerParser().parse(unit * (chars // len(unit))), 60_000)


LINE_PARTS = ["a", " ", "\\", "`", "``", "[1]", "[", "]"]


@given(st.lists(st.sampled_from(LINE_PARTS), max_size=12).map("".join))
@example("\\`[1]")
@example("`\\`[1]")
def test_escapes_and_code_follow_commonmark(line):
    (inline,) = MarkdownIt().disable("text_join").parseInline(f"a{line}")
    texts = "".join(one.content if one.type == "text" else "\0" for one in inline.children)
    assert claims(f"a{line}") == [1] * texts.count("[1]")
