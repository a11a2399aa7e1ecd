"""Replies of a chat model without text, or that its server ended: the turn says what happened."""

import pytest

from domain import LOCAL_USER, SearchChoice, TurnState
from services.answer_support import Support, offers_nearest, support_of
from services.chat.running_answer import BLANK, CALLED_TOOLS, FILTERED, TOO_LONG
from services.events import TextDelta
from tests.fakes.openai import Call, Text, ToolCalls

QUESTION = "How many days of annual leave do new employees get?"
QUOTE = "“New employees get 25 days of annual leave a year.” [1]"
CITED = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'
CALL = Call("search_documents", {"query": "annual leave"})
NO_ANSWER = "**The language model wrote no answer. This was found without it:**"
NOT_FINISHED = "**The language model did not finish the text above."

BLANK_REPLIES = [
    (Text(""), BLANK),
    (Text(), BLANK),
    (Text(" ", "\n \n"), BLANK),
    (Text("<|im_end|>"), BLANK),
    (ToolCalls(CALL), CALLED_TOOLS),
    (ToolCalls(CALL, text=" "), CALLED_TOOLS),
    (Text("", finish_reason="content_filter"), FILTERED),
    (Text("", finish_reason="length"), TOO_LONG),
]
CUT_REPLIES = [("content_filter", FILTERED), ("length", TOO_LONG)]


@pytest.fixture
def services(imported):
    return imported(chat=True)


@pytest.mark.parametrize(("reply", "reason"), BLANK_REPLIES)
def test_a_reply_without_text_is_reported_and_the_extract_is_offered(
    services, model_server, reply, reason
):
    model_server.will(reply)
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    turn = events[-1].turn
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, reason)
    assert turn.answer.strip().startswith(f"{NO_ANSWER}\n\n{QUOTE}")
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == turn.answer
    assert {one.state for one in turn.citations} == {"verified"}
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


@pytest.mark.parametrize(("finish_reason", "reason"), CUT_REPLIES)
@pytest.mark.parametrize("text", [CITED, "The sources do not say", "Thirty days of holidays."])
def test_a_reply_that_the_server_ended_is_reported_and_the_extract_follows(
    services, model_server, text, finish_reason, reason
):
    model_server.will(Text(text, finish_reason=finish_reason))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, reason)
    assert QUOTE in turn.answer
    assert (NOT_FINISHED in turn.answer) == (text != "Thirty days of holidays.")
    assert {one.state for one in turn.citations} == {"verified"}


@pytest.mark.parametrize(
    "reply", [Text(""), Text("The sources do not say", finish_reason="length")]
)
def test_such_a_turn_does_not_claim_that_the_documents_have_no_answer(
    services, model_server, reply
):
    model_server.will(reply)
    turn = services.chat.ask(LOCAL_USER, "Who won the football match in Barcelona?")
    assert turn.state is TurnState.INCOMPLETE
    assert support_of(turn) is Support.NO_CLAIM
    assert not offers_nearest(turn)
    assert services.relevance.nothing_found(LOCAL_USER, turn) is None


def test_text_before_a_tool_call_is_an_answer(services, model_server):
    model_server.will(ToolCalls(CALL, text=CITED))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.answer) == (TurnState.COMPLETE, "They get 25 days [1].")


def test_an_agent_that_the_server_ended_says_why(services, model_server):
    model_server.will(ToolCalls(CALL), Text(CITED, finish_reason="content_filter"))
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, FILTERED)


def test_a_rewrite_that_the_server_ended_is_not_searched(services, model_server):
    cut = Text("What is the gateway of", finish_reason="content_filter")
    model_server.will(Text(CITED), cut, Text("Bristol."))
    first = services.chat.ask(LOCAL_USER, QUESTION)
    turn = services.chat.ask(LOCAL_USER, "And the gateway?", first.conversation_id)
    assert turn.standalone_question == "And the gateway? (days, annual leave)"
