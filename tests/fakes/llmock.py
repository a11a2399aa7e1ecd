"""llmock, a third-party OpenAI-compatible server, in a subprocess."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers import free_port

START_S = 40


class Llmock:
    """The running server: scripts replies and returns requests and its findings about them."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.url = f"{self.root}/v1"

    def call(self, path: str, body: dict | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.root}{path}", data)
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response)

    def reset(self) -> None:
        self.call("/_llmock/reset", {})

    def script(self, *behaviors: dict, **behavior: Any) -> None:
        all_behaviors = list(behaviors) + ([behavior] if behavior else [])
        self.call("/_llmock/scenario", {"behaviors": all_behaviors})

    def requests(self) -> list[dict]:
        return self.call("/_llmock/requests")["requests"]

    def findings(self) -> set[str]:
        return {finding["code"] for finding in self.call("/_llmock/verdict")["findings"]}


@contextmanager
def serving() -> Iterator[Llmock]:
    """The server until the end of the block."""
    port = free_port()
    command = Path(sys.executable).parent / "llmock"
    server = subprocess.Popen(
        [command, "serve", "-h", "127.0.0.1", "-p", str(port), "--log-level", "error"]
    )
    try:
        running = Llmock(port)
        _wait_until_up(running)
        yield running
    finally:
        server.terminate()
        server.wait(timeout=10)


def _wait_until_up(running: Llmock) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            running.call("/health")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"llmock was not up after {START_S} s")
