"""Tools of external MCP servers: a real server, over both transports."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp_types import Tool

from domain.errors import ConfigError
from services.agent import mcp_client
from services.agent.external_tools import (
    DESCRIPTION_CHARS,
    RESULT_CHARS,
    SCHEMA_CHARS,
    external_tools,
)
from services.agent.mcp_client import REASON_CHARS, RETRY_DELAY_S
from tests.fakes.command_line import ROOT
from tests.fakes.mcp_server import STUBBORN, serving_http
from tests.servers import free_port

pytestmark = pytest.mark.slow

ALL_TOOLS = [
    "find_ticket", "environment", "pid.of/it", "long_text", "slow", "die", "refused", "picture",
    "settings", "talkative",
]  # fmt: skip


def stdio(*arguments, tools=ALL_TOOLS, **environment):
    return {
        "command": [sys.executable, "-m", "tests.fakes.mcp_server", "stdio", *arguments],
        "environment": {"PYTHONPATH": str(ROOT), **environment},
        "tools": tools,
    }


def write_config(folder, content):
    path = folder / "servers.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def tools_by_name(folder, secret, **servers):
    path = write_config(folder, {"servers": servers})
    return {tool.name: tool for tool in external_tools(path, lambda _: secret)}


@pytest.fixture
def tools_of(tmp_path):
    """Read a file that names these servers and map tool names to tools; tests share no server."""

    def read(secret="", **servers):
        return tools_by_name(tmp_path, secret, **servers)

    yield read
    mcp_client.connections_to([])


def call_tool(tool, **arguments):
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    return message.status, message.content


@pytest.fixture(scope="module", params=["stdio", "http"])
def tickets(request, tmp_path_factory):
    """The tools of a server that the tests share, once per transport."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "stdio":
        yield tools_by_name(folder, "", tickets=stdio())
    else:
        with serving_http(free_port()) as url:
            yield tools_by_name(folder, "", tickets={"url": url, "tools": ALL_TOOLS})
    mcp_client.connections_to([])


def test_a_tool_is_named_after_its_server_and_returns_text(tickets):
    assert call_tool(tickets["tickets__find_ticket"], number=7) == (
        "success",
        "Ticket 7: the lift is broken.",
    )


def test_a_tool_has_the_schema_of_the_server_and_a_limited_description(tickets):
    tool = tickets["tickets__find_ticket"]
    assert tool.args["number"]["type"] == "integer"
    assert tool.description.startswith("Finds a ticket.")
    assert len(tool.description) == DESCRIPTION_CHARS


def test_a_name_that_models_reject_is_normalized(tickets):
    assert call_tool(tickets["tickets__pid_of_it"])[0] == "success"


def test_a_long_result_is_truncated_with_a_note(tickets):
    _, text = call_tool(tickets["tickets__long_text"], characters=RESULT_CHARS + 5)
    assert text.startswith("x" * RESULT_CHARS + "\n")
    assert text.endswith("[Cut: these are the first 20,000 of 20,005 characters.]")


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("find_ticket", {"number": -1}, "there are no such tickets"),
        ("find_ticket", {"number": "many"}, "valid integer"),
        ("refused", {}, "the building is closed"),
    ],
)
def test_a_failing_tool_returns_the_reason_without_raising(tickets, tool, arguments, reason):
    status, text = call_tool(tickets[f"tickets__{tool}"], **arguments)
    assert status == "error"
    assert text.startswith("Failed: ")
    assert reason in text


def test_content_other_than_text_is_replaced_by_a_note(tickets):
    assert "of type image is omitted" in call_tool(tickets["tickets__picture"])[1]


def test_arguments_may_share_names_with_langchain_parameters(tickets):
    response = call_tool(tickets["tickets__settings"], config="dark", run_manager="Ann", self="me")
    assert response == ("success", "dark, Ann, me")


def test_a_long_failure_reason_is_truncated(tickets):
    status, text = call_tool(tickets["tickets__talkative"])
    assert status == "error"
    assert len(text) < 2 * REASON_CHARS


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "object", "properties": None},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/nothing"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}},
        {"type": "object", "properties": {"a": {"description": "x" * SCHEMA_CHARS}}},
    ],
)
def test_a_tool_with_an_unusable_schema_accepts_any_arguments(tools_of, monkeypatch, schema):
    definition = Tool(name="odd", description="Odd.", input_schema=schema)
    monkeypatch.setattr(mcp_client.McpConnection, "tools", lambda _: [definition])
    [tool] = tools_of(t={"url": "http://127.0.0.1:9/mcp", "tools": ["odd"]}).values()
    parameters = convert_to_openai_tool(tool)["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}, "additionalProperties": True}


@pytest.mark.parametrize(("delay_s", "expected"), [(0, ["number"]), (RETRY_DELAY_S, [])])
def test_an_unavailable_server_is_asked_for_its_tools_after_a_delay(
    tools_of, monkeypatch, delay_s, expected
):
    monkeypatch.setattr(mcp_client, "RETRY_DELAY_S", delay_s)
    port = free_port()
    server = {"url": f"http://127.0.0.1:{port}/mcp", "tools": ["find_ticket"]}
    assert tools_of(t=server)["t__find_ticket"].args == {}
    with serving_http(port):
        assert list(tools_of(t=server)["t__find_ticket"].args) == expected


def test_tools_are_listed_once_for_each_connection(tools_of, monkeypatch):
    connected_tools = tools_of(t=stdio())
    monkeypatch.setattr(mcp_client, "_PAGES", 0)  # a new listing would be empty
    assert "number" in tools_of(t=stdio())["t__find_ticket"].args
    call_tool(connected_tools["t__die"])
    with pytest.raises(ConfigError, match="the server has none"):
        tools_of(t=stdio())


def test_only_allowed_tools_are_available(tools_of):
    assert list(tools_of(a=stdio(tools=["refused"]), b=stdio(tools=[]))) == ["a__refused"]


def test_a_command_gets_only_the_configured_environment_with_its_secrets(tools_of, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    tools = tools_of("s3cret", t=stdio(TOKEN="Bearer $FOOTNOTE_SECRET_TICKETS"))
    assert call_tool(tools["t__environment"], variable="TOKEN")[1] == "Bearer s3cret"
    assert call_tool(tools["t__environment"], variable="OPENAI_API_KEY")[1] == "unset"


def test_headers_can_contain_secrets(tools_of):
    with serving_http(free_port(), "s3cret") as url:
        headers = {"Authorization": "Bearer $FOOTNOTE_SECRET_TICKETS"}
        server = {"url": url, "headers": headers, "tools": ["refused", "find_ticket"]}
        assert call_tool(tools_of("s3cret", t=server)["t__find_ticket"], number=1)[0] == "success"
        status, text = call_tool(tools_of("wrong", t=server)["t__find_ticket"], number=1)
    assert status == "error"
    assert "s3cret" not in text


def test_a_call_that_times_out_fails_and_the_next_call_succeeds(tools_of, monkeypatch):
    tools = tools_of(t=stdio())
    monkeypatch.setattr(mcp_client, "CALL_S", 0.5)
    start = time.monotonic()
    status, text = call_tool(tools["t__slow"], seconds=60)
    assert (status, text) == (
        "error",
        "Failed: The MCP server t can't be used: it did not respond in time.",
    )
    assert time.monotonic() - start < 10
    monkeypatch.undo()
    assert call_tool(tools["t__find_ticket"], number=1)[0] == "success"


def test_a_server_that_exits_fails_one_call_and_is_restarted(tools_of):
    tools = tools_of(t=stdio())
    status, text = call_tool(tools["t__die"])
    assert status == "error"
    assert text.startswith("Failed: The MCP server t can't be used: ")
    assert call_tool(tools["t__find_ticket"], number=1)[0] == "success"


def test_an_unavailable_server_does_not_block_others_and_is_retried(tools_of):
    port = free_port()
    server = {"url": f"http://127.0.0.1:{port}/mcp", "tools": ["find_ticket"]}
    tools = tools_of(down=server, up=stdio(tools=["refused"]))
    assert list(tools) == ["down__find_ticket", "up__refused"]
    status, text = call_tool(tools["down__find_ticket"], number=1)
    assert status == "error"
    assert text.startswith("Failed: The MCP server down can't be used: ")
    with serving_http(port):
        assert call_tool(tools["down__find_ticket"], number=1)[0] == "success"


def test_a_missing_command_is_an_unavailable_server(tools_of):
    tools = tools_of(t={"command": ["/no/such/program"], "tools": ["x"]})
    assert call_tool(tools["t__x"])[0] == "error"


def test_rereading_the_file_reuses_the_running_server(tools_of):
    first = call_tool(tools_of(t=stdio())["t__pid_of_it"])[1]
    assert call_tool(tools_of(t=stdio())["t__pid_of_it"])[1] == first


def test_a_server_removed_from_the_file_is_stopped(tools_of):
    pid = int(call_tool(tools_of(t=stdio())["t__pid_of_it"])[1])
    assert tools_of() == {}
    assert ends_within(pid, 10)


ENTRY = {"url": "http://127.0.0.1:9/mcp", "tools": ["x"]}


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "Invalid JSON"),
        ("[]", "object"),
        ({"server": {}}, "servers: Field required"),
        ({"servers": {"a b": ENTRY}}, "servers.a b"),
        ({"servers": {"a": {"tools": ["x"]}}}, 'servers.a: give it either a "command" or a "url"'),
        ({"servers": {"a": {**ENTRY, "command": ["x"]}}}, 'servers.a: give it either a "command"'),
        ({"servers": {"a": {"url": ENTRY["url"]}}}, "servers.a.tools: Field required"),
        ({"servers": {"a": {**ENTRY, "tool": ["x"]}}}, "servers.a.tool: Extra inputs"),
        ({"servers": {"a": {**ENTRY, "url": "file:///etc"}}}, "servers.a.url: "),
        ({"servers": {"a": {**ENTRY, "environment": {"A": "b"}}}}, 'servers.a: "environment"'),
        (
            {"servers": {"a": {**ENTRY, "headers": {"A": "$FOOTNOTE_SECRET_A"}}}},
            "servers.a.headers.A: the variable FOOTNOTE_SECRET_A is not set",
        ),
        ({"servers": {"a": {**ENTRY, "tools": ["x", "x"]}}}, "two tools would be named a__x"),
    ],
)
def test_an_invalid_file_raises_an_error_with_setting_file_and_field(tmp_path, content, error):
    path = write_config(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        external_tools(path, lambda _: "")
    assert str(caught.value).startswith(f"FOOTNOTE_AGENT_MCP_SERVERS: {path}: ")
    assert error in str(caught.value)


def test_a_missing_file_raises_an_error(tmp_path):
    with pytest.raises(ConfigError, match=r"FOOTNOTE_AGENT_MCP_SERVERS: .*no\.json: it can't be"):
        external_tools(tmp_path / "no.json", lambda _: "")


def test_allowing_an_unknown_tool_lists_the_available_ones(tools_of):
    with pytest.raises(ConfigError, match="t.tools: there is no tool close; the server has die, "):
        tools_of(t=stdio(tools=["refused", "close"]))


CLIENT = """
import sys
from pathlib import Path
from services.agent.external_tools import external_tools
tools = {tool.name: tool for tool in external_tools(Path(sys.argv[1]), lambda _: "")}
print(tools["t__pid_of_it"].invoke({}), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("arguments", [(), (STUBBORN,)], ids=["", "stubborn"])
def test_a_server_ends_when_its_client_is_killed(tmp_path, arguments):
    path = write_config(tmp_path, {"servers": {"t": stdio(*arguments)}})
    command = [sys.executable, "-c", CLIENT, str(path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        pid = int(client.stdout.readline())
        client.send_signal(signal.SIGKILL)
        client.wait(10)
    assert ends_within(pid, 15)


def ends_within(pid, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
