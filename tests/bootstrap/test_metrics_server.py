"""The pages and the worker serve their own metrics on loopback ports, if these are set."""

import http.client
import logging
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from bootstrap.metrics_server import serve_metrics
from domain.logs import PROGRAM
from tests.fakes.command_line import ROOT
from tests.servers import free_port


@pytest.fixture
def port():
    """The port of metrics of this process, which takes the role of a worker."""
    program = logging.getLogger(PROGRAM)
    handlers = list(program.handlers)
    port = free_port()
    serve_metrics("worker", port, "FOOTNOTE_WORKER_METRICS_PORT")
    yield port
    program.handlers[:] = handlers


def fetch(port, path="/metrics", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_metrics_say_what_the_process_is_and_count_its_runs(port):
    logging.getLogger(f"{PROGRAM}.imports").info(
        "import finished", extra={"fields": {"total_ms": 2000.0}}
    )
    status, text = fetch(port)
    assert status == 200
    assert 'footnote_process{role="worker"} 1.0' in text
    assert re.search(r'footnote_ended_runs_total{kind="import",state="finished"} [1-9]', text)
    assert re.search(r'footnote_run_seconds_sum{kind="import"} \d*[2-9]', text)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": ""}, 400),
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "localhost"}, 200),
    ],
)
def test_web_pages_and_other_hosts_are_refused(port, headers, status):
    assert fetch(port, **headers)[0] == status


def test_other_addresses_and_methods_are_refused(port):
    assert fetch(port, "/")[0] == 404
    assert fetch(port, method="POST")[0] == 405


def test_a_port_that_is_not_available_is_named_with_its_setting(port, caplog):
    serve_metrics("pages", port, "FOOTNOTE_PAGES_METRICS_PORT")
    [message] = [one.getMessage() for one in caplog.records]
    assert str(port) in message
    assert "FOOTNOTE_PAGES_METRICS_PORT" in message


@contextmanager
def running(*command, **environment):
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=os.environ | environment, stderr=subprocess.PIPE
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def metrics_of(process, port):
    """The metrics as soon as the process serves them."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"no metrics: {process.poll()}")


@pytest.mark.slow
def test_serve_has_metrics_of_the_pages_and_of_the_worker(tmp_path):
    pages, worker = free_port(), free_port()
    ports = {
        "FOOTNOTE_PAGES_METRICS_PORT": str(pages),
        "FOOTNOTE_WORKER_METRICS_PORT": str(worker),
    }
    data = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data")}
    with running("cli.py", "serve", "--port", str(free_port()), **data, **ports) as process:
        assert b'footnote_process{role="pages"} 1.0' in metrics_of(process, pages)
        assert b'footnote_process{role="worker"} 1.0' in metrics_of(process, worker)
