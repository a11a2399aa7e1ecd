"""Answers of a chat model without evidence: the built-in extract is appended to them."""

import pytest

from domain import LOCAL_USER, CitationState, TurnState
from services.chat.running_answer import TOO_LONG
from services.events import TextDelta
from tests.fakes.openai import MODEL, Endless, Text

QUESTION = "How many days of annual leave do new employees get?"
UNSUPPORTED = "Thirty days of holidays are usual."
HEADING = "**The text above cites nothing that was found in the documents."
QUOTE = "“New employees get 25 days of annual leave a year.” [1]"


@pytest.fixture
def services(imported):
    return imported(chat=True, chat_max_tokens=64)


def verified(turn):
    return [one.quote for one in turn.citations if one.state is CitationState.VERIFIED]


@pytest.mark.parametrize(
    "reply", [UNSUPPORTED, "[7] Leave policy > Annual leave", f'{UNSUPPORTED} [1: "thirty days"]']
)
def test_the_extract_is_streamed_checked_and_stored_like_the_answer(services, model_server, reply):
    model_server.will(Text(*[f"{word} " for word in reply.split()]))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    turn = events[-1].turn
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == turn.answer
    assert HEADING in turn.answer
    assert QUOTE in turn.answer
    assert verified(turn)[0] == "New employees get 25 days of annual leave a year."
    assert (turn.state, turn.model) == (TurnState.COMPLETE, MODEL)
    assert turn.usage == {"input_tokens": 11, "output_tokens": 7}
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_unsupported_sentences_of_the_model_are_counted_without_the_heading(services, model_server):
    model_server.will(Text(UNSUPPORTED))
    assert services.chat.ask(LOCAL_USER, QUESTION).unsupported_sentences == 1


def test_a_truncated_answer_is_incomplete_and_also_has_the_extract(services, model_server):
    model_server.will(Endless(content="word "))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, TOO_LONG)
    assert QUOTE in turn.answer


def test_the_next_question_is_condensed_with_the_quoted_document(services, model_server):
    model_server.will(Text(UNSUPPORTED), Text(""), Text("No idea of that either."))
    first = services.chat.ask(LOCAL_USER, QUESTION)
    turn = services.chat.ask(LOCAL_USER, "And unused days?", first.conversation_id)
    assert turn.standalone_question.startswith("And unused days? (annual leave")


@pytest.mark.parametrize(
    "reply",
    ['They get 25 days [1: "25 days of annual leave"].', "The sources do not say how many."],
)
def test_supported_answers_and_refusals_have_no_extract(services, model_server, reply):
    model_server.will(Text(reply))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert HEADING not in turn.answer
    assert len(turn.answer) <= len(reply)


def test_a_stopped_answer_has_no_extract(services, model_server):
    model_server.will(Text(*["word "] * 20, pause_s=0.05))
    stream = services.chat.stream(LOCAL_USER, QUESTION)
    started = next(stream)
    next(event for event in stream if isinstance(event, TextDelta))
    stream.close()
    turn = services.turns.get(LOCAL_USER, started.turn.conversation_id, started.turn.id)
    assert turn.state is TurnState.STOPPED
    assert HEADING not in turn.answer
