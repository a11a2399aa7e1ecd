"""The reasoning of a thinking model is stored next to the answer, and is not part of it."""

import pytest

from domain import LOCAL_USER, SearchChoice, TurnState
from services.chat.chat_service import messages_of
from services.chat.running_answer import BLANK, REASONING_CHARS
from services.events import CitationVerified, ReasoningDelta, TextDelta
from services.export.transcript_json import read_json, to_json
from tests.fakes.openai import Call, Reasoned, Text, ToolCalls
from ui.chat.turn_actions import copied_text

QUESTION = "How many days of annual leave do new employees get?"
QUOTE = "25 days of annual leave"
CITED = f'They get 25 days [1: "{QUOTE}"].'
THOUGHT = f'Hmmm, [1: "{QUOTE}"] or thirty [2]?'
REPLIES = {
    "tags": Text("<thi", f"nk>{THOUGHT}</", f"think>\n\n{CITED}"),
    "reasoning_content": Reasoned(THOUGHT[:9], THOUGHT[9:], text=CITED),
    "reasoning": Reasoned(THOUGHT[:9], THOUGHT[9:], text=CITED, name="reasoning"),
}
forms = pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)


@pytest.fixture
def services(imported):
    return imported(chat=True)


@forms
def test_the_reasoning_is_streamed_and_stored_but_never_cited(services, model_server, reply):
    model_server.will(reply)
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    turn = events[-1].turn
    assert (turn.state, turn.answer) == (TurnState.COMPLETE, "They get 25 days [1].")
    assert turn.reasoning == THOUGHT
    assert "".join(one.text for one in events if isinstance(one, ReasoningDelta)) == THOUGHT
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == turn.answer
    assert [one.marker for one in events if isinstance(one, CitationVerified)] == [0]
    assert [one.quote for one in turn.citations] == [QUOTE]
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


@forms
def test_the_reasoning_is_neither_copied_nor_in_the_history(services, model_server, reply):
    model_server.will(reply, Text("How many days of leave in Busan?"), Text(CITED))
    first = services.chat.ask(LOCAL_USER, QUESTION)
    assert "Hmmm" not in copied_text(first)
    assert [message.text for message in messages_of(first)] == [QUESTION, first.answer]
    services.chat.ask(LOCAL_USER, "And in Busan?", first.conversation_id)
    later = [one.body for one in model_server.requests if "messages" in one.body][1:]
    assert len(later) == 2
    assert "Hmmm" not in str(later)


@pytest.mark.parametrize("reply", [Text("<think>", THOUGHT), Reasoned(THOUGHT, text="")])
def test_a_model_that_only_reasons_gave_no_answer(services, model_server, reply):
    model_server.will(reply)
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.error, turn.reasoning) == (TurnState.INCOMPLETE, BLANK, THOUGHT)
    assert turn.answer.startswith("**The language model wrote no answer.")


def test_long_reasoning_is_stored_up_to_its_limit(imported, model_server):
    services = imported(chat=True, chat_max_tokens=0)
    model_server.will(Reasoned(*["Hm, so. " * 500] * 20, text=CITED))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    turn = events[-1].turn
    assert len(turn.reasoning) == REASONING_CHARS
    assert sum(isinstance(one, ReasoningDelta) for one in events) == 20
    assert turn.answer == "They get 25 days [1]."


def test_the_reasoning_of_an_agent_is_not_part_of_its_steps(services, model_server):
    call = Call("search_documents", {"query": "annual leave"})
    model_server.will(ToolCalls(call, text="<think>First.</think>I look."), REPLIES["tags"])
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert turn.reasoning == f"First.\n\n{THOUGHT}"
    assert [step.said for step in turn.steps] == ["I look."]
    assert turn.answer == "They get 25 days [1]."


def test_an_exported_conversation_contains_the_reasoning(services, model_server):
    model_server.will(REPLIES["reasoning"])
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    conversation = services.conversations.get(LOCAL_USER, turn.conversation_id)
    _, [imported] = read_json(to_json(conversation, [turn]))
    assert imported.reasoning == THOUGHT


def test_an_agent_may_answer_about_the_tag(services, model_server):
    call = Call("search_documents", {"query": "leave"})
    model_server.will(ToolCalls(call), Text("It writes <think> before its answer."))
    question = "What does <think> mean?"
    turn = services.chat.ask(LOCAL_USER, question, search=SearchChoice(by_agent=True))
    assert (turn.answer, turn.reasoning) == ("It writes \\<think> before its answer.", "")
