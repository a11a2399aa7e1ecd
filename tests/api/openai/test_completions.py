from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from api.openai.openai_answers import annotations_of, completion_of, sources_of
from domain import Citation, CitationState, Turn, TurnState

PAGE = "https://wiki.example.com/leave"


def cited(n, state=CitationState.VERIFIED, quote="25 days", title="Leave", location=PAGE, **more):
    return Citation(n, state, quote, title, location, **more)


def turn_with(answer, *citations, state=TurnState.COMPLETE, **more):
    now = datetime(2026, 11, 22, tzinfo=UTC)
    return Turn("", "", "?", state, now, answer=answer, citations=citations, **more)


def spans(turn, content=None):
    content = turn.answer if content is None else content
    found = [one.url_citation for one in annotations_of(turn, content)]
    return [(content[one.start_index : one.end_index], one.title) for one in found]


def test_the_list_of_sources_has_a_line_for_each_quote_by_number():
    second = cited(2, quote="one", title="Handbook", location="h.pdf", page=3)
    turn = turn_with("x [2] y [1] z [2]", second, cited(1), second)
    assert sources_of(turn) == (
        f'\n\nSources:\n[1] Leave: "25 days" {PAGE}\n[2] Handbook, page 3: "one" h.pdf'
    )


def test_a_line_of_it_is_one_line_whatever_was_quoted():
    turn = turn_with("x [1]", cited(1, quote="a\n\n| b |\u2028c", title="A\tB"))
    assert sources_of(turn).count("\n") == 3
    assert '[1] A B: "a | b | c"' in sources_of(turn)


def test_what_was_not_found_is_marked():
    lost = cited(1, CitationState.NOT_FOUND)
    none = Citation(7, CitationState.NO_SUCH_SOURCE, "")
    listed = sources_of(turn_with("a [1] b [7]", lost, none))
    assert listed == f'\n\nSources:\n[1] ⚠ Leave: "25 days" {PAGE}\n[7] ⚠'


def test_an_answer_that_cites_nothing_has_no_list():
    assert sources_of(turn_with("I don't know.")) == ""


def test_verified_citations_of_web_pages_are_annotations():
    turn = turn_with(
        "답 [1], b [2], c [3], d [9].",
        cited(1),
        cited(2, location="/files/leave.md"),
        cited(3, CitationState.NOT_FOUND),
        Citation(9, CitationState.NO_SUCH_SOURCE, ""),
    )
    assert spans(turn) == [("[1]", "Leave")]


def test_different_quotes_of_a_source_are_annotated_each_at_its_place():
    first, second = cited(1, title="one"), cited(1, title="two")
    assert spans(turn_with("a [1] b [1]", first, second)) == [("[1]", "one"), ("[1]", "two")]
    assert spans(turn_with("a [1] b [1]", first)) == [("[1]", "one"), ("[1]", "one")]


def test_a_number_that_cites_nothing_is_no_mark_however_long_it_is():
    assert spans(turn_with(f"a [{'1' * 5000}] b [1]", cited(1))) == [("[1]", "Leave")]


@given(st.lists(st.sampled_from(["[1]", "[2]", "x", "가", "\n", "[[1]"])), st.text())
def test_annotations_are_where_the_marks_are_whatever_was_sent_before(pieces, before):
    turn = turn_with("".join(pieces), cited(1, title="[1]"), cited(2, title="[2]"))
    assert all(marked == title for marked, title in spans(turn, before + turn.answer))
    assert len(spans(turn)) == turn.answer.count("[1]") + turn.answer.count("[2]")


def test_an_answer_that_a_limit_ended_says_so():
    ended = turn_with("x", state=TurnState.INCOMPLETE, error="too long")
    told = completion_of(ended, "chatcmpl-1", "footnote")
    assert told.choices[0].finish_reason == "length"
    assert told.choices[0].message.footnote.error == "too long"
    assert completion_of(turn_with("x"), "", "").choices[0].finish_reason == "stop"


def test_tokens_that_nobody_told_are_none():
    told = completion_of(turn_with("x"), "", "").usage
    assert (told.prompt_tokens, told.completion_tokens, told.total_tokens) == (0, 0, 0)
    turn = turn_with("x", usage={"input_tokens": 5, "output_tokens": 2})
    assert completion_of(turn, "", "").usage.total_tokens == 7
