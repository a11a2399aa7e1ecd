"""`cli.py mcp` over standard input and output, and over HTTP."""

import json
import signal
import socket
import subprocess
import time
from contextlib import contextmanager

import httpx2
import pytest

from tests.fakes.mcp_clients import WAIT_S, connected, over_http, over_stdio

pytestmark = pytest.mark.slow


@contextmanager
def running(line, *options):
    pipe = subprocess.PIPE
    with subprocess.Popen(
        line.command("mcp", *options),
        cwd=line.home,
        env=line.environ(PYTHONUNBUFFERED="1"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def serving_http(line, *options):
    """The process, and the URL that it prints."""
    with running(line, "--http", "--port", "0", *options) as process:
        first_line = process.stdout.readline()
        assert "http://" in first_line, process.stderr.read()
        yield process, first_line.split()[5]


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def test_standard_output_carries_only_the_protocol(line, handbook):
    line.run("import", handbook)
    info = {"name": "test", "version": "1"}
    messages = [
        request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n",
        request(2, "tools/call", name="search_documents", arguments={"query": "annual leave"}),
        request(3, "tools/call", name="ask_documents", arguments={"question": "Sick leave?"}),
        "this is no JSON\n",
        request(4, "tools/call", name="open_document", arguments={"document_id": "none"}),
    ]
    with running(line) as process:
        process.stdin.write("".join(messages))
        process.stdin.flush()
        answers = {}
        while len(answers) < 4:
            message = json.loads(process.stdout.readline())
            assert message["jsonrpc"] == "2.0"
            answers |= {message["id"]: message} if message.get("id") else {}
        process.stdin.close()
        assert process.wait(WAIT_S) == 0
        assert process.stdout.read() == ""
        assert "Traceback" not in process.stderr.read()
    assert answers[2]["result"]["structuredContent"]["passages"]
    assert answers[4]["result"]["isError"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_next_call_sees_an_import_by_another_process(line, handbook, transport):
    @contextmanager
    def client_of():
        if transport == "stdio":
            with connected(over_stdio(line)) as client:
                yield client
        else:
            secret = line.run("api-key", "create", "test", "--scope", "read").stdout.strip()
            with serving_http(line) as (_, url), connected(over_http(url, secret)) as client:
                yield client

    line.run("import", handbook)
    with client_of() as client:
        assert "lunch" not in result_titles(client)
        (handbook / "lunch.md").write_text("# lunch\n\nLunch is at noon in the canteen.")
        line.run("import", handbook)
        # No test waits for a fixed time: call durations depend on the machine.
        assert "lunch" in result_titles(client)
        resources = client.ask("list_resources", cache_mode="bypass").resources
        assert "lunch" in [resource.title for resource in resources]


def result_titles(client):
    result = client.call("search_documents", query="When is lunch in the canteen?")
    return [passage["title"] for passage in result.structured_content["passages"]]


def test_http_requires_a_key(line):
    with serving_http(line) as (process, url):
        assert "api-key create" in process.stdout.readline()
        assert httpx2.post(url, json={}, timeout=WAIT_S).status_code == 401


def test_only_allowed_host_names_are_answered(line):
    secret = line.run("api-key", "create", "test", "--scope", "read").stdout.strip()
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with serving_http(line, "--allow-host", "footnote.example") as (_, url):
        for name, refused in (("footnote.example", False), ("evil.example", True)):
            headers = {"Authorization": f"Bearer {secret}", "Host": name}
            status = httpx2.post(url, headers=headers, json=body, timeout=WAIT_S).status_code
            assert (status == 403) is refused


def test_an_invalid_allowed_host_is_rejected_with_the_option(line):
    error = line.run("mcp", "--http", "--allow-host", "http://footnote.example", code=1).stderr
    assert "--allow-host: 'http://footnote.example' is not a valid host" in error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("options", [(), ("--http", "--port", "0")], ids=["stdio", "http"])
def test_a_signal_stops_the_mcp_server_quickly(line, number, options):
    with running(line, *options) as process:
        if options:
            assert "http://" in process.stdout.readline()
        else:
            process.stdin.write(request(1, "ping"))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())
        start = time.monotonic()
        process.send_signal(number)
        assert process.wait(WAIT_S) == 130
        assert time.monotonic() - start < 10
        assert "Traceback" not in process.stderr.read()


def test_a_port_in_use_is_reported(line):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert f"port {port}" in line.run("mcp", "--http", "--port", port, code=1).stderr
