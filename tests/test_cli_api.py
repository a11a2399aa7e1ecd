"""`cli.py api` next to other processes, and its shutdown."""

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from domain import ApiScope
from tests.fakes.openai import MODEL
from tests.fakes.openai_wire import Text
from tests.servers import served

pytestmark = pytest.mark.slow

WAIT_S = 60


@pytest.fixture
def key(line):
    scopes = [part for scope in ApiScope for part in ("--scope", scope)]
    secret = line.run("api-key", "create", "test", *scopes).stdout.strip()
    return {"Authorization": f"Bearer {secret}"}


@contextmanager
def serving(line, *options, **environment):
    """The process, and the URL that it prints."""
    command = line.command("api", "--port", "0", *options)
    settings = {
        "cwd": line.home,
        "env": line.environ(PYTHONUNBUFFERED="1", **environment),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    with subprocess.Popen(command, **settings) as process:
        try:
            first_line = process.stdout.readline()
            assert "http://" in first_line, process.stderr.read()
            yield process, first_line.split()[4]
        finally:
            process.kill()


def wait_for_response(url, headers):
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            return httpx.get(url, headers=headers, timeout=WAIT_S)
        except httpx.ConnectError:
            assert time.monotonic() < deadline, "the server never responded"
            time.sleep(0.05)


def test_the_next_request_sees_an_import_by_another_process(line, key, imported, handbook):
    imported()
    with serving(line) as (_, first), serving(line) as (_, second):
        for url in (first, second):
            assert wait_for_response(f"{url}/library", key).json()["documents"] == 4
            assert "parking" not in best_text(url, key)
        (handbook / "parking.md").write_text("# Parking\n\nAsk for a parking permit at the desk.\n")
        line.run("import", handbook)
        for url in (first, second):
            assert "parking permit" in best_text(url, key)


def best_text(url, headers):
    question = {"query": "Where do I get a parking permit?", "k": 1}
    answer = httpx.post(f"{url}/search", headers=headers, json=question, timeout=WAIT_S)
    return answer.json()["items"][0]["text"]


def test_the_metrics_count_questions_and_requests(line, key, handbook):
    line.run("import", handbook)
    with serving(line) as (_, url):
        assert wait_for_response(f"{url}/ready", {}).status_code == 200
        question = {"question": "How many days of leave are there?"}
        answer = httpx.post(f"{url}/ask", headers=key, json=question, timeout=WAIT_S)
        assert answer.status_code == 200
        root = url.removesuffix("/api/v1")
        text = httpx.get(f"{root}/metrics", headers=key, timeout=WAIT_S).text
    assert 'footnote_questions_total{kind="documents",state="complete"} 1.0' in text
    assert 'footnote_question_seconds_count{kind="documents"} 1.0' in text
    assert 'footnote_http_requests_total{method="POST",status="200"} 1.0' in text
    assert "footnote_documents 4.0" in text


def test_a_key_revoked_by_another_process_is_refused_immediately(line, key):
    with serving(line) as (_, url):
        assert wait_for_response(f"{url}/library", key).status_code == 200
        key_id = line.run("api-key", "list").stdout.splitlines()[1].split()[0]
        line.run("api-key", "revoke", key_id)
        assert wait_for_response(f"{url}/library", key).status_code == 401


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_server_quickly_and_silently(line, key, number):
    with serving(line) as (process, url):
        assert wait_for_response(f"{url}/health", {}).status_code == 200
        start = time.monotonic()
        process.send_signal(number)
        assert process.wait(WAIT_S) == 130
        assert time.monotonic() - start < 10
        assert process.stderr.read() == ""


@pytest.mark.parametrize("timing", [{"pause_s": 0.3}, {"delay_s": 30}])
def test_sigterm_stops_the_server_while_an_answer_is_written(
    line, key, imported, model_server, timing
):
    imported()
    model_server.will(Text("one two three " * 200, **timing))
    settings = {"OPENAI_BASE_URL": model_server.url, "FOOTNOTE_CHAT_MODEL": MODEL}
    with serving(line, **settings) as (process, url):
        assert wait_for_response(f"{url}/health", {}).status_code == 200
        question = {"question": "How many days of leave are there?"}
        request = httpx.stream(
            "POST", f"{url}/ask/stream", headers=key, json=question, timeout=WAIT_S
        )
        with request as response, suppress(httpx.RemoteProtocolError):
            lines = response.iter_lines()
            assert next(lines).startswith("event:")
            start = time.monotonic()
            process.send_signal(signal.SIGTERM)
            for _ in lines:
                pass
        assert process.wait(WAIT_S) == 130
        assert time.monotonic() - start < 15


def test_the_server_says_that_no_key_exists_yet(line):
    with serving(line) as (process, _):
        assert "api-key create" in process.stdout.readline()


def test_a_port_in_use_is_reported(line):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        error = line.run("api", "--port", port, code=1).stderr
    assert f"port {port}" in error
    assert "--port" in error


def test_help_does_not_start_a_server(line):
    assert "performed by `serve` or `worker`" in line.run("api", "--help").stdout


def test_processes_share_a_port_and_a_dead_one_is_restarted(line, key):
    with serving(line, "--processes", "2") as (process, url):
        first = wait_for_processes(process, url, key, 2)
        os.kill(min(first), signal.SIGKILL)
        until(lambda: len(children_of(process.pid)) == 2 and children_of(process.pid) != first)
        assert wait_for_response(f"{url}/library", key).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 130
        until(lambda: not children_of(process.pid))


def wait_for_processes(process, url, key, n):
    """Ids of the server's processes, after requests on separate connections."""
    until(lambda: len(children_of(process.pid)) == n)
    for _ in range(20):  # the system distributes connections by port
        assert wait_for_response(f"{url}/library", key).status_code == 200
    return children_of(process.pid)


def children_of(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return {int(child) for child in children.read_text().split()} if children.exists() else set()


def until(condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "the condition was never met"
        time.sleep(0.05)


@pytest.mark.parametrize(("length", "status"), [(20_000, 422), (200_000, 422), (500_000, 414)])
def test_a_query_string_of_any_length_returns_a_problem(line, key, tmp_path, length, status):
    # The tests' packages contain httptools, which uvicorn prefers to its own parser.
    (tmp_path / "httptools.py").write_text("raise ImportError", encoding="utf-8")
    with served("api", line, PYTHONPATH=str(tmp_path)) as server:
        headers = ("Host: localhost", f"Authorization: {key['Authorization']}")
        answer = server.ask(*headers, path=f"/api/v1/documents?words={'x' * length}")
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
