"""The examples of docs/agents.md, run with a scripted model on loopback."""

import json
import re
import shutil

import pytest

from services.agent.agent_events import RESULT_CHARS as STORED_CHARS
from services.agent.agent_tools import (
    MAX_K,
    DocumentArguments,
    QuestionArguments,
    SearchArguments,
)
from services.agent.document_agent import AgentLimits
from services.agent.external_tools import RESULT_CHARS
from services.agent.mcp_client import CALL_S, CONNECT_S, read_servers
from settings import load_settings
from tests.docs_examples import QUOTE, Page, desk_over_handbook, running
from tests.fakes.mcp_clients import connected
from tests.fakes.openai import MODEL, Call, Text, ToolCalls

pytestmark = pytest.mark.slow

PAGE = Page("agents.md")
QUESTION = "How many days of annual leave do new employees get?"
GOOD = f'They get 25 days [1: "{QUOTE}"].'


def search_call(words, **more):
    return ToolCalls(Call("search_documents", {"query": words, "mode": "bm25", **more}))


@pytest.fixture(scope="module")
def desk(tmp_path_factory, model_cache):
    """A folder with the page's programs and a library of two documents."""
    return desk_over_handbook(PAGE, tmp_path_factory, model_cache)


@pytest.fixture
def model(model_server):
    """Settings that make the scripted server the chat model."""
    return {
        "OPENAI_BASE_URL": model_server.url,
        "OPENAI_API_KEY": "none",
        "FOOTNOTE_CHAT_MODEL": MODEL,
    }


def test_sources_of_several_calls_are_numbered_consecutively_in_the_artifacts(
    desk, model, model_server
):
    model_server.will(
        search_call("annual leave", k=1),
        search_call("WireGuard", k=1),
        search_call("annual leave", k=1),
        Text("25 days [1]. Choose the Bristol gateway [2]."),
    )
    output = desk.python("tool_sources.py", QUESTION, **model)
    answer, _, sources = output.partition("\n\nSource documents:\n")
    assert answer == "25 days [1]. Choose the Bristol gateway [2]."
    first, second = sources.splitlines()
    assert re.fullmatch(r"\[1\] Leave policy, .*leave\.md, character \d+", first)
    assert re.fullmatch(r"\[2\] VPN, .*vpn\.md, character \d+", second)


def test_the_agent_continues_after_a_tool_fails(desk, model, model_server):
    model_server.will(
        ToolCalls(Call("open_document", {"document_id": "none"})),
        search_call("annual leave", k=1),
        Text("25 days [1]."),
    )
    output = desk.python("tool_sources.py", QUESTION, **model)
    assert "25 days [1]." in output
    assert "[1] Leave policy" in output
    assert model_server.requests[1].body["messages"][-1]["content"].startswith("Failed: ")


def test_a_custom_tool_numbers_its_documents_across_calls(desk):
    output = desk.python("own_tool.py").splitlines()
    assert output[0].startswith("annual leave ['Leave policy'")
    assert "[1, 2]" in output[0]
    assert output[2].startswith("WireGuard ['VPN'")
    assert output[-1] == "2 passages have a number"


def test_the_answer_of_the_answering_tool_is_the_final_answer(desk, model, model_server):
    model_server.will(ToolCalls(Call("ask_documents", {"question": QUESTION})), Text(GOOD))
    output = desk.python("plain.py", QUESTION, **model)
    assert output.startswith("They get 25 days [1].\n\nSources:\n[1] Leave policy, ")
    assert len(model_server.requests) == 2


def test_the_citations_of_the_agent_are_checked(desk, model, model_server):
    false = 'They get a car [1: "a car for everybody"].'
    model_server.will(search_call("annual leave"), Text(f"{GOOD} {false}"))
    output = desk.python("checked.py", QUESTION, **model)
    assert output.startswith("1. search_documents {'query': 'annual leave', 'mode': 'bm25'}: done")
    assert f"[1] verified: Leave policy: {QUOTE}" in output
    assert "[1] not found: Leave policy: a car for everybody" in output


def test_the_graph_streams_its_steps_and_can_restrict_its_tools(desk, model, model_server):
    model_server.will(search_call("WireGuard"), Text("Choose the Bristol gateway [1]."))
    output = desk.python("own_agent.py", "Which gateway?", **model)
    assert "tool: [1] VPN" in output
    assert "ai: Choose the Bristol gateway [1]." in output
    *_, titles, citation = output.splitlines()
    assert titles.startswith("['VPN'")
    assert citation.startswith("[1] verified: ")


def test_a_tool_of_an_allowed_server_receives_its_secret(desk, model, model_server):
    config = json.loads(PAGE.settings[0])
    del config["servers"]["wiki"]  # no such server runs
    (desk.folder / "mcp.json").write_text(json.dumps(config))
    call = ToolCalls(Call("tickets__find_ticket", {"number": 7}))
    model_server.will(call, Text("The lift is broken."))
    tools_output = desk.sh(PAGE.command("FOOTNOTE_AGENT_MCP_SERVERS"), **model)
    assert tools_output.startswith("1. tickets__find_ticket {'number': 7}: done, sources ()")
    message = model_server.requests[1].body["messages"][-1]["content"]
    assert message == "Ticket 7: the lift is broken."


def test_the_example_server_file_is_valid(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text(PAGE.settings[0], encoding="utf-8")
    tickets, wiki = read_servers(file, lambda name: f"<{name}>")
    assert tickets.command == (".venv/bin/python", "tickets.py")
    assert tickets.environment == (("TICKETS_TOKEN", "<FOOTNOTE_SECRET_TICKETS>"),)
    assert wiki.headers == (("Authorization", "Bearer <FOOTNOTE_SECRET_WIKI>"),)


def test_the_mcp_server_works_over_stdio(desk):
    output = desk.python("mcp_stdio.py").splitlines()
    assert [line.split()[0] for line in output[:4]] == _tools()
    assert output[4].startswith("Leave policy ")
    assert output[5] == "# Leave policy"


def test_client_configurations_start_the_server_from_any_folder(desk, tmp_path):
    from mcp import StdioServerParameters

    shutil.copytree(desk.data_dir, tmp_path / "data", symlinks=True)
    [text] = [one for one in PAGE.settings if "mcpServers" in one]
    config = text.replace("/path/to/footnote/data", str(tmp_path / "data"))
    servers = json.loads(config.replace("/path/to/footnote", str(desk.folder)))
    server = StdioServerParameters(**servers["mcpServers"]["footnote"], cwd=tmp_path)
    with connected(server) as client:
        result = client.call("search_documents", query="WireGuard").structured_content
        assert result["passages"][0]["title"] == "VPN"


def test_the_mcp_server_works_over_http_with_a_key(desk):
    command = '.venv/bin/python cli.py api-key create "my agent" --scope read --scope ask'
    key = desk.sh(command).strip()
    with running(desk, "mcp", "--http", "--port", "0") as process:
        url = process.stdout.readline().split()[5].removesuffix("/mcp")
        output = desk.python("mcp_http.py", FOOTNOTE_URL=url, FOOTNOTE_API_KEY=key)
    assert f"[1] verified: Leave policy: {QUOTE}" in output


def test_the_table_of_tools_matches_their_arguments():
    table = PAGE.text.split("## The tools\n\n")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table, flags=re.MULTILINE)
    arguments = {name: re.findall(r"`(\w+)`", cell) for name, cell in rows}
    assert arguments == {
        "search_documents": list(SearchArguments.model_fields),
        "ask_documents": list(QuestionArguments.model_fields),
        "open_document": list(DocumentArguments.model_fields),
        "list_sources": [],
    }
    assert list(arguments) == _tools()
    assert f"`k` (1 to {MAX_K};" in table


def test_the_documented_limits_match_the_code():
    settings = load_settings()
    limits = AgentLimits(settings.agent_model_calls, settings.agent_tool_calls)
    assert f"`FOOTNOTE_AGENT_MODEL_CALLS` ({limits.model_calls})" in PAGE.text
    assert f"`FOOTNOTE_AGENT_TOOL_CALLS` ({limits.tool_calls})" in PAGE.text
    assert f"first {STORED_CHARS:,} characters; the model reads all" in " ".join(PAGE.text.split())
    assert f"{CONNECT_S:.0f} seconds to start and {CALL_S:.0f} for a call" in PAGE.text
    assert f"first {RESULT_CHARS:,} characters of what" in " ".join(PAGE.text.split())


def _tools():
    return ["search_documents", "ask_documents", "open_document", "list_sources"]
