"""A server that is not OpenSearch: it answers with what a test prescribes."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from storage.opensearch.connection import SearchServer, connect

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

Replies = Mapping[str, tuple[int, bytes]]
"""Status and body by path."""

POLL_S = 0.02
"""How often the server looks whether it should stop; a test waits that long at its end."""


class Answers:
    """The server; `requests` has the methods and paths of all requests so far."""

    def __init__(self, replies: Replies, *, delay_s: float = 0, missing_bytes: int = 0) -> None:
        """Send these replies, and 404 for other paths.

        Args:
            replies: The replies.
            delay_s: The pause before each reply.
            missing_bytes: The number of bytes that each body lacks at its end.
        """
        self.replies = replies
        self.delay_s = delay_s
        self.missing_bytes = missing_bytes
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_S,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answers = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                answers.requests.append(f"{self.command} {path}")
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                time.sleep(answers.delay_s)
                with suppress(ConnectionError):  # the client may have given up
                    self._reply(*answers.replies.get(path, (404, b"{}")))

            def _reply(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body[: len(body) - answers.missing_bytes])

            do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

            def log_message(self, *_arguments: object) -> None:
                pass

        return Handler


@contextmanager
def answering(replies: Replies) -> Iterator["OpenSearch"]:
    """The product's client of a server with these replies."""
    with running(Answers(replies)) as server:
        yield connect(SearchServer((server.url,), timeout_s=2))


@contextmanager
def running(server: Answers) -> Iterator[Answers]:
    server.start()
    try:
        yield server
    finally:
        server.stop()


def described(
    number: str,
    distribution: str | None = "opensearch",
    plugins: tuple[str, ...] = ("opensearch-knn",),
) -> Replies:
    """The replies of a server of this version with these plugins."""
    version = {"number": number} | ({"distribution": distribution} if distribution else {})
    listed = [{"name": "node-1", "component": name} for name in plugins]
    return {
        "/": (200, json.dumps({"version": version}).encode()),
        "/_cat/plugins": (200, json.dumps(listed).encode()),
    }
