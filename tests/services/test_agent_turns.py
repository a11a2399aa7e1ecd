"""Agent turns, from the chat service to the stored turn."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from domain import LOCAL_USER, CitationState, Scope, SearchChoice, StepState, TurnState
from domain.errors import ConfigError, InputError, ModelUnavailableError
from services.agent.mcp_client import connections_to
from services.chat.running_answer import TOO_LONG
from services.events import (
    CitationVerified,
    PassagesRetrieved,
    StepUpdated,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from tests.fakes.command_line import ROOT
from tests.fakes.openai import Call, Fault, Text, ToolCalls

WAIT_S = 10
BY_AGENT = SearchChoice(by_agent=True)
LEAVE = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


def search_call(words, **options):
    return Call("search_documents", {"query": words, "mode": "bm25", **options})


@pytest.fixture
def services(imported):
    return imported(chat=True, embed=True)


@pytest.fixture
def servers_end():
    yield
    connections_to([])


def number_of(turn, words):
    return next(source.n for source in turn.sources if words in source.text)


def test_sources_of_three_tool_calls_are_numbered_without_gaps_and_verified(services, model_server):
    def answer(body):
        """Cite by the numbers of the tool results."""
        results = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if len(results) < 3:
            words = ("annual leave", "WireGuard gateway", "sick leave lead")[len(results)]
            return ToolCalls(search_call(words, k=2), text="I look once more. ")
        quotes = (
            "New employees get 25 days of annual leave a year",
            "Install WireGuard and choose the Bristol gateway",
            "Tell your lead before ten o'clock",
        )
        numbers = [_number_in(results, quote) for quote in quotes]
        pairs = zip(numbers, quotes, strict=True)
        return Text(*[f'{quote} [{n}: "{quote}"]. ' for n, quote in pairs])

    model_server.answer = answer
    turn = services.chat.ask(LOCAL_USER, "Leave, VPN and sickness?", search=BY_AGENT)
    assert turn.state is TurnState.COMPLETE
    assert [source.n for source in turn.sources] == list(range(1, len(turn.sources) + 1))
    assert len({source.passage_id for source in turn.sources}) == len(turn.sources)
    assert [citation.state for citation in turn.citations] == [CitationState.VERIFIED] * 3
    assert len({citation.n for citation in turn.citations}) == 3
    assert turn.unsupported_sentences == 0
    assert [step.n for step in turn.steps] == [1, 2, 3]
    assert {step.state for step in turn.steps} == {StepState.DONE}
    assert {step.said.strip() for step in turn.steps} == {"I look once more."}
    assert "once more" not in turn.answer
    assert turn.usage == {"input_tokens": 44, "output_tokens": 28}
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def _number_in(results, quote):
    """The number of the source that contains the quote."""
    for content in results:
        for source in content.partition("\n\nSources:")[0].split("\n\n["):
            if quote in source:
                return int(source.strip("[").partition("]")[0])
    raise AssertionError(f"no source holds {quote}")


def test_each_step_is_streamed_at_its_start_and_end(services, model_server):
    model_server.will(ToolCalls(search_call("annual leave"), text="I look."), Text(LEAVE))
    events = list(services.chat.stream(LOCAL_USER, "How many days?", search=BY_AGENT))
    kinds = [type(event) for event in events]
    assert kinds[0] is TurnStarted
    assert kinds[-1] is TurnFinished
    started, finished = (event.step for event in events if isinstance(event, StepUpdated))
    assert (started.state, finished.state) == (StepState.RUNNING, StepState.DONE)
    assert started.said == finished.said == "I look."
    assert kinds.index(PassagesRetrieved) == len(kinds) - 1 - kinds[::-1].index(StepUpdated) + 1
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text.endswith("They get 25 days [1].")
    assert events[-1].turn.answer == "They get 25 days [1]."


def test_a_quote_of_an_agent_is_announced_before_the_end_and_one_before_a_step_goes_with_it(
    services, model_server
):
    model_server.will(
        ToolCalls(search_call("annual leave")),
        ToolCalls(search_call("sick leave"), text=LEAVE),
        Text(f"Indeed. {LEAVE}"),
    )
    events = list(services.chat.stream(LOCAL_USER, "How many days?", search=BY_AGENT))
    found = [event for event in events if isinstance(event, CitationVerified)]
    assert [one.marker for one in found] == [0, 0]
    last_step = max(n for n, event in enumerate(events) if isinstance(event, StepUpdated))
    assert events.index(found[0]) < last_step < len(events) - 2
    assert events[-1].turn.citations == (found[1].citation,)


def test_the_agent_continues_after_a_failing_tool(services, model_server):
    model_server.will(
        ToolCalls(Call("open_document", {"document_id": "none"}), search_call("leave", k=0)),
        ToolCalls(search_call("annual leave")),
        Text(LEAVE),
    )
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert [step.state for step in turn.steps] == [
        StepState.FAILED,
        StepState.FAILED,
        StepState.DONE,
    ]
    assert all(step.result.startswith("Failed: ") for step in turn.steps[:2])
    assert turn.state is TurnState.COMPLETE
    assert [citation.state for citation in turn.citations] == [CitationState.VERIFIED]


def test_an_answer_of_the_chain_as_a_tool_is_cited_with_the_numbers_of_the_turn(
    services, model_server
):
    model_server.will(
        ToolCalls(search_call("WireGuard")),
        ToolCalls(Call("ask_documents", {"question": "How many days of annual leave?"})),
        Text(LEAVE),
        Text('It is 25 days [2: "New employees get 25 days of annual leave a year"].'),
    )
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert number_of(turn, "25 days") == 2
    assert turn.steps[1].result.startswith("They get 25 days [2].")
    assert [(one.n, one.state) for one in turn.citations] == [(2, CitationState.VERIFIED)]
    assert turn.usage == {"input_tokens": 44, "output_tokens": 28}, "including the chain's tokens"


def test_a_follow_up_is_sent_with_the_history(services, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Text(LEAVE), Text("You are welcome."))
    first = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    services.chat.ask(LOCAL_USER, "Thanks!", first.conversation_id, BY_AGENT)
    messages = model_server.requests[-1].body["messages"][1:]
    assert [one["content"] for one in messages] == [
        "How many days?",
        "They get 25 days.",
        "Thanks!",
    ]


def test_the_agent_searches_only_in_the_scope_of_the_conversation(services, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Text("The documents do not say."))
    nowhere = SearchChoice(scope=Scope(formats=("pdf",)), by_agent=True)
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=nowhere)
    assert turn.steps[0].result.startswith("Nothing was found.")
    assert turn.sources == ()


def test_an_unknown_scope_is_rejected_before_any_request_to_the_model(services, model_server):
    nowhere = SearchChoice(scope=Scope(sources=("no such",)), by_agent=True)
    with pytest.raises(InputError):
        services.chat.ask(LOCAL_USER, "How many days?", search=nowhere)
    assert not any("messages" in request.body for request in model_server.requests)


def test_reaching_the_limit_is_stored_as_an_incomplete_turn(build_services, services, model_server):
    model_server.answer = lambda body: ToolCalls(search_call("annual leave"))
    limited = build_services(chat=True, embed=True, agent_model_calls=2)
    turn = limited.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert turn.state is TurnState.INCOMPLETE
    assert "FOOTNOTE_AGENT_MODEL_CALLS" in turn.error
    assert len(turn.steps) == 2
    assert turn.sources


def test_a_truncated_answer_is_incomplete_with_a_reason(services, model_server):
    model_server.will(Text("They get", finish_reason="length"))
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, TOO_LONG)


def test_a_model_error_after_a_step_keeps_the_step_and_its_sources(services, model_server):
    model_server.will(ToolCalls(search_call("annual leave")), Fault(503))
    events = []
    with pytest.raises(ModelUnavailableError):
        events.extend(services.chat.stream(LOCAL_USER, "How many days?", search=BY_AGENT))
    [turn] = services.turns.list(LOCAL_USER, events[0].turn.conversation_id)
    assert turn.state is TurnState.FAILED
    assert "HTTP 503" in turn.error
    assert turn.steps[0].state is StepState.DONE
    assert turn.sources


def test_closing_the_events_stores_a_stopped_turn_and_closes_the_model_stream(
    services, model_server
):
    model_server.will(
        ToolCalls(search_call("annual leave")), Text(*["word "] * 2_000, pause_s=0.01)
    )
    with closing(services.chat.stream(LOCAL_USER, "How many?", search=BY_AGENT)) as events:
        turn = next(events).turn
        next(event for event in events if isinstance(event, TextDelta))
    assert model_server.hung_up.wait(WAIT_S)
    [stored] = services.turns.list(LOCAL_USER, turn.conversation_id)
    assert stored.state is TurnState.STOPPED
    assert stored.answer.startswith("word")
    assert stored.steps[0].state is StepState.DONE
    assert stored.sources


def test_concurrent_questions_have_separate_numbers_and_steps(services, model_server):
    def answer(body):
        results = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if len(results) < 2:
            return ToolCalls(search_call(("WireGuard", "annual leave")[len(results)], k=1))
        return Text('It is 25 days [2: "New employees get 25 days of annual leave a year"].')

    model_server.answer = answer
    with ThreadPoolExecutor(8) as pool:
        futures = [
            pool.submit(services.chat.ask, LOCAL_USER, f"Question {n}?", search=BY_AGENT)
            for n in range(16)
        ]
        turns = [one.result(timeout=60) for one in futures]
    for turn in turns:
        assert [step.sources for step in turn.steps] == [(1,), (2,)]
        assert [(one.n, one.state) for one in turn.citations] == [(2, CitationState.VERIFIED)]


def test_without_a_chat_model_the_error_names_the_setting(build_services):
    services = build_services(embed=True)
    with pytest.raises(InputError, match="FOOTNOTE_CHAT_MODEL"):
        services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)


def test_an_invalid_server_file_is_reported_with_its_setting(
    build_services, tmp_path, model_server
):
    path = tmp_path / "servers.json"
    path.write_text("{}")
    services = build_services(chat=True, embed=True, agent_mcp_servers=path)
    with pytest.raises(ConfigError):
        services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)


@pytest.mark.usefixtures("servers_end")
def test_external_tools_are_used_beside_our_own_and_are_not_sources(
    build_services, services, model_server, tmp_path
):
    server = {
        "command": [sys.executable, "-m", "tests.fakes.mcp_server", "stdio"],
        "environment": {"PYTHONPATH": str(ROOT)},
        "tools": ["find_ticket"],
    }
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"servers": {"desk": server}}))
    extended = build_services(chat=True, embed=True, agent_mcp_servers=path)
    model_server.will(
        ToolCalls(Call("desk__find_ticket", {"number": 7}), search_call("annual leave")),
        Text(LEAVE),
    )
    turn = extended.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    foreign, own = turn.steps
    assert (foreign.tool, foreign.state) == ("desk__find_ticket", StepState.DONE)
    assert "Ticket 7: the lift is broken." in foreign.result
    assert foreign.sources == ()
    assert own.sources == tuple(source.n for source in turn.sources)
    assert [citation.state for citation in turn.citations] == [CitationState.VERIFIED]


def test_opening_the_services_loads_neither_langchain_nor_mcp():
    code = (
        "import sys, bootstrap, services.chat.chat_service, services.agent\n"
        "slow = {'langchain', 'langgraph', 'mcp', 'langchain_openai'} & set(sys.modules)\n"
        "sys.exit(str(slow) if slow else 0)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr.decode()
