"""Prompts that are too long for the model: asked again with fewer passages, once."""

import re

import pytest

from domain import LOCAL_USER, SearchChoice, TurnState
from domain.errors import ContextOverflowError
from services.events import PassagesRetrieved, TextDelta
from tests.fakes.openai import Fault, Raw, Text

QUESTION = "How many days of annual leave do new employees get?"
CITED = 'They get 25 days [1: "25 days of annual leave"].'
OVERFLOW = Fault(400, "too long", code="context_length_exceeded")
EMPTY_STREAM = Raw(b"", "text/event-stream")
FORMS = [
    [OVERFLOW],
    [Fault(400, "the request exceeds the available context size")],
    [EMPTY_STREAM, OVERFLOW],
    [EMPTY_STREAM, Text("One")],
]
forms = pytest.mark.parametrize("form", FORMS, ids=["code", "message", "empty stream", "no space"])


@pytest.fixture
def services(imported):
    return imported(chat=True)


def prompts(server):
    """The prompts of the streamed requests."""
    bodies = [one.body for one in server.requests if one.body.get("stream")]
    return [body["messages"][-1]["content"] for body in bodies]


def listed_numbers(prompt):
    return [int(n) for n in re.findall(r"^\[(\d+)\]", prompt, re.MULTILINE)]


@forms
def test_the_question_is_asked_again_with_the_first_half_of_the_passages(
    services, model_server, form
):
    model_server.will(*form, Text(CITED))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.answer) == (TurnState.COMPLETE, "They get 25 days [1].")
    assert [one.state for one in turn.citations] == ["verified"]
    first, second = prompts(model_server)
    count = len(listed_numbers(first))
    assert count > 2
    assert listed_numbers(first) == [*range(1, count + 1)]
    assert listed_numbers(second) == [*range(1, count // 2 + 1)]
    assert [one.n for one in turn.sources] == listed_numbers(second)
    assert services.turns.list(LOCAL_USER, turn.conversation_id)[-1].sources == turn.sources


def test_passages_that_the_model_did_not_get_are_neither_listed_nor_quoted(services, model_server):
    model_server.will(
        OVERFLOW, Text("Thirty days of holidays."), OVERFLOW, Text('25 [4: "25 days"].')
    )
    for answer in ("Thirty days of holidays.", "25 [4]."):
        *events, end = services.chat.answer(LOCAL_USER, QUESTION)
        first, second = [one.sources for one in events if isinstance(one, PassagesRetrieved)]
        assert second == first[: len(first) // 2] == end.turn.sources
        assert end.turn.answer.startswith(answer)
        verified = {one.n for one in end.turn.citations if one.state == "verified"}
        assert verified <= {one.n for one in second}
        assert verified


@forms
def test_a_second_overflow_names_the_settings(services, model_server, form):
    model_server.will(*form, *form)
    with pytest.raises(ContextOverflowError, match="FOOTNOTE_PASSAGES_TOKENS") as raised:
        services.chat.ask(LOCAL_USER, QUESTION)
    [turn] = services.turns.list(LOCAL_USER, _conversation_id(services))
    assert (turn.state, turn.error) == (TurnState.FAILED, str(raised.value))
    assert len(prompts(model_server)) == 2


def test_with_one_passage_there_is_no_second_attempt(services, model_server):
    model_server.will(OVERFLOW)
    stream = services.chat.answer(LOCAL_USER, QUESTION, search=SearchChoice(k=1))
    with pytest.raises(ContextOverflowError, match="FOOTNOTE_PASSAGES_TOKENS"):
        list(stream)
    assert len(prompts(model_server)) == 1


def test_the_second_attempt_is_streamed(services, model_server):
    model_server.will(OVERFLOW, Text(*[f"{word} " for word in CITED.split()]))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(texts) > 2
    assert "".join(texts) == events[-1].turn.answer


def _conversation_id(services):
    return services.conversations.page(LOCAL_USER, limit=1).items[0].id
