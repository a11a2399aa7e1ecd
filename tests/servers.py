"""Footnote's servers in subprocesses, and raw requests to them."""

import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass

from storage.ledger.database import open_database
from storage.ledger.import_queue_store import ImportRuns
from tests.fakes.command_line import ROOT
from tests.opensearch.home import free_ports

START_S = 120
ANSWER_S = 30
UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


@dataclass(frozen=True)
class Server:
    """A running server; `path` is a path that it serves, `health` the path of its health check."""

    port: int
    path: str
    health: str
    address: str
    pid: int

    def ask(self, *headers, method="GET", path=""):
        """The raw response to a request with exactly these header lines."""
        lines = [f"{method} {path or self.path} HTTP/1.1", *headers]
        if not any(line.startswith("Connection") for line in headers):
            lines.append("Connection: close")
        with socket.create_connection((self.address, self.port), timeout=ANSWER_S) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            return _read(connection)

    def connect(self, *headers):
        """The raw response to a WebSocket handshake like the one the pages send."""
        return self.ask(*headers, *UPGRADE, path="/_stcore/stream")


def _read(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        assert more, "the server closed the connection without an answer"
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    status = int(first.split()[1])
    while status != 101 and (more := connection.recv(65536)):
        body += more
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): text for name, _, text in pairs}
    return Answer(status, headers, body.decode("utf-8", "replace"))


def pages_command(port, *options):
    return [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", *options]


@contextmanager
def served(kind, line, *options, address="127.0.0.1", **settings):
    """Run `pages`, `serve`, `api`, or `mcp` until the end of the block."""
    port = free_port()
    commands = {
        "pages": pages_command(port, *options),
        "serve": line.command("serve", "--port", port, *options),
        "api": line.command("api", "--port", port, *options),
        "mcp": line.command("mcp", "--http", "--port", port, *options),
    }
    paths = {"api": ("/api/v1/openapi.json", "/api/v1/health"), "mcp": ("/mcp", "/mcp")}
    path, health = paths.get(kind, ("/", "/_stcore/health"))
    with subprocess.Popen(commands[kind], cwd=ROOT, env=line.environ(**settings)) as process:
        server = Server(port, path, health, address, process.pid)
        try:
            _wait_until_listening(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(ANSWER_S)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for_imports(data_dir, timeout_s=START_S):
    """Wait until the worker has performed all queued imports, such as that of the samples."""
    runs, deadline = ImportRuns(open_database(data_dir)), time.monotonic() + timeout_s
    while runs.current():
        assert time.monotonic() < deadline, f"the imports did not end within {timeout_s} s"
        time.sleep(0.1)


def free_port():
    """A port on which no server listens; the caller's server binds it seconds later."""
    return free_ports([None])[0]


def _wait_until_listening(server, process):
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the server exited with code {process.returncode}"
        try:
            socket.create_connection((server.address, server.port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"the server did not listen within {START_S} s")
