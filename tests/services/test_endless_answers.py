"""Endless answers are stopped, and stored with the reason."""

import pytest

from domain import LOCAL_USER, SearchChoice, TurnState
from services.catalog.catalog_question import AnswerCompleted
from services.chat.running_answer import OUT_OF_TIME, REPEATED_ITSELF, TOO_LONG
from tests.fakes.openai import Call, Endless, Text, ToolCalls

pytestmark = pytest.mark.slow

QUESTION = "How many days of annual leave do new employees get?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"]. '
LEAVE = Call("search_documents", {"query": "annual leave", "mode": "bm25"})
ANSWERING = Endless({"content": GOOD}, content="word ")
RAMBLING = Endless(content="word ")
CALL_START = {
    "tool_calls": [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "search_documents", "arguments": '{"query": "leave'},
        }
    ]
}
CALL_ARGUMENTS = {"tool_calls": [{"index": 0, "function": {"arguments": " leave"}}]}

LENGTH = ({"chat_max_tokens": 32}, TOO_LONG)
TIME = ({"chat_answer_timeout_s": 3, "chat_max_tokens": 0}, OUT_OF_TIME)
limits = pytest.mark.parametrize(("settings", "reason"), [LENGTH, TIME], ids=["length", "time"])


def chat_requests(server):
    return [one.body for one in server.requests if "messages" in one.body]


@limits
def test_an_endless_answer_is_stored_with_its_checked_citation(
    imported, model_server, settings, reason
):
    services = imported(chat=True, embed=True, **settings)
    model_server.will(ANSWERING)
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, reason)
    assert turn.answer.startswith("They get 25 days [1]. word word ")
    assert "**The language model did not finish the text above." in turn.answer
    assert [one.state for one in turn.citations] == ["verified", "verified"]
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]
    assert model_server.hung_up.wait(10)


def test_an_answer_that_repeats_itself_is_stopped_long_before_its_limits(imported, model_server):
    services = imported(chat=True, embed=True)
    model_server.will(Endless({"content": GOOD}, content="over and ", loops=True))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, REPEATED_ITSELF)
    assert turn.answer.startswith("They get 25 days [1]. over and over and ")
    assert len(turn.answer.partition("**The language model did not finish")[0]) < 1000
    assert model_server.hung_up.wait(10)


def test_a_rewrite_that_repeats_itself_is_not_searched(imported, model_server):
    services = imported(chat=True, embed=True)
    model_server.will(Text(GOOD), Endless(content="gateway ", loops=True), Text("Bristol."))
    first = services.chat.ask(LOCAL_USER, QUESTION)
    turn = services.chat.ask(LOCAL_USER, "And the gateway?", first.conversation_id)
    assert turn.standalone_question == "And the gateway? (days, annual leave)"


@limits
def test_a_model_that_only_reasons_is_stopped(imported, model_server, settings, reason):
    services = imported(chat=True, embed=True, **settings)
    model_server.will(Endless(reasoning_content="Hmm, " * 100))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, reason)
    assert turn.answer.startswith("**The language model wrote no answer.")
    assert {one.state for one in turn.citations} == {"verified"}
    assert model_server.hung_up.wait(10)


def test_by_default_the_length_is_limited(imported, model_server):
    services = imported(chat=True, embed=True)
    model_server.will(Text(GOOD))
    services.chat.ask(LOCAL_USER, QUESTION)
    assert [body["max_tokens"] for body in chat_requests(model_server)] == [4096]


def test_with_a_limit_of_0_the_server_limits_the_length(imported, model_server):
    services = imported(chat=True, embed=True, chat_max_tokens=0)
    model_server.will(Text(GOOD))
    services.chat.ask(LOCAL_USER, QUESTION)
    assert "max_tokens" not in chat_requests(model_server)[0]


def test_a_truncated_rewrite_is_not_searched(imported, model_server):
    services = imported(chat=True, embed=True, chat_max_tokens=32)
    model_server.will(Text(GOOD), Endless(content="What is the gateway of "), Text("Bristol."))
    first = services.chat.ask(LOCAL_USER, QUESTION)
    turn = services.chat.ask(LOCAL_USER, "And the gateway?", first.conversation_id)
    assert turn.standalone_question == "And the gateway? (days, annual leave)"
    assert (turn.state, turn.answer) == (TurnState.COMPLETE, "Bristol.")


def test_the_time_of_a_rewrite_counts_toward_the_answer_timeout(imported, model_server):
    services = imported(chat=True, embed=True, chat_answer_timeout_s=3, chat_max_tokens=0)
    model_server.will(Text(GOOD), RAMBLING)
    first = services.chat.ask(LOCAL_USER, QUESTION)
    turn = services.chat.ask(LOCAL_USER, "And the gateway?", first.conversation_id)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, OUT_OF_TIME)
    assert turn.sources  # the search results are shown
    assert len(chat_requests(model_server)) == 2


def test_a_truncated_alternative_question_is_not_searched(imported, model_server):
    services = imported(chat=True, embed=True, chat_max_tokens=32, multi_query=1)
    model_server.will(RAMBLING, Text(GOOD))
    assert services.chat.ask(LOCAL_USER, QUESTION).state is TurnState.COMPLETE


@limits
def test_an_endless_answer_of_the_agent_is_stored_with_the_reason(
    imported, model_server, settings, reason
):
    services = imported(chat=True, embed=True, **settings)
    model_server.will(ToolCalls(LEAVE), ANSWERING)
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, reason)
    assert turn.answer.startswith("They get 25 days [1]. word word ")
    assert len(turn.steps) == 1
    assert model_server.hung_up.wait(10)


@limits
def test_an_endless_tool_call_is_not_executed(imported, model_server, settings, reason):
    services = imported(chat=True, embed=True, **settings)
    model_server.will(Endless(CALL_START, **CALL_ARGUMENTS))
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert (turn.state, turn.error, turn.steps) == (TurnState.INCOMPLETE, reason, ())
    assert model_server.hung_up.wait(10)


def test_the_time_of_ask_documents_counts_toward_the_timeout_of_the_agent(imported, model_server):
    services = imported(chat=True, embed=True, chat_answer_timeout_s=3, chat_max_tokens=0)
    mute = Endless(content="")
    model_server.will(ToolCalls(Call("ask_documents", {"question": QUESTION})), mute)
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, OUT_OF_TIME)
    assert len(chat_requests(model_server)) == 2
    assert OUT_OF_TIME in turn.steps[0].result


@pytest.fixture
def search(imported_restaurants):
    def ask(**settings):
        services = imported_restaurants(chat=True, **settings)
        *_, last = services.catalog.search(LOCAL_USER, "ramen", language="ja")
        assert isinstance(last, AnswerCompleted)
        return last.answer

    return ask


def test_each_request_of_a_catalog_search_is_stopped_at_the_length_limit(search, model_server):
    model_server.answer = lambda _: RAMBLING
    answer = search(chat_max_tokens=32)
    assert "The question was analyzed by rules" in answer.query.notice
    assert answer.answer.startswith("word word ")
    assert TOO_LONG in answer.notices
    assert any("Not all quotes could be translated." in one for one in answer.notices)
    forced = [body for body in chat_requests(model_server) if "tool_choice" in body]
    assert len(forced) == 1  # a second attempt would ramble too


def test_all_requests_of_a_catalog_search_share_one_timeout(search, model_server):
    model_server.answer = lambda _: RAMBLING
    answer = search(chat_answer_timeout_s=1.5, chat_max_tokens=0)
    assert "The question was analyzed by rules" in answer.query.notice
    assert OUT_OF_TIME in answer.notices
    assert answer.places
    assert len(chat_requests(model_server)) == 1
