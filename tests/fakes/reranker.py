"""A strict /rerank server for Cohere's and Jina's protocol on loopback, with scripted replies."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fakes.server_thread import serving_in_thread

FIELDS = {"model": str, "query": str, "documents": list, "top_n": int}


@dataclass
class Reply:
    """Exact bytes; `hangs` sends nothing, or `drips` endlessly, until the test ends."""

    body: bytes | str | dict = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    drips: bool = False
    breaks: bool = False


@dataclass
class RerankServer:
    """Plays the script, and then scores passages by the words they share with the query."""

    url: str = ""
    key: str | None = None
    script: deque[Reply] = field(default_factory=deque)
    bodies: list[dict] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def will(self, *replies: Reply) -> None:
        self.script.extend(replies)


@contextmanager
def reranking() -> Iterator[RerankServer]:
    """The server until the end of the block; fails if a request violated the protocol."""
    state = RerankServer()
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"state": state}))
    http.daemon_threads = True
    http.block_on_close = False
    state.url = f"http://127.0.0.1:{http.server_address[1]}/v2/rerank"
    with serving_in_thread(http):
        try:
            yield state
        finally:
            state.over.set()
    assert not state.violations, "\n".join(state.violations)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: RerankServer

    def log_message(self, *_) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionResetError):  # a client that disconnects midway
            super().handle()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.state.bodies.append(body)
        key = self.headers.get("authorization")
        self.state.keys.append(key)
        wrong = self._wrong(body)
        if wrong:
            self.state.violations.append(wrong)
            self._send(Reply(wrong, 422))
        elif self.state.key and key != f"Bearer {self.state.key}":
            self._send(Reply(f"invalid key {key}", 401))
        else:
            self._send(self.state.script.popleft() if self.state.script else scored(body))

    def _wrong(self, body: dict) -> str:
        if self.path != "/v2/rerank":
            return f"{self.path}: no such address"
        if {name: type(value) for name, value in body.items()} != FIELDS:
            return f"fields {body.keys()}"
        if not body["documents"] or not all(isinstance(text, str) for text in body["documents"]):
            return "documents must be texts"
        return "" if 1 <= body["top_n"] <= len(body["documents"]) else f"top_n {body['top_n']}"

    def _send(self, reply: Reply) -> None:
        if reply.hangs:
            self.state.over.wait()
            return
        body = json.dumps(reply.body) if isinstance(reply.body, dict) else reply.body
        content = body.encode() if isinstance(body, str) else body
        self.close_connection = reply.drips or reply.breaks
        length = 10**9 if self.close_connection else len(content)
        self.send_response(reply.status)
        for name, value in ({"Content-Length": str(length)} | reply.headers).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(content)
            while reply.drips and not self.state.over.wait(0.01):
                self.wfile.write(b" ")
        except OSError:  # the client has disconnected
            return


def scored(body: dict) -> Reply:
    """Best first, as on real servers, with an extra field."""
    query = set(body["query"].split())
    scores = [len(query & set(text.split())) / 10 for text in body["documents"]]
    order = sorted(range(len(scores)), key=lambda place: -scores[place])[: body["top_n"]]
    results = [{"index": place, "relevance_score": scores[place], "x": 1} for place in order]
    return Reply({"id": "1", "results": results, "meta": {}})
