import threading
import time

import pytest
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.language_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from domain import LOCAL_USER, Step, StepState
from domain.errors import ModelError, ModelUnavailableError
from services.agent.agent_events import RESULT_CHARS
from services.agent.agent_tools import answer_tool, document_tools
from services.agent.document_agent import (
    NO_TEXT,
    THREAD,
    UNANSWERED,
    AgentLimits,
    DocumentAgent,
    make_agent,
)
from services.chat.running_answer import NO_ANSWER, UNREADABLE_CALL
from services.texts import MAX_QUESTION_CHARS
from tests.fakes.openai import Call, Fault, Text, ToolCalls

WAIT_S = 10
UNTOUCHED = AgentLimits()
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


def search_call(query, **options):
    return Call("search_documents", {"query": query, "mode": "bm25", **options})


@pytest.fixture
def make_document_agent(services):
    """Makes agents over the handbook and the loopback server."""

    def make(limits=UNTOUCHED, more_tools=(), **options):
        def make_tools(numbers):
            return [*document_tools(services, LOCAL_USER, numbers=numbers), *more_tools]

        return DocumentAgent(
            services.parts.chat_choice.answering_model().model, make_tools, limits, **options
        )

    return make


def run_agent(agent, question="How many days?", **inputs):
    return list(agent.stream({"question": question, **inputs}))


def final_text(pieces):
    """The text written after the last step."""
    text = ""
    for piece in pieces:
        text = "" if "step" in piece else text + piece.get("answer", "")
    return text


def steps(pieces):
    """The final state of every step."""
    events = [piece["step"] for piece in pieces if "step" in piece]
    return [step for step in events if step.state is not StepState.RUNNING]


def documents(pieces):
    return [document for piece in pieces for document in piece.get("source_documents", ())]


def messages_sent(model_server, n=-1):
    return model_server.requests[n].body["messages"]


@tool
def broken(what: str) -> str:
    """A defective third-party tool."""
    raise KeyError(what)


def test_passages_of_three_searches_are_numbered_without_gaps(make_document_agent, model_server):
    model_server.will(
        ToolCalls(search_call("annual leave", k=2), text="I look."),
        ToolCalls(search_call("WireGuard gateway")),
        ToolCalls(search_call("sick leave lead", k=3)),
        Text(GOOD),
    )
    pieces = run_agent(make_document_agent())
    retrieved = documents(pieces)
    assert final_text(pieces) == GOOD
    assert [step.tool for step in steps(pieces)] == ["search_documents"] * 3
    numbers = [n for step in steps(pieces) for n in step.sources]
    assert set(numbers) == set(range(1, len(retrieved) + 1))
    assert len({document.id for document in retrieved}) == len(retrieved) >= 3


def test_a_step_is_streamed_at_its_start_and_end_and_followed_by_its_passages(
    make_document_agent, model_server
):
    model_server.will(ToolCalls(search_call("annual leave"), text="I look."), Text(*GOOD.split()))
    pieces = run_agent(make_document_agent())
    kinds = [next(iter(piece)) for piece in pieces]
    assert kinds[:4] == ["answer", "step", "step", "source_documents"]
    assert set(kinds[4:-1]) == {"answer"}
    assert kinds[-1] == "answer_message"
    start, end = pieces[1]["step"], pieces[2]["step"]
    assert start == Step(1, "search_documents", {"query": "annual leave", "mode": "bm25"})
    assert (end.n, end.state) == (1, StepState.DONE)
    assert end.result.startswith("[1] Leave policy")
    assert end.sources == tuple(range(1, len(end.sources) + 1)) != ()
    assert end.milliseconds > 0


def test_the_answer_is_streamed_as_the_model_writes_it(make_document_agent, model_server):
    model_server.will(Text("one ", "two ", "three"))
    answers = [piece["answer"] for piece in run_agent(make_document_agent()) if "answer" in piece]
    assert answers == ["one ", "two ", "three"]


def test_calls_in_one_message_run_in_parallel_and_share_the_numbers(
    make_document_agent, model_server
):
    calls = [search_call(query) for query in ("annual leave", "WireGuard", "sick leave lead")]
    model_server.will(ToolCalls(*calls), Text(GOOD))
    pieces = run_agent(make_document_agent())
    assert sorted(step.n for step in steps(pieces)) == [1, 2, 3]
    numbers = {n for step in steps(pieces) for n in step.sources}
    assert numbers == set(range(1, len(documents(pieces)) + 1))
    for step in steps(pieces):
        assert all(documents(pieces)[n - 1].page_content in step.result for n in step.sources)


def test_the_step_shows_the_same_result_that_the_model_reads(make_document_agent, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Text(GOOD))
    [step] = steps(run_agent(make_document_agent()))
    assert messages_sent(model_server)[-1]["content"] == step.result


def test_a_long_result_is_truncated_in_the_step_only(make_document_agent, model_server):
    @tool
    def recite() -> str:
        """Recite everything."""
        return "x" * 9_000

    model_server.will(ToolCalls(Call("recite", {})), Text("Done."))
    [step] = steps(run_agent(make_document_agent(more_tools=[recite])))
    assert len(step.result) == RESULT_CHARS
    assert len(messages_sent(model_server)[-1]["content"]) == 9_000


def test_the_agent_continues_after_failing_tools(make_document_agent, model_server, caplog):
    model_server.will(
        ToolCalls(Call("broken", {"what": "x"}), Call("open_document", {"document_id": "none"})),
        ToolCalls(search_call("annual leave", k=99)),
        ToolCalls(Call("no_such_tool", {})),
        ToolCalls(search_call("annual leave")),
        Text(GOOD),
    )
    pieces = run_agent(make_document_agent(more_tools=[broken]))
    ordered = sorted(steps(pieces), key=lambda step: step.n)
    assert [step.state for step in ordered] == [StepState.FAILED] * 4 + [StepState.DONE]
    assert all(step.result.startswith("Failed: ") for step in ordered[:3])
    (failure,) = [record for record in caplog.records if record.getMessage() == "tool failed"]
    assert failure.fields == {"tool": "broken"}
    assert ordered[-1].sources[0] == 1
    assert final_text(pieces) == GOOD
    assert not any("incomplete" in piece for piece in pieces)


def test_the_model_answers_without_the_calls_beyond_the_limit(make_document_agent, model_server):
    model_server.will(
        ToolCalls(search_call("annual leave"), search_call("WireGuard"), search_call("sick")),
        Text(GOOD),
    )
    pieces = run_agent(make_document_agent(AgentLimits(8, 2)))
    states = {step.n: step.state for step in steps(pieces)}
    assert states == {1: StepState.DONE, 2: StepState.DONE, 3: StepState.FAILED}
    assert final_text(pieces) == GOOD
    assert not any("incomplete" in piece for piece in pieces)


@pytest.mark.parametrize(
    ("limits", "setting"),
    [
        (AgentLimits(2, 9), "FOOTNOTE_AGENT_MODEL_CALLS"),
        (AgentLimits(2, 1), "FOOTNOTE_AGENT_TOOL_CALLS"),
    ],
)
def test_an_endless_agent_is_incomplete_and_names_the_setting(
    make_document_agent, model_server, limits, setting
):
    model_server.answer = lambda body: ToolCalls(search_call("annual leave"))
    pieces = run_agent(make_document_agent(limits))
    [reason] = [piece["incomplete"] for piece in pieces if "incomplete" in piece]
    assert setting in reason
    assert sum("messages" in request.body for request in model_server.requests) == 2
    assert final_text(pieces) == ""


def test_the_last_request_says_that_it_is_the_last(make_document_agent, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Text(GOOD))
    pieces = run_agent(make_document_agent(AgentLimits(2, 9)))
    first, last = (messages_sent(model_server, n)[0]["content"] for n in (-2, -1))
    assert "last time" not in first
    assert "last time" in last
    assert final_text(pieces) == GOOD


def test_the_system_message_asks_for_searches_and_citations(make_document_agent, model_server):
    from chains.chat_prompts import ANSWER_PROMPT, ANSWER_RULES

    model_server.will(Text("Hello."))
    run_agent(make_document_agent())
    message = messages_sent(model_server)[0]
    assert message["role"] == "system"
    assert ANSWER_RULES in message["content"]
    assert ANSWER_RULES in ANSWER_PROMPT.format(sources="", question="")
    assert "Search before you answer" in message["content"]


def test_earlier_turns_are_sent_without_citation_numbers(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    history = [("Leave?", "25 days [1][2]."), HumanMessage("VPN?"), AIMessage("Yes [3].")]
    run_agent(make_document_agent(), chat_history=history)
    messages = [
        (message["role"], message["content"]) for message in messages_sent(model_server)[1:]
    ]
    assert messages == [
        ("user", "Leave?"),
        ("assistant", "25 days."),
        ("user", "VPN?"),
        ("assistant", "Yes."),
        ("user", "How many days?"),
    ]


def test_an_earlier_question_without_an_answer_is_marked_as_unanswered(
    make_document_agent, model_server
):
    model_server.will(Text("Hello."))
    history = [("Leave?", ""), HumanMessage("VPN?"), AIMessage("")]
    run_agent(make_document_agent(), chat_history=history)
    messages = [
        (message["role"], message["content"]) for message in messages_sent(model_server)[1:]
    ]
    assert messages == [
        ("user", "Leave?"),
        ("assistant", UNANSWERED),
        ("user", "VPN?"),
        ("assistant", UNANSWERED),
        ("user", "How many days?"),
    ]


def test_a_blank_earlier_question_is_sent_as_a_question_without_text(
    make_document_agent, model_server
):
    model_server.will(Text("Hello."))
    run_agent(make_document_agent(), chat_history=[(" ", "How can I help?")])
    sent = [message["content"] for message in messages_sent(model_server)[1:]]
    assert sent == [NO_TEXT, "How can I help?", "How many days?"]


def test_the_oldest_turns_are_dropped_from_a_long_history(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    history = [("old " * 500, "old"), ("new", "new")]
    run_agent(make_document_agent(max_history_tokens=50), chat_history=history)
    assert [message["content"] for message in messages_sent(model_server)[1:]] == [
        "new",
        "new",
        "How many days?",
    ]


def test_a_standalone_question_is_searched_exactly_as_written(make_document_agent, model_server):
    model_server.will(Text("Hello."))
    run_agent(make_document_agent(), standalone_question="How many days of leave?")
    message = messages_sent(model_server)[-1]["content"]
    assert message.startswith("How many days?\n")
    assert message.endswith("exactly as it is written: How many days of leave?")


def test_the_chain_as_a_tool_adds_nothing_to_the_answer(make_document_agent, model_server):
    model_server.will(
        ToolCalls(Call("ask_documents", {"question": "How many days of annual leave?"})),
        Text(*[f"{word} " for word in GOOD.split()]),
        Text("The handbook ", "says 25."),
    )
    pieces = run_agent(make_document_agent())
    [step] = steps(pieces)
    assert final_text(pieces) == "The handbook says 25."
    assert step.sources == (1,)
    assert "25 days of annual leave" in documents(pieces)[0].page_content


def test_tokens_of_all_requests_are_counted(make_document_agent, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Text(GOOD))
    counter = UsageMetadataCallbackHandler()
    list(make_document_agent().stream({"question": "?"}, {"callbacks": [counter]}))
    [usage] = counter.usage_metadata.values()
    assert (usage["input_tokens"], usage["output_tokens"]) == (22, 14)


def test_an_empty_answer_is_incomplete(make_document_agent, model_server):
    model_server.will(Text())
    assert {"incomplete": NO_ANSWER} in run_agent(make_document_agent())


def test_an_unreadable_call_makes_the_answer_incomplete(make_document_agent, model_server):
    model_server.will(ToolCalls(Call("search_documents", '["no", "object"]')))
    assert {"incomplete": UNREADABLE_CALL} in run_agent(make_document_agent())


def test_lone_surrogates_in_a_call_are_replaced_for_the_tool_and_the_model(
    make_document_agent, model_server
):
    @tool
    def echo(words: str) -> str:
        """Repeat the words."""
        return words

    call = Call("echo", '{"words": "annual \\ud800 leave", "n": NaN}')
    model_server.will(ToolCalls(call, text="I \ud800 look."), Text(GOOD))
    pieces = run_agent(make_document_agent(more_tools=[echo]))
    assert final_text(pieces) == GOOD
    assert steps(pieces)[0].result == "annual \ufffd leave"
    message = next(
        message for message in messages_sent(model_server) if message["role"] == "assistant"
    )
    assert message["content"] == "I \ufffd look."


def test_an_unreadable_call_beside_a_valid_one_is_ignored(make_document_agent, model_server):
    invalid_call = Call("search_documents", "annual leave")
    model_server.will(ToolCalls(search_call("annual leave"), invalid_call), Text(GOOD))
    pieces = run_agent(make_document_agent())
    assert [step.state for step in steps(pieces)] == [StepState.DONE]
    assert final_text(pieces) == GOOD


@pytest.mark.parametrize("call_id", [None, "", "same"])
def test_calls_without_a_unique_id_are_distinguished(services, call_id):
    queries = ("annual leave", "WireGuard")
    calls = [
        {"name": "search_documents", "args": {"query": query, "mode": "bm25"}, "id": call_id}
        for query in queries
    ]
    model = StreamedModel(responses=[AIMessage("", tool_calls=calls), AIMessage(GOOD)])
    agent = DocumentAgent(
        model, lambda numbers: document_tools(services, LOCAL_USER, numbers=numbers)
    )
    results = {step.arguments["query"]: step for step in steps(run_agent(agent))}
    assert all(query in results[query].result for query in queries)


def test_a_call_of_an_unknown_tool_is_a_failed_step(make_document_agent, model_server):
    model_server.will(ToolCalls(Call("send_money", {})), Text(GOOD))
    [step] = steps(run_agent(make_document_agent()))
    assert step.state is StepState.FAILED
    assert step.result.startswith("Failed: send_money is not a valid tool")


def test_a_query_above_the_length_limit_is_rejected(make_document_agent, model_server):
    model_server.will(ToolCalls(search_call("x" * (MAX_QUESTION_CHARS + 1))), Text(GOOD))
    [step] = steps(run_agent(make_document_agent()))
    assert step.result.startswith("Failed: query: String should have at most 20000 characters")


def test_the_last_message_has_the_finish_reason(make_document_agent, model_server):
    model_server.will(Text("Too lo", finish_reason="length"))
    *_, last = run_agent(make_document_agent())
    assert last["answer_message"].response_metadata["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(503), ModelUnavailableError),
        (Fault(401), ModelError),
        (Text("One ", break_after=1), ModelUnavailableError),
    ],
)
def test_model_errors_propagate_unchanged(make_document_agent, model_server, fault, error):
    model_server.will(ToolCalls(search_call("annual leave")), fault)
    pieces = []
    with pytest.raises(error):
        pieces.extend(make_document_agent().stream({"question": "?"}))
    assert documents(pieces)


def test_closing_the_stream_closes_the_model_stream(make_document_agent, model_server):
    model_server.will(Text(*["word "] * 2_000, pause_s=0.01))
    stream = make_document_agent().stream({"question": "?"})
    assert next(stream) == {"answer": "word "}
    stream.close()
    assert model_server.hung_up.wait(WAIT_S)


def test_closing_the_stream_during_a_tool_ends_the_requests_to_the_model(
    make_document_agent, model_server
):
    started, release, finished = threading.Event(), threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        started.set()
        release.wait(WAIT_S)
        finished.set()
        return "Waited."

    threads = set(threading.enumerate())
    model_server.will(ToolCalls(Call("wait", {})))
    stream = make_document_agent(more_tools=[wait]).stream({"question": "?"})
    assert next(stream)["step"].tool == "wait"
    assert started.wait(WAIT_S)
    new_threads = set(threading.enumerate()) - threads
    [worker] = [thread for thread in new_threads if thread.name == THREAD]
    stream.close()
    release.set()
    assert finished.wait(WAIT_S)
    worker.join(WAIT_S)
    assert not worker.is_alive()
    assert sum("messages" in request.body for request in model_server.requests) == 1


def test_closing_the_stream_closes_the_stream_of_the_chain_in_a_tool(
    make_document_agent, model_server
):
    model_server.will(
        ToolCalls(Call("ask_documents", {"question": "How many days of annual leave?"})),
        Text(*["word "] * 2_000, pause_s=0.01),
    )
    stream = make_document_agent().stream({"question": "?"})
    assert next(stream)["step"].tool == "ask_documents"
    deadline = time.monotonic() + WAIT_S
    while model_server.chat and time.monotonic() < deadline:  # until the chain sends a request
        time.sleep(0.01)
    stream.close()
    assert model_server.hung_up.wait(WAIT_S)


def test_numbers_restart_with_each_question(make_document_agent, model_server):
    agent = make_document_agent()
    for _ in range(2):
        model_server.will(ToolCalls(search_call("annual leave")), Text(GOOD))
        pieces = run_agent(agent)
        assert steps(pieces)[0].sources[0] == 1
        assert documents(pieces)


def test_invoke_returns_the_text_after_the_last_step(make_document_agent, model_server):
    model_server.will(ToolCalls(search_call("annual leave"), text="I look."), Text(GOOD))
    result = make_document_agent().invoke({"question": "?"})
    assert result["answer"] == GOOD
    assert result["source_documents"]


async def test_the_agent_supports_ainvoke(make_document_agent, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Text(GOOD))
    assert (await make_document_agent().ainvoke({"question": "?"}))["answer"] == GOOD


class ScriptedModel(GenericFakeChatModel):
    """A third-party chat model that cannot stream."""

    def bind_tools(self, tools, **kwargs):
        return self

    def _stream(self, *args, **kwargs):
        raise NotImplementedError


class StreamedModel(FakeMessagesListChatModel):
    """A third-party chat model that returns whole messages."""

    def bind_tools(self, tools, **kwargs):
        return self


def scripted_model(*messages):
    return ScriptedModel(messages=iter(messages))


def tool_call(name, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "1"}])


def test_an_agent_of_any_chat_model_returns_messages_with_artifacts(extractive):
    model = scripted_model(
        tool_call("search_documents", query="annual leave"), AIMessage("25 days [1].")
    )
    agent = make_agent(model, document_tools(extractive, LOCAL_USER))
    messages = agent.invoke({"messages": [HumanMessage("How many days?")]})["messages"]
    [message] = [message for message in messages if isinstance(message, ToolMessage)]
    assert message.artifact["numbers"][0] == 1
    assert message.artifact["documents"][0].page_content in message.content
    assert messages[-1].text == "25 days [1]."


async def test_an_agent_of_any_chat_model_supports_ainvoke_and_continues_after_a_failure(
    extractive,
):
    model = scripted_model(tool_call("broken", what="x"), AIMessage("I could not find out."))
    agent = make_agent(model, [broken, *document_tools(extractive, LOCAL_USER)])
    messages = (await agent.ainvoke({"messages": [HumanMessage("?")]}))["messages"]
    [message] = [message for message in messages if isinstance(message, ToolMessage)]
    assert message.status == "error"
    assert message.content.startswith("Failed: broken failed with an unexpected error (KeyError)")


def test_the_answer_tool_ends_the_agent_with_its_text(extractive):
    model = scripted_model(tool_call("ask_documents", question="How many days of annual leave?"))
    agent = make_agent(model, [answer_tool(extractive, LOCAL_USER)])
    last = agent.invoke({"messages": [HumanMessage("How many days?")]})["messages"][-1]
    assert isinstance(last, ToolMessage)
    assert "25 days" in last.text
    assert "\n\nSources:\n[1] Leave policy, " in last.text


def test_the_sources_that_an_agent_lists_are_the_basis_of_its_answer(
    services, make_document_agent, model_server
):
    model_server.will(ToolCalls(Call("list_sources", {})), Text("There is a handbook."))
    pieces = run_agent(make_document_agent(), "What is there?")
    basis = [id_ for piece in pieces for id_ in piece.get("basis", ())]
    assert basis == [one.source.id for one in services.sources.list(LOCAL_USER)]
