import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import AnswerReader, read_answer
from chains.citations.markers import Marker, as_markdown, plain_text
from domain import CitationState, RetrievedPassage

SURVEY = (
    "The method of Kim [42] is used in [2] and [3, 7], see rows[12] and 表【1】. "
    "It reaches 93 percent [1]."
)
SOURCES = [
    RetrievedPassage(1, "p1", "d1", "Survey", "", SURVEY),
    RetrievedPassage(2, "p2", "d2", "Leave", "", "15 days."),
]


def numbers(answer, sources=SOURCES):
    pieces = read_answer(answer, sources)
    return [one.n for piece in pieces if isinstance(piece, Marker) for one in piece.claims]


def markdown(answer, sources=SOURCES):
    return as_markdown(read_answer(answer, sources))


def check(answer):
    return check_answer(answer, SOURCES, {"d1": SURVEY, "d2": "15 days."}.get)


def test_lookalike_brackets_are_restored_to_those_of_the_document():
    answer = 'Kim ⟦42⟧ says so [1: "method of Kim ⟦42⟧"], as 〖1〗 does.'
    assert markdown(answer) == "Kim \\[42\\] says so [1], as 【1】 does."
    assert plain_text(read_answer(answer, SOURCES)) == "Kim [42] says so [1], as 【1】 does."


def test_brackets_in_code_are_not_escaped():
    assert (
        markdown("Call `rows⟦12⟧` [1].\n```\nrows⟦12⟧\n```")
        == "Call `rows[12]` [1].\n```\nrows[12]\n```"
    )


def test_a_backslash_before_a_lookalike_does_not_undo_the_escape():
    assert markdown("Kim \\⟦42\\⟧") == "Kim \\[42\\]"


def test_a_lookalike_that_occurs_in_a_source_is_unchanged():
    sources = [RetrievedPassage(1, "", "", "", "", "The glyph ⟦4⟧ and [42]")]
    assert markdown("The glyph ⟦4⟧ and ⟬42⟭ [1]", sources) == "The glyph ⟦4⟧ and \\[42\\] [1]"


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Kim [42] says so [1].", [1]),
        ("It is in [3, 7] [1].", [1]),
        ("See rows[12] [1].", [1]),
        ("表【1】です [1]。", [1, 1]),
        ("Nobody gave out [9] [1].", [9, 1]),
        ("It says “is used in [2] and [3, 7]” [1].", [1]),
        ('It says "is used in [2] and" [1].', [1]),
        ("It says “is used in [2] and” but [2] differs.", [2]),
        ("It says “15 days” [2].", [2]),
        ("It says “15 days [2]” and so on.", [2]),
        ('It says “the method of Kim [1: "method of Kim [42]"]”.', [1]),
    ],
)
def test_a_number_copied_from_a_source_is_not_a_marker(answer, cited):
    assert numbers(answer) == cited


def test_a_copied_bracket_causes_no_warning():
    checked = check(
        'It says “is used in [2] and [3, 7]” [1], by Kim [42] [1: "method of Kim [42]"].'
    )
    assert [one.state for one in checked.citations] == [CitationState.VERIFIED] * 2
    assert checked.unsupported_sentences == 0
    assert checked.text.count("\\[") == 3


def test_an_unverified_quote_is_reported_with_the_brackets_of_the_document():
    [citation] = check('So it is [1: "no words of Kim ⟦42⟧"].').citations
    assert (citation.state, citation.quote) == (CitationState.NOT_FOUND, "no words of Kim [42]")


PARTS = ["⟦42⟧", "[42]", "[1]", '[1: "method of Kim ⟦42⟧"]', "“", "”", '"', "`", "\\", "\n", "⟦",
         "is used in ", "[2]", " ", "【1】", "```", "[150]", "[1](x)", "[0]"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=20), st.data())
def test_the_markdown_does_not_depend_on_how_the_answer_is_split(parts, data):
    answer = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=12)))
    reader = AnswerReader(SOURCES)
    pieces = []
    for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True):
        pieces += reader.feed(answer[start:end])
    assert as_markdown(pieces + reader.close()) == markdown(answer)
