"""Tools of other people's MCP servers, over both transports, with a true server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp_types import Tool

from errors import ConfigError
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

pytestmark = pytest.mark.slow

ALL = [
    "find_ticket", "environment", "pid.of/it", "long_text", "slow", "die", "refused", "picture",
    "settings", "talkative",
]  # fmt: skip


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def stdio(*arguments, tools=ALL, **environment):
    return {
        "command": [sys.executable, "-m", "tests.fakes.mcp_server", "stdio", *arguments],
        "environment": {"PYTHONPATH": str(ROOT), **environment},
        "tools": tools,
    }


def file_of(folder, value):
    path = folder / "servers.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def tools_by_name(folder, secret, **servers):
    path = file_of(folder, {"servers": servers})
    return {tool.name: tool for tool in external_tools(path, lambda _: secret)}


@pytest.fixture
def tools_of(tmp_path):
    """The tools of a file that names these servers, by name; each test has its own servers."""

    def read(secret="", **servers):
        return tools_by_name(tmp_path, secret, **servers)

    yield read
    mcp_client.connections_to([])


def called(tool, **arguments):
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    return message.status, message.content


@pytest.fixture(scope="module", params=["stdio", "http"])
def tickets(request, tmp_path_factory):
    """The tools of one server, which the tests share, over each transport."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "stdio":
        yield tools_by_name(folder, "", tickets=stdio())
    else:
        with serving_http(free_port()) as url:
            yield tools_by_name(folder, "", tickets={"url": url, "tools": ALL})
    mcp_client.connections_to([])


def test_a_tool_is_called_by_server_and_name_and_gives_text(tickets):
    assert called(tickets["tickets__find_ticket"], number=7) == (
        "success",
        "Ticket 7: the lift is broken.",
    )


def test_it_has_the_schema_of_the_server_and_a_bounded_description(tickets):
    tool = tickets["tickets__find_ticket"]
    assert tool.args["number"]["type"] == "integer"
    assert tool.description.startswith("Finds a ticket.")
    assert len(tool.description) == DESCRIPTION_CHARS


def test_a_name_that_models_do_not_take_is_changed(tickets):
    assert called(tickets["tickets__pid_of_it"])[0] == "success"


def test_a_long_result_is_cut_and_says_so(tickets):
    _, text = called(tickets["tickets__long_text"], characters=RESULT_CHARS + 5)
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
def test_a_tool_that_fails_says_why_and_raises_nothing(tickets, tool, arguments, reason):
    status, text = called(tickets[f"tickets__{tool}"], **arguments)
    assert status == "error"
    assert text.startswith("Failed: ")
    assert reason in text


def test_what_is_no_text_is_named(tickets):
    assert "of type image is omitted" in called(tickets["tickets__picture"])[1]


def test_arguments_may_be_called_as_those_of_langchain_are(tickets):
    told = called(tickets["tickets__settings"], config="dark", run_manager="Ann", self="me")
    assert told == ("success", "dark, Ann, me")


def test_a_long_reason_is_cut(tickets):
    status, text = called(tickets["tickets__talkative"])
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
def test_a_tool_whose_arguments_cannot_be_told_takes_any(tools_of, monkeypatch, schema):
    listed = Tool(name="odd", description="Odd.", input_schema=schema)
    monkeypatch.setattr(mcp_client.McpConnection, "tools", lambda _: [listed])
    [tool] = tools_of(t={"url": "http://127.0.0.1:9/mcp", "tools": ["odd"]}).values()
    told = convert_to_openai_tool(tool)["function"]["parameters"]
    assert told == {"type": "object", "properties": {}, "additionalProperties": True}


@pytest.mark.parametrize(("again_s", "known"), [(0, ["number"]), (RETRY_DELAY_S, [])])
def test_a_server_that_was_down_tells_its_tools_later(tools_of, monkeypatch, again_s, known):
    monkeypatch.setattr(mcp_client, "RETRY_DELAY_S", again_s)
    port = free_port()
    server = {"url": f"http://127.0.0.1:{port}/mcp", "tools": ["find_ticket"]}
    assert tools_of(t=server)["t__find_ticket"].args == {}
    with serving_http(port):
        assert list(tools_of(t=server)["t__find_ticket"].args) == known


def test_tools_are_listed_once_for_each_connection(tools_of, monkeypatch):
    tools = tools_of(t=stdio())
    monkeypatch.setattr(mcp_client, "_PAGES", 0)  # listing them would find none
    assert "number" in tools_of(t=stdio())["t__find_ticket"].args
    called(tools["t__die"])
    with pytest.raises(ConfigError, match="the server has none"):
        tools_of(t=stdio())


def test_only_what_is_allowed_becomes_a_tool(tools_of):
    assert list(tools_of(a=stdio(tools=["refused"]), b=stdio(tools=[]))) == ["a__refused"]


def test_a_command_gets_the_environment_that_is_named_and_secrets_in_it(tools_of, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    tools = tools_of("s3cret", t=stdio(TOKEN="Bearer $FOOTNOTE_SECRET_TICKETS"))
    assert called(tools["t__environment"], variable="TOKEN")[1] == "Bearer s3cret"
    assert called(tools["t__environment"], variable="OPENAI_API_KEY")[1] == "unset"


def test_a_header_is_filled_in_from_a_variable(tools_of):
    with serving_http(free_port(), "s3cret") as url:
        headers = {"Authorization": "Bearer $FOOTNOTE_SECRET_TICKETS"}
        server = {"url": url, "headers": headers, "tools": ["refused", "find_ticket"]}
        assert called(tools_of("s3cret", t=server)["t__find_ticket"], number=1)[0] == "success"
        status, text = called(tools_of("wrong", t=server)["t__find_ticket"], number=1)
    assert status == "error"
    assert "s3cret" not in text


def test_a_tool_that_takes_too_long_fails_and_the_next_call_is_answered(tools_of, monkeypatch):
    tools = tools_of(t=stdio())
    monkeypatch.setattr(mcp_client, "CALL_S", 0.5)
    began = time.monotonic()
    status, text = called(tools["t__slow"], seconds=60)
    assert (status, text) == ("error", "Failed: The MCP server t: it did not answer in time.")
    assert time.monotonic() - began < 10
    monkeypatch.undo()
    assert called(tools["t__find_ticket"], number=1)[0] == "success"


def test_a_server_that_dies_fails_one_call_and_is_started_again(tools_of):
    tools = tools_of(t=stdio())
    status, text = called(tools["t__die"])
    assert status == "error"
    assert text.startswith("Failed: The MCP server t: ")
    assert called(tools["t__find_ticket"], number=1)[0] == "success"


def test_a_server_that_is_down_stops_nothing_and_is_tried_again(tools_of):
    port = free_port()
    server = {"url": f"http://127.0.0.1:{port}/mcp", "tools": ["find_ticket"]}
    tools = tools_of(down=server, up=stdio(tools=["refused"]))
    assert list(tools) == ["down__find_ticket", "up__refused"]
    status, text = called(tools["down__find_ticket"], number=1)
    assert status == "error"
    assert text.startswith("Failed: The MCP server down: ")
    with serving_http(port):
        assert called(tools["down__find_ticket"], number=1)[0] == "success"


def test_a_command_that_is_not_there_is_a_server_that_is_down(tools_of):
    tools = tools_of(t={"command": ["/no/such/program"], "tools": ["x"]})
    assert called(tools["t__x"])[0] == "error"


def test_reading_the_file_again_starts_no_second_server(tools_of):
    first = called(tools_of(t=stdio())["t__pid_of_it"])[1]
    assert called(tools_of(t=stdio())["t__pid_of_it"])[1] == first


def test_a_server_that_the_file_names_no_more_ends(tools_of):
    pid = int(called(tools_of(t=stdio())["t__pid_of_it"])[1])
    assert tools_of() == {}
    assert ends_within(pid, 10)


ENTRY = {"url": "http://127.0.0.1:9/mcp", "tools": ["x"]}


@pytest.mark.parametrize(
    ("written", "told"),
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
def test_a_wrong_file_is_an_error_that_names_setting_file_and_field(tmp_path, written, told):
    path = file_of(tmp_path, written)
    with pytest.raises(ConfigError) as raised:
        external_tools(path, lambda _: "")
    assert str(raised.value).startswith(f"FOOTNOTE_AGENT_MCP_SERVERS: {path}: ")
    assert told in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError, match=r"FOOTNOTE_AGENT_MCP_SERVERS: .*no\.json: it can't be"):
        external_tools(tmp_path / "no.json", lambda _: "")


def test_allowing_a_tool_that_is_not_there_tells_which_are(tools_of):
    with pytest.raises(ConfigError, match="t.tools: there is no tool close; the server has die, "):
        tools_of(t=stdio(tools=["refused", "close"]))


USER = """
import sys
from pathlib import Path
from services.agent.external_tools import external_tools
tools = {tool.name: tool for tool in external_tools(Path(sys.argv[1]), lambda _: "")}
print(tools["t__pid_of_it"].invoke({}), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("stubborn", [(), (STUBBORN,)], ids=["", "that won't end"])
def test_a_server_ends_with_a_process_that_is_killed(tmp_path, stubborn):
    path = file_of(tmp_path, {"servers": {"t": stdio(*stubborn)}})
    command = [sys.executable, "-c", USER, str(path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as user:
        pid = int(user.stdout.readline())
        user.send_signal(signal.SIGKILL)
        user.wait(10)
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
