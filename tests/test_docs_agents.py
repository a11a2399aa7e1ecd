"""docs/agents.md: its examples do what it says, with a scripted model on this machine."""

import json
import re
import shutil

import pytest

from agent.agent import AgentLimits
from agent.foreign_tools import RESULT_CHARS
from agent.mcp_client import CALL_S, CONNECT_S
from agent.mcp_servers import read_servers
from agent.telling import RESULT_CHARS as KEPT_CHARS
from agent.tool_arguments import MAX_K, DocumentArguments, QuestionArguments, SearchArguments
from settings import load_settings
from tests.docs_examples import QUOTE, Page, desk_over_handbook, running
from tests.fakes.mcp_clients import connected
from tests.fakes.openai import MODEL, Call, Text, ToolCalls

PAGE = Page("agents.md")
QUESTION = "How many days of annual leave do new employees get?"
GOOD = f'They get 25 days [1: "{QUOTE}"].'


def looking_for(words, **more):
    return ToolCalls(Call("search_documents", {"query": words, "mode": "bm25", **more}))


@pytest.fixture(scope="module")
def desk(tmp_path_factory, model_cache):
    """A folder with the page's programs, over a library of two documents."""
    return desk_over_handbook(PAGE, tmp_path_factory, model_cache)


@pytest.fixture
def model(model_server):
    """The settings that let the scripted server be the chat model."""
    return {
        "OPENAI_BASE_URL": model_server.url,
        "OPENAI_API_KEY": "none",
        "FOOTNOTE_CHAT_MODEL": MODEL,
    }


def test_the_sources_of_several_calls_are_in_the_artifacts_under_one_numbering(
    desk, model, model_server
):
    model_server.will(
        looking_for("annual leave", k=1),
        looking_for("WireGuard", k=1),
        looking_for("annual leave", k=1),
        Text("25 days [1]. Choose the Bristol gateway [2]."),
    )
    told = desk.python("tool_sources.py", QUESTION, **model)
    answer, _, sources = told.partition("\n\nSource documents:\n")
    assert answer == "25 days [1]. Choose the Bristol gateway [2]."
    first, second = sources.splitlines()
    assert re.fullmatch(r"\[1\] Leave policy, .*leave\.md, character \d+", first)
    assert re.fullmatch(r"\[2\] VPN, .*vpn\.md, character \d+", second)


def test_a_tool_that_fails_leaves_the_agent_going_on(desk, model, model_server):
    model_server.will(
        ToolCalls(Call("open_document", {"document_id": "none"})),
        looking_for("annual leave", k=1),
        Text("25 days [1]."),
    )
    told = desk.python("tool_sources.py", QUESTION, **model)
    assert "25 days [1]." in told
    assert "[1] Leave policy" in told
    assert model_server.requests[1].body["messages"][-1]["content"].startswith("Failed: ")


def test_a_tool_of_one_s_own_numbers_its_documents_through_all_calls(desk):
    told = desk.python("own_tool.py").splitlines()
    assert told[0].startswith("annual leave ['Leave policy'")
    assert "[1, 2]" in told[0]
    assert told[2].startswith("WireGuard ['VPN'")
    assert told[-1] == "2 passages have a number"


def test_the_plain_tool_s_answer_is_the_agent_s_last_word(desk, model, model_server):
    model_server.will(ToolCalls(Call("ask_documents", {"question": QUESTION})), Text(GOOD))
    told = desk.python("plain.py", QUESTION, **model)
    assert told.startswith("They get 25 days [1].\n\nSources:\n[1] Leave policy, ")
    assert len(model_server.requests) == 2


def test_the_agent_s_own_citations_are_checked(desk, model, model_server):
    false = 'They get a car [1: "a car for everybody"].'
    model_server.will(looking_for("annual leave"), Text(f"{GOOD} {false}"))
    told = desk.python("checked.py", QUESTION, **model)
    assert told.startswith("1. search_documents {'query': 'annual leave', 'mode': 'bm25'}: done")
    assert f"[1] verified: Leave policy: {QUOTE}" in told
    assert "[1] not found: Leave policy: a car for everybody" in told


def test_the_graph_s_steps_are_seen_and_its_tools_narrowed(desk, model, model_server):
    model_server.will(looking_for("WireGuard"), Text("Choose the Bristol gateway [1]."))
    told = desk.python("own_agent.py", "Which gateway?", **model)
    assert "tool: [1] VPN" in told
    assert "ai: Choose the Bristol gateway [1]." in told
    *_, titles, citation = told.splitlines()
    assert titles.startswith("['VPN'")
    assert citation.startswith("[1] verified: ")


def test_a_tool_of_an_allowed_server_is_called_with_its_secret(desk, model, model_server):
    told = json.loads(PAGE.settings[0])
    del told["servers"]["wiki"]  # it is nowhere
    (desk.folder / "mcp.json").write_text(json.dumps(told))
    called = ToolCalls(Call("tickets__find_ticket", {"number": 7}))
    model_server.will(called, Text("The lift is broken."))
    shown = desk.sh(PAGE.command("FOOTNOTE_AGENT_MCP_SERVERS"), **model)
    assert shown.startswith("1. tickets__find_ticket {'number': 7}: done, sources ()")
    heard = model_server.requests[1].body["messages"][-1]["content"]
    assert heard == "Ticket 7: the lift is broken."


def test_the_file_of_servers_is_read_as_it_stands_there(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text(PAGE.settings[0], encoding="utf-8")
    tickets, wiki = read_servers(file, lambda name: f"<{name}>")
    assert tickets.command == (".venv/bin/python", "tickets.py")
    assert tickets.environment == (("TICKETS_TOKEN", "<FOOTNOTE_SECRET_TICKETS>"),)
    assert wiki.headers == (("Authorization", "Bearer <FOOTNOTE_SECRET_WIKI>"),)


def test_the_mcp_server_is_used_over_stdio(desk):
    told = desk.python("mcp_stdio.py").splitlines()
    assert [line.split()[0] for line in told[:4]] == _tools()
    assert told[4].startswith("Leave policy ")
    assert told[5] == "# Leave policy"


def test_the_configuration_of_clients_starts_the_server_wherever_they_run(desk, tmp_path):
    from mcp import StdioServerParameters

    shutil.copytree(desk.data_dir, tmp_path / "data", symlinks=True)
    [text] = [one for one in PAGE.settings if "mcpServers" in one]
    told = text.replace("/path/to/footnote/data", str(tmp_path / "data"))
    chosen = json.loads(told.replace("/path/to/footnote", str(desk.folder)))
    server = StdioServerParameters(**chosen["mcpServers"]["footnote"], cwd=tmp_path)
    with connected(server) as client:
        found = client.call("search_documents", query="WireGuard").structured_content
        assert found["passages"][0]["title"] == "VPN"


def test_the_mcp_server_is_asked_over_http_with_a_key(desk):
    making = '.venv/bin/python cli.py api-key create "my agent" --scope read --scope ask'
    key = desk.sh(making).strip()
    with running(desk, "mcp", "--http", "--port", "0") as process:
        url = process.stdout.readline().split()[5].removesuffix("/mcp")
        told = desk.python("mcp_http.py", FOOTNOTE_URL=url, FOOTNOTE_API_KEY=key)
    assert f"[1] verified: Leave policy: {QUOTE}" in told


def test_the_table_of_tools_has_each_tool_with_what_it_takes():
    table = PAGE.text.split("## The tools\n\n")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table, flags=re.MULTILINE)
    taken = {name: re.findall(r"`(\w+)`", told) for name, told in rows}
    assert taken == {
        "search_documents": list(SearchArguments.model_fields),
        "ask_documents": list(QuestionArguments.model_fields),
        "open_document": list(DocumentArguments.model_fields),
        "list_sources": [],
    }
    assert list(taken) == _tools()
    assert f"`k` (1 to {MAX_K};" in table


def test_the_limits_are_those_of_the_code():
    settings = load_settings()
    limits = AgentLimits(settings.agent_model_calls, settings.agent_tool_calls)
    assert f"`FOOTNOTE_AGENT_MODEL_CALLS` ({limits.model_calls})" in PAGE.text
    assert f"`FOOTNOTE_AGENT_TOOL_CALLS` ({limits.tool_calls})" in PAGE.text
    assert f"first {KEPT_CHARS:,} characters; the model reads all" in " ".join(PAGE.text.split())
    assert f"{CONNECT_S:.0f} seconds to start and {CALL_S:.0f} for a call" in PAGE.text
    assert f"first {RESULT_CHARS:,} characters of what" in " ".join(PAGE.text.split())


def _tools():
    return ["search_documents", "ask_documents", "open_document", "list_sources"]
