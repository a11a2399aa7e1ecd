"""Questions to the agent, asked and kept through the chat service."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from domain import LOCAL_USER, CitationState, Scope, SearchChoice, StepState, TurnState
from errors import ConfigError, InputError, ModelUnavailableError
from services.agent.mcp_client import connections_to
from services.chat.running_answer import TOO_LONG
from services.events import PassagesRetrieved, StepUpdated, TextDelta, TurnFinished, TurnStarted
from tests.fakes.command_line import ROOT
from tests.fakes.openai import Call, Fault, Text, ToolCalls

WAIT_S = 10
BY_AGENT = SearchChoice(by_agent=True)
LEAVE = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


def looking_for(words, **more):
    return Call("search_documents", {"query": words, "mode": "bm25", **more})


@pytest.fixture
def services(build_services, handbook):
    services = build_services(chat=True, embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


@pytest.fixture
def servers_end():
    yield
    connections_to([])


def number_of(turn, words):
    return next(source.n for source in turn.sources if words in source.text)


def test_three_tool_calls_end_with_sources_without_gaps_and_every_citation_verified(
    services, model_server
):
    def answer(body):
        """Cites by the numbers that the tools gave."""
        told = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if len(told) < 3:
            words = ("annual leave", "WireGuard gateway", "sick leave lead")[len(told)]
            return ToolCalls(looking_for(words, k=2), text="I look once more. ")
        quotes = (
            "New employees get 25 days of annual leave a year",
            "Install WireGuard and choose the Bristol gateway",
            "Tell your lead before ten o'clock",
        )
        numbers = [_number_in(told, quote) for quote in quotes]
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


def _number_in(told, quote):
    """The number of the source that holds the words."""
    for content in told:
        for source in content.partition("\n\nSources:")[0].split("\n\n["):
            if quote in source:
                return int(source.strip("[").partition("]")[0])
    raise AssertionError(f"no source holds {quote}")


def test_each_step_is_streamed_at_its_start_and_end(services, model_server):
    model_server.will(ToolCalls(looking_for("annual leave"), text="I look."), Text(LEAVE))
    events = list(services.chat.stream(LOCAL_USER, "How many days?", search=BY_AGENT))
    kinds = [type(event) for event in events]
    assert kinds[0] is TurnStarted
    assert kinds[-1] is TurnFinished
    begun, ended = (event.step for event in events if isinstance(event, StepUpdated))
    assert (begun.state, ended.state) == (StepState.RUNNING, StepState.DONE)
    assert begun.said == ended.said == "I look."
    assert kinds.index(PassagesRetrieved) == len(kinds) - 1 - kinds[::-1].index(StepUpdated) + 1
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert shown.endswith("They get 25 days [1].")
    assert events[-1].turn.answer == "They get 25 days [1]."


def test_the_agent_continues_after_a_failing_tool(services, model_server):
    model_server.will(
        ToolCalls(Call("open_document", {"document_id": "none"}), looking_for("leave", k=0)),
        ToolCalls(looking_for("annual leave")),
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


def test_the_chain_as_a_tool_is_cited_by_the_numbers_of_the_turn(services, model_server):
    model_server.will(
        ToolCalls(looking_for("WireGuard")),
        ToolCalls(Call("ask_documents", {"question": "How many days of annual leave?"})),
        Text(LEAVE),
        Text('It is 25 days [2: "New employees get 25 days of annual leave a year"].'),
    )
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert number_of(turn, "25 days") == 2
    assert turn.steps[1].result.startswith("They get 25 days [2].")
    assert [(one.n, one.state) for one in turn.citations] == [(2, CitationState.VERIFIED)]
    assert turn.usage == {"input_tokens": 44, "output_tokens": 28}, "the chain's model counts too"


def test_a_follow_up_knows_what_was_said(services, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Text(LEAVE), Text("You are welcome."))
    first = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    services.chat.ask(LOCAL_USER, "Thanks!", first.conversation_id, BY_AGENT)
    sent = model_server.requests[-1].body["messages"][1:]
    assert [one["content"] for one in sent] == [
        "How many days?",
        "They get 25 days.",
        "Thanks!",
    ]


def test_it_searches_only_in_the_scope_of_the_conversation(services, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Text("The documents do not say."))
    nowhere = SearchChoice(scope=Scope(formats=("pdf",)), by_agent=True)
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=nowhere)
    assert turn.steps[0].result.startswith("Nothing was found.")
    assert turn.sources == ()


def test_a_scope_that_is_not_there_is_refused_before_the_model_is_asked(services, model_server):
    nowhere = SearchChoice(scope=Scope(sources=("no such",)), by_agent=True)
    with pytest.raises(InputError):
        services.chat.ask(LOCAL_USER, "How many days?", search=nowhere)
    assert not any("messages" in request.body for request in model_server.requests)


def test_reaching_the_limit_is_stored_as_an_incomplete_turn(build_services, services, model_server):
    model_server.answer = lambda body: ToolCalls(looking_for("annual leave"))
    limited = build_services(chat=True, embed=True, agent_model_calls=2)
    turn = limited.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert turn.state is TurnState.INCOMPLETE
    assert "FOOTNOTE_AGENT_MODEL_CALLS" in turn.error
    assert len(turn.steps) == 2
    assert turn.sources


def test_an_answer_that_was_cut_short_says_so(services, model_server):
    model_server.will(Text("They get", finish_reason="length"))
    turn = services.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, TOO_LONG)


def test_a_model_that_fails_after_a_step_leaves_the_step_and_its_sources(services, model_server):
    model_server.will(ToolCalls(looking_for("annual leave")), Fault(503))
    events = []
    with pytest.raises(ModelUnavailableError):
        events.extend(services.chat.stream(LOCAL_USER, "How many days?", search=BY_AGENT))
    [turn] = services.turns.list(LOCAL_USER, events[0].turn.conversation_id)
    assert turn.state is TurnState.FAILED
    assert "HTTP 503" in turn.error
    assert turn.steps[0].state is StepState.DONE
    assert turn.sources


def test_who_leaves_in_mid_stream_leaves_a_stopped_turn_and_a_closed_stream(services, model_server):
    model_server.will(
        ToolCalls(looking_for("annual leave")), Text(*["word "] * 2_000, pause_s=0.01)
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


def test_questions_at_the_same_time_have_numbers_and_steps_of_their_own(services, model_server):
    def answer(body):
        told = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        if len(told) < 2:
            return ToolCalls(looking_for(("WireGuard", "annual leave")[len(told)], k=1))
        return Text('It is 25 days [2: "New employees get 25 days of annual leave a year"].')

    model_server.answer = answer
    with ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(services.chat.ask, LOCAL_USER, f"Question {n}?", search=BY_AGENT)
            for n in range(16)
        ]
        turns = [one.result(timeout=60) for one in asked]
    for turn in turns:
        assert [step.sources for step in turn.steps] == [(1,), (2,)]
        assert [(one.n, one.state) for one in turn.citations] == [(2, CitationState.VERIFIED)]


def test_without_a_chat_model_the_agent_says_what_to_set(build_services):
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
def test_tools_of_others_are_used_beside_ours_and_are_no_sources(
    build_services, services, model_server, tmp_path
):
    server = {
        "command": [sys.executable, "-m", "tests.fakes.mcp_server", "stdio"],
        "environment": {"PYTHONPATH": str(ROOT)},
        "tools": ["find_ticket"],
    }
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"servers": {"desk": server}}))
    helped = build_services(chat=True, embed=True, agent_mcp_servers=path)
    model_server.will(
        ToolCalls(Call("desk__find_ticket", {"number": 7}), looking_for("annual leave")),
        Text(LEAVE),
    )
    turn = helped.chat.ask(LOCAL_USER, "How many days?", search=BY_AGENT)
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
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
