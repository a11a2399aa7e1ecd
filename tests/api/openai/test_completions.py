from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from api.openai.openai_answers import annotations_of, completion_of, sources_of
from domain import Citation, CitationState, Turn, TurnState
from services.events import TurnFinished

PAGE = "https://wiki.example.com/leave"


def citation(
    n, state=CitationState.VERIFIED, quote="25 days", title="Leave", location=PAGE, **more
):
    return Citation(n, state, quote, title, location, **more)


def turn_with(answer, *citations, state=TurnState.COMPLETE, **more):
    now = datetime(2026, 11, 22, tzinfo=UTC)
    return Turn("", "", "?", state, now, answer=answer, citations=citations, **more)


def spans(turn, content=None):
    content = turn.answer if content is None else content
    citations = [one.url_citation for one in annotations_of(TurnFinished(turn), content)]
    return [(content[one.start_index : one.end_index], one.title) for one in citations]


def test_the_source_list_has_one_line_per_quote_ordered_by_number():
    second = citation(2, quote="one", title="Handbook", location="h.pdf", page=3)
    turn = turn_with("x [2] y [1] z [2]", second, citation(1), second)
    assert sources_of(TurnFinished(turn)) == (
        f'\n\nSources:\n[1] Leave: "25 days" {PAGE}\n[2] Handbook, page 3: "one" h.pdf'
    )


def test_line_breaks_in_quotes_and_titles_do_not_break_the_source_list():
    turn = turn_with("x [1]", citation(1, quote="a\n\n| b |\u2028c", title="A\tB"))
    assert sources_of(TurnFinished(turn)).count("\n") == 3
    assert '[1] A B: "a | b | c"' in sources_of(TurnFinished(turn))


def test_quotes_that_were_not_found_are_marked_in_the_source_list():
    not_found = citation(1, CitationState.NOT_FOUND)
    no_such_source = Citation(7, CitationState.NO_SUCH_SOURCE, "")
    source_list = sources_of(TurnFinished(turn_with("a [1] b [7]", not_found, no_such_source)))
    assert source_list == f'\n\nSources:\n[1] ⚠ Leave: "25 days" {PAGE}\n[7] ⚠'


def test_an_answer_without_citations_has_no_source_list():
    assert sources_of(TurnFinished(turn_with("I don't know."))) == ""


def test_verified_citations_of_web_pages_are_annotations():
    turn = turn_with(
        "답 [1], b [2], c [3], d [9].",
        citation(1),
        citation(2, location="/files/leave.md"),
        citation(3, CitationState.NOT_FOUND),
        Citation(9, CitationState.NO_SUCH_SOURCE, ""),
    )
    assert spans(turn) == [("[1]", "Leave")]


def test_each_quote_of_a_source_is_annotated_at_its_own_marker():
    first, second = citation(1, title="one"), citation(1, title="two")
    assert spans(turn_with("a [1] b [1]", first, second)) == [("[1]", "one"), ("[1]", "two")]
    assert spans(turn_with("a [1] b [1]", first)) == [("[1]", "one"), ("[1]", "one")]


def test_a_very_long_number_in_brackets_is_not_a_citation_marker():
    assert spans(turn_with(f"a [{'1' * 5000}] b [1]", citation(1))) == [("[1]", "Leave")]


@given(st.lists(st.sampled_from(["[1]", "[2]", "x", "가", "\n", "[[1]"])), st.text())
def test_annotations_match_their_markers_whatever_text_precedes_the_answer(pieces, before):
    turn = turn_with("".join(pieces), citation(1, title="[1]"), citation(2, title="[2]"))
    assert all(marker == title for marker, title in spans(turn, before + turn.answer))
    assert len(spans(turn)) == turn.answer.count("[1]") + turn.answer.count("[2]")


def test_an_answer_ended_by_a_limit_has_finish_reason_length():
    turn = turn_with("x", state=TurnState.INCOMPLETE, error="too long")
    completion = completion_of(TurnFinished(turn), "chatcmpl-1", "footnote")
    assert completion.choices[0].finish_reason == "length"
    assert completion.choices[0].message.footnote.error == "too long"
    assert completion_of(TurnFinished(turn_with("x")), "", "").choices[0].finish_reason == "stop"


def test_unknown_token_counts_are_zero():
    usage = completion_of(TurnFinished(turn_with("x")), "", "").usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (0, 0, 0)
    turn = turn_with("x", usage={"input_tokens": 5, "output_tokens": 2})
    assert completion_of(TurnFinished(turn), "", "").usage.total_tokens == 7
