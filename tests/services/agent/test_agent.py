import threading
import time

import pytest
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.language_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from domain import Step, StepState
from errors import ModelError, ModelUnavailableError
from services.agent.agent_events import NO_ANSWER, RESULT_CHARS, UNREADABLE_CALL
from services.agent.agent_tools import answer_tool, document_tools
from services.agent.document_agent import THREAD, UNANSWERED, AgentLimits, DocumentAgent, make_agent
from services.texts import MAX_QUESTION_CHARS
from tests.fakes.openai import Call, Fault, Text, ToolCalls

WAIT_S = 10
UNTOUCHED = AgentLimits()
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


def looking_for(words, **more):
    return Call("search_documents", {"query": words, "mode": "bm25", **more})


@pytest.fixture
def make_document_agent(services):
    """Makes agents over the handbook and the loopback server."""

    def make(limits=UNTOUCHED, more_tools=(), **options):
        def make_tools(numbers):
            return [*document_tools(services, numbers=numbers), *more_tools]

        return DocumentAgent(
            services.parts.chat_choice.answering_model().model, make_tools, limits, **options
        )

    return make


def answered(agent, question="How many days?", **inputs):
    return list(agent.stream({"question": question, **inputs}))


def written(pieces):
    """What was written after the last step."""
    text = ""
    for piece in pieces:
        text = "" if "step" in piece else text + piece.get("answer", "")
    return text


def steps(pieces):
    """Every step as it ended."""
    told = [piece["step"] for piece in pieces if "step" in piece]
    return [step for step in told if step.state is not StepState.RUNNING]


def documents(pieces):
    return [one for piece in pieces for one in piece.get("source_documents", ())]


def messages_sent(model_server, n=-1):
    return model_server.requests[n].body["messages"]


@tool
def broken(what: str) -> str:
    """A tool of somebody else, with a defect."""
    raise KeyError(what)


def test_three_searches_number_their_sources_without_gaps(make_document_agent, model_server):
    model_server.will(
        ToolCalls(looking_for("annual leave", k=2), said="I look."),
        ToolCalls(looking_for("WireGuard gateway")),
        ToolCalls(looking_for("sick leave lead", k=3)),
        Text(GOOD),
    )
    pieces = answered(make_document_agent())
    found = documents(pieces)
    assert written(pieces) == GOOD
    assert [step.tool for step in steps(pieces)] == ["search_documents"] * 3
    numbers = [n for step in steps(pieces) for n in step.sources]
    assert set(numbers) == set(range(1, len(found) + 1))
    assert len({one.id for one in found}) == len(found) >= 3


def test_a_step_is_told_when_it_begins_and_when_it_is_done_and_then_its_sources(
    make_document_agent, model_server
):
    model_server.will(ToolCalls(looking_for("annual leave"), said="I look."), Text(*GOOD.split()))
    pieces = answered(make_document_agent())
    kinds = [next(iter(piece)) for piece in pieces]
    assert kinds[:4] == ["answer", "step", "step", "source_documents"]
    assert set(kinds[4:-1]) == {"answer"}
    assert kinds[-1] == "answer_message"
    begun, done = pieces[1]["step"], pieces[2]["step"]
    assert begun == Step(1, "search_documents", {"query": "annual leave", "mode": "bm25"})
    assert (done.n, done.state) == (1, StepState.DONE)
    assert done.result.startswith("[1] Leave policy")
    assert done.sources == tuple(range(1, len(done.sources) + 1)) != ()
    assert done.milliseconds > 0


def test_the_words_of_the_answer_come_as_the_model_writes_them(make_document_agent, model_server):
    model_server.will(Text("one ", "two ", "three"))
    answers = [piece["answer"] for piece in answered(make_document_agent()) if "answer" in piece]
    assert answers == ["one ", "two ", "three"]


def test_calls_in_one_message_run_side_by_side_and_share_the_numbers(
    make_document_agent, model_server
):
    asked = [looking_for(words) for words in ("annual leave", "WireGuard", "sick leave lead")]
    model_server.will(ToolCalls(*asked), Text(GOOD))
    pieces = answered(make_document_agent())
    assert sorted(step.n for step in steps(pieces)) == [1, 2, 3]
    numbers = {n for step in steps(pieces) for n in step.sources}
    assert numbers == set(range(1, len(documents(pieces)) + 1))
    for step in steps(pieces):
        assert all(documents(pieces)[n - 1].page_content in step.result for n in step.sources)


def test_what_the_model_reads_of_a_tool_is_what_the_step_says(make_document_agent, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Text(GOOD))
    [step] = steps(answered(make_document_agent()))
    assert messages_sent(model_server)[-1]["content"] == step.result


def test_a_long_result_is_kept_in_part(make_document_agent, model_server):
    @tool
    def recite() -> str:
        """Recite everything."""
        return "x" * 9_000

    model_server.will(ToolCalls(Call("recite", {})), Text("Done."))
    [step] = steps(answered(make_document_agent(more_tools=[recite])))
    assert len(step.result) == RESULT_CHARS
    assert len(messages_sent(model_server)[-1]["content"]) == 9_000


def test_with_a_tool_that_fails_it_goes_on(make_document_agent, model_server, caplog):
    model_server.will(
        ToolCalls(Call("broken", {"what": "x"}), Call("open_document", {"document_id": "none"})),
        ToolCalls(looking_for("annual leave", k=99)),
        ToolCalls(Call("no_such_tool", {})),
        ToolCalls(looking_for("annual leave")),
        Text(GOOD),
    )
    pieces = answered(make_document_agent(more_tools=[broken]))
    ended = sorted(steps(pieces), key=lambda step: step.n)
    assert [step.state for step in ended] == [StepState.FAILED] * 4 + [StepState.DONE]
    assert all(step.result.startswith("Failed: ") for step in ended[:3])
    (failure,) = [one for one in caplog.records if one.getMessage() == "tool failed"]
    assert failure.fields == {"tool": "broken"}
    assert ended[-1].sources[0] == 1
    assert written(pieces) == GOOD
    assert not any("incomplete" in piece for piece in pieces)


def test_beyond_the_limit_of_tools_the_model_answers_with_what_it_has(
    make_document_agent, model_server
):
    model_server.will(
        ToolCalls(looking_for("annual leave"), looking_for("WireGuard"), looking_for("sick")),
        Text(GOOD),
    )
    pieces = answered(make_document_agent(AgentLimits(8, 2)))
    states = {step.n: step.state for step in steps(pieces)}
    assert states == {1: StepState.DONE, 2: StepState.DONE, 3: StepState.FAILED}
    assert written(pieces) == GOOD
    assert not any("incomplete" in piece for piece in pieces)


@pytest.mark.parametrize(
    ("limits", "setting"),
    [
        (AgentLimits(2, 9), "FOOTNOTE_AGENT_MODEL_CALLS"),
        (AgentLimits(2, 1), "FOOTNOTE_AGENT_TOOL_CALLS"),
    ],
)
def test_an_agent_that_does_not_stop_is_incomplete_and_says_which_setting(
    make_document_agent, model_server, limits, setting
):
    model_server.answer = lambda body: ToolCalls(looking_for("annual leave"))
    pieces = answered(make_document_agent(limits))
    [why] = [piece["incomplete"] for piece in pieces if "incomplete" in piece]
    assert setting in why
    assert sum("messages" in request.body for request in model_server.requests) == 2
    assert written(pieces) == ""


def test_the_last_time_the_model_is_told_that_it_is(make_document_agent, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Text(GOOD))
    pieces = answered(make_document_agent(AgentLimits(2, 9)))
    first, last = (messages_sent(model_server, n)[0]["content"] for n in (-2, -1))
    assert "last time" not in first
    assert "last time" in last
    assert written(pieces) == GOOD


def test_the_model_is_told_to_search_and_how_to_cite(make_document_agent, model_server):
    from chains.chat_prompts import ANSWER_PROMPT, ANSWER_RULES

    model_server.will(Text("Hello."))
    answered(make_document_agent())
    told = messages_sent(model_server)[0]
    assert told["role"] == "system"
    assert ANSWER_RULES in told["content"]
    assert ANSWER_RULES in ANSWER_PROMPT.format(sources="", question="")
    assert "Search before you answer" in told["content"]


def test_earlier_turns_are_told_without_their_numbers(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    history = [("Leave?", "25 days [1][2]."), HumanMessage("VPN?"), AIMessage("Yes [3].")]
    answered(make_document_agent(), chat_history=history)
    said = [(one["role"], one["content"]) for one in messages_sent(model_server)[1:]]
    assert said == [
        ("user", "Leave?"),
        ("assistant", "25 days."),
        ("user", "VPN?"),
        ("assistant", "Yes."),
        ("user", "How many days?"),
    ]


def test_an_earlier_question_without_an_answer_is_told_as_one(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    history = [("Leave?", ""), HumanMessage("VPN?"), AIMessage("")]
    answered(make_document_agent(), chat_history=history)
    said = [(one["role"], one["content"]) for one in messages_sent(model_server)[1:]]
    assert said == [
        ("user", "Leave?"),
        ("assistant", UNANSWERED),
        ("user", "VPN?"),
        ("assistant", UNANSWERED),
        ("user", "How many days?"),
    ]


def test_the_oldest_turns_go_where_the_history_is_too_long(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    history = [("old " * 500, "old"), ("new", "new")]
    answered(make_document_agent(max_history_tokens=50), chat_history=history)
    assert [one["content"] for one in messages_sent(model_server)[1:]] == [
        "new",
        "new",
        "How many days?",
    ]


def test_a_question_that_a_person_worded_is_searched_as_it_is(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    answered(make_document_agent(), standalone_question="How many days of leave?")
    asked = messages_sent(model_server)[-1]["content"]
    assert asked.startswith("How many days?\n")
    assert asked.endswith("exactly as it is written: How many days of leave?")


def test_the_chain_as_a_tool_writes_nothing_into_the_answer(make_document_agent, model_server):
    model_server.will(
        ToolCalls(Call("ask_documents", {"question": "How many days of annual leave?"})),
        Text(*[f"{word} " for word in GOOD.split()]),
        Text("The handbook ", "says 25."),
    )
    pieces = answered(make_document_agent())
    [step] = steps(pieces)
    assert written(pieces) == "The handbook says 25."
    assert step.sources == (1,)
    assert "25 days of annual leave" in documents(pieces)[0].page_content


def test_all_that_the_model_was_asked_is_counted(make_document_agent, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Text(GOOD))
    counted = UsageMetadataCallbackHandler()
    list(make_document_agent().stream({"question": "?"}, {"callbacks": [counted]}))
    [usage] = counted.usage_metadata.values()
    assert (usage["input_tokens"], usage["output_tokens"]) == (22, 14)


def test_a_model_that_ends_with_nothing_is_incomplete(make_document_agent, model_server):
    model_server.will(Text())
    assert {"incomplete": NO_ANSWER} in answered(make_document_agent())


def test_a_call_that_cannot_be_read_is_incomplete(make_document_agent, model_server):
    model_server.will(ToolCalls(Call("search_documents", '["no", "object"]')))
    assert {"incomplete": UNREADABLE_CALL} in answered(make_document_agent())


def test_half_a_character_in_a_call_is_replaced_for_the_tool_and_the_model(
    make_document_agent, model_server
):
    @tool
    def echo(words: str) -> str:
        """Say the words again."""
        return words

    halves = Call("echo", '{"words": "annual \\ud800 leave", "n": NaN}')
    model_server.will(ToolCalls(halves, said="I \ud800 look."), Text(GOOD))
    pieces = answered(make_document_agent(more_tools=[echo]))
    assert written(pieces) == GOOD
    assert steps(pieces)[0].result == "annual \ufffd leave"
    sent = next(one for one in messages_sent(model_server) if one["role"] == "assistant")
    assert sent["content"] == "I \ufffd look."


def test_a_call_that_cannot_be_read_beside_one_that_can_is_left_out(
    make_document_agent, model_server
):
    unreadable = Call("search_documents", "annual leave")
    model_server.will(ToolCalls(looking_for("annual leave"), unreadable), Text(GOOD))
    pieces = answered(make_document_agent())
    assert [step.state for step in steps(pieces)] == [StepState.DONE]
    assert written(pieces) == GOOD


@pytest.mark.parametrize("given", [None, "", "same"])
def test_calls_without_an_id_of_their_own_are_told_apart(services, given):
    asked = ("annual leave", "WireGuard")
    calls = [
        {"name": "search_documents", "args": {"query": one, "mode": "bm25"}, "id": given}
        for one in asked
    ]
    model = StreamedModel(responses=[AIMessage("", tool_calls=calls), AIMessage(GOOD)])
    agent = DocumentAgent(model, lambda numbers: document_tools(services, numbers=numbers))
    ended = {step.arguments["query"]: step for step in steps(answered(agent))}
    assert all(words in ended[words].result for words in asked)


def test_a_tool_that_there_is_not_fails_as_all_that_fail(make_document_agent, model_server):
    model_server.will(ToolCalls(Call("send_money", {})), Text(GOOD))
    [step] = steps(answered(make_document_agent()))
    assert step.state is StepState.FAILED
    assert step.result.startswith("Failed: send_money is not a valid tool")


def test_a_query_longer_than_a_question_may_be_is_refused(make_document_agent, model_server):
    model_server.will(ToolCalls(looking_for("x" * (MAX_QUESTION_CHARS + 1))), Text(GOOD))
    [step] = steps(answered(make_document_agent()))
    assert step.result.startswith("Failed: query: String should have at most 20000 characters")


def test_the_last_message_tells_why_the_model_stopped(make_document_agent, model_server):
    model_server.will(Text("Too lo", finish_reason="length"))
    *_, last = answered(make_document_agent())
    assert last["answer_message"].response_metadata["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(503), ModelUnavailableError),
        (Fault(401), ModelError),
        (Text("One ", break_after=1), ModelUnavailableError),
    ],
)
def test_what_the_model_raises_comes_out_as_it_is(make_document_agent, model_server, fault, error):
    model_server.will(ToolCalls(looking_for("annual leave")), fault)
    seen = []
    with pytest.raises(error):
        seen.extend(make_document_agent().stream({"question": "?"}))
    assert documents(seen)


def test_who_stops_reading_closes_the_models_stream(make_document_agent, model_server):
    model_server.will(Text(*["word "] * 2_000, pause_s=0.01))
    stream = make_document_agent().stream({"question": "?"})
    assert next(stream) == {"answer": "word "}
    stream.close()
    assert model_server.hung_up.wait(WAIT_S)


def test_who_stops_reading_in_the_middle_of_a_tool_asks_the_model_no_more(
    make_document_agent, model_server
):
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        begun.set()
        go_on.wait(WAIT_S)
        ended.set()
        return "Waited."

    before = set(threading.enumerate())
    model_server.will(ToolCalls(Call("wait", {})))
    stream = make_document_agent(more_tools=[wait]).stream({"question": "?"})
    assert next(stream)["step"].tool == "wait"
    assert begun.wait(WAIT_S)
    new = set(threading.enumerate()) - before
    [work] = [thread for thread in new if thread.name == THREAD]
    stream.close()
    go_on.set()
    assert ended.wait(WAIT_S)
    work.join(WAIT_S)
    assert not work.is_alive()
    assert sum("messages" in request.body for request in model_server.requests) == 1


def test_who_stops_reading_closes_the_stream_of_the_chain_in_a_tool(
    make_document_agent, model_server
):
    model_server.will(
        ToolCalls(Call("ask_documents", {"question": "How many days of annual leave?"})),
        Text(*["word "] * 2_000, pause_s=0.01),
    )
    stream = make_document_agent().stream({"question": "?"})
    assert next(stream)["step"].tool == "ask_documents"
    until = time.monotonic() + WAIT_S
    while model_server.chat and time.monotonic() < until:  # until the chain has asked
        time.sleep(0.01)
    stream.close()
    assert model_server.hung_up.wait(WAIT_S)


def test_an_agent_that_is_asked_twice_begins_its_numbers_anew(make_document_agent, model_server):
    agent = make_document_agent()
    for _ in range(2):
        model_server.will(ToolCalls(looking_for("annual leave")), Text(GOOD))
        pieces = answered(agent)
        assert steps(pieces)[0].sources[0] == 1
        assert documents(pieces)


def test_the_whole_answer_is_what_was_written_after_the_last_step(
    make_document_agent, model_server
):
    model_server.will(ToolCalls(looking_for("annual leave"), said="I look."), Text(GOOD))
    whole = make_document_agent().invoke({"question": "?"})
    assert whole["answer"] == GOOD
    assert whole["source_documents"]


async def test_it_can_be_awaited(make_document_agent, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Text(GOOD))
    assert (await make_document_agent().ainvoke({"question": "?"}))["answer"] == GOOD


class ScriptedModel(GenericFakeChatModel):
    """Somebody else's chat model, which can't stream."""

    def bind_tools(self, tools, **kwargs):
        return self

    def _stream(self, *args, **kwargs):
        raise NotImplementedError


class StreamedModel(FakeMessagesListChatModel):
    """Somebody else's chat model, whose messages come whole."""

    def bind_tools(self, tools, **kwargs):
        return self


def scripted(*messages):
    return ScriptedModel(messages=iter(messages))


def calling(name, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "1"}])


def test_any_chat_model_makes_an_agent_whose_messages_hold_the_artifacts(extractive):
    model = scripted(calling("search_documents", query="annual leave"), AIMessage("25 days [1]."))
    agent = make_agent(model, document_tools(extractive))
    messages = agent.invoke({"messages": [HumanMessage("How many days?")]})["messages"]
    [told] = [one for one in messages if isinstance(one, ToolMessage)]
    assert told.artifact["numbers"][0] == 1
    assert told.artifact["documents"][0].page_content in told.content
    assert messages[-1].text == "25 days [1]."


async def test_such_an_agent_can_be_awaited_and_goes_on_where_a_tool_fails(extractive):
    model = scripted(calling("broken", what="x"), AIMessage("I could not find out."))
    agent = make_agent(model, [broken, *document_tools(extractive)])
    messages = (await agent.ainvoke({"messages": [HumanMessage("?")]}))["messages"]
    [told] = [one for one in messages if isinstance(one, ToolMessage)]
    assert told.status == "error"
    assert told.content.startswith("Failed: broken failed with an unexpected error (KeyError)")


def test_the_plain_form_is_the_last_word_of_such_an_agent(extractive):
    model = scripted(calling("ask_documents", question="How many days of annual leave?"))
    agent = make_agent(model, [answer_tool(extractive)])
    last = agent.invoke({"messages": [HumanMessage("How many days?")]})["messages"][-1]
    assert isinstance(last, ToolMessage)
    assert "25 days" in last.text
    assert "\n\nSources:\n[1] Leave policy, " in last.text
