"""What a stopped turn keeps, and how the next question is condensed with it."""

import pytest

from domain import LOCAL_USER, CitationState, TurnState
from services.events import PassagesRetrieved, Searching, TextDelta, TurnStarted
from tests.fakes.openai import Text

QUESTION = "How many days of annual leave do new employees get?"
FOLLOW_UP = "And after two years?"
STAGES = [TurnStarted, Searching, PassagesRetrieved, TextDelta]


@pytest.fixture
def services(imported):
    return imported()


def stop_at(stage, services, question=QUESTION, conversation_id=None):
    """The stored turn of a question that is stopped at the first event of that class."""
    stream = services.chat.stream(LOCAL_USER, question, conversation_id)
    started = next(stream)
    if stage is not TurnStarted:
        next(event for event in stream if isinstance(event, stage))
    stream.close()
    return services.turns.get(LOCAL_USER, started.turn.conversation_id, started.turn.id)


@pytest.mark.parametrize("stage", STAGES)
def test_a_follow_up_is_condensed_with_the_question_of_a_stopped_turn(services, stage):
    stopped = stop_at(stage, services)
    assert (stopped.state, stopped.question) == (TurnState.STOPPED, QUESTION)
    follow_up = services.chat.ask(LOCAL_USER, FOLLOW_UP, stopped.conversation_id)
    assert follow_up.parent_id == stopped.id
    assert "annual" in follow_up.standalone_question


@pytest.mark.parametrize("stage", STAGES)
def test_a_stopped_follow_up_keeps_the_subject_for_the_next_one(services, stage):
    first = services.chat.ask(LOCAL_USER, QUESTION)
    stop_at(stage, services, FOLLOW_UP, first.conversation_id)
    third = services.chat.ask(LOCAL_USER, "And after five years?", first.conversation_id)
    assert "annual" in third.standalone_question
    assert "27 days" not in third.standalone_question


def test_a_turn_keeps_what_was_known_when_it_was_stopped(services):
    assert stop_at(TurnStarted, services).standalone_question == ""
    searching = stop_at(Searching, services)
    assert searching.standalone_question == QUESTION
    assert searching.sources == ()
    assert stop_at(PassagesRetrieved, services).sources
    writing = stop_at(TextDelta, services)
    assert writing.answer
    assert writing.citations[0].state is CitationState.VERIFIED


def test_a_model_condenses_with_the_question_of_a_stopped_turn(imported, model_server):
    services = imported(chat=True)
    model_server.will(Text("They get 25 days. ", "And ", "more.", pause_s=0.05))
    stopped = stop_at(TextDelta, services)
    model_server.will(Text("How many days after two years?"), Text("27 days."))
    services.chat.ask(LOCAL_USER, FOLLOW_UP, stopped.conversation_id)
    prompts = [one.body["messages"] for one in model_server.requests if "messages" in one.body]
    condense_prompt = prompts[-2][-1]["content"]
    assert QUESTION in condense_prompt
    assert "They get 25 days." in condense_prompt
