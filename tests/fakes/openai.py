"""A strict OpenAI-compatible server on loopback with exact bytes, scripted replies, and faults."""

import json
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fakes.openai_script import EMBEDDING_MODEL, MODEL, OpenAIServer
from tests.fakes.openai_wire import (
    DIMENSION,
    Endless,
    EndlessBytes,
    Fault,
    Held,
    Raw,
    Reasoned,
    RecordedRequest,
    Reply,
    Text,
    Vectors,
    embedding_reply,
    events,
    unsupported_message,
    usage,
    vector_of,
    wrong_chat,
    wrong_embedding,
)
from tests.fakes.response_formats import wrong_format
from tests.fakes.server_thread import serving_in_thread
from tests.fakes.tool_calls import Call, ToolCalls, wrong_tools

__all__ = [
    "EMBEDDING_MODEL",
    "MODEL",
    "Call",
    "Endless",
    "EndlessBytes",
    "Fault",
    "Held",
    "OpenAIServer",
    "Raw",
    "Reasoned",
    "RecordedRequest",
    "Text",
    "ToolCalls",
    "Vectors",
    "serving",
    "vector_of",
]


@contextmanager
def serving() -> Iterator[OpenAIServer]:
    """The server until the end of the block; fails if a request violated the protocol."""
    script = OpenAIServer()
    http = _Http(("127.0.0.1", 0), _Handler)
    http.script = script
    script.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    with serving_in_thread(http):
        yield script
    script.check()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    script: OpenAIServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, *_) -> None:
        pass

    def do_GET(self) -> None:
        self._handle({"/v1/models": self._models})

    def do_POST(self) -> None:
        self._handle({"/v1/chat/completions": self._chat, "/v1/embeddings": self._embed})

    def _handle(self, routes) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw) if raw else {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.script.requests.append(RecordedRequest(self.command, self.path, headers, body))
        if self.path not in routes:
            self._violation(f"{self.command} {self.path}: no such address", 404)
        elif self._has_wrong_key(headers):
            self._fault(Fault(401, f"Incorrect API key provided: {headers.get('authorization')}"))
        else:
            routes[self.path](body)

    def _has_wrong_key(self, headers: dict[str, str]) -> bool:
        key = self.server.script.api_key
        return key is not None and headers.get("authorization") != f"Bearer {key}"

    def _models(self, _body: dict) -> None:
        if self.server.script.listing:
            self._send_other(self.server.script.listing.popleft())
            return
        common_fields = {"object": "model", "created": 0, "owned_by": "test"}
        data = [{"id": name, **common_fields} for name in self.server.script.models]
        self._json({"object": "list", "data": data})

    def _chat(self, body: dict) -> None:
        wrong = wrong_chat(body) or wrong_tools(body) or wrong_format(body)
        if wrong:
            self._violation(wrong)
            return
        if refused := self.server.script.refused & set(body):
            self._fault(Fault(400, unsupported_message(*refused)))
            return
        reply = self._next(self.server.script.chat, body)
        if isinstance(reply, Text):
            time.sleep(reply.delay_s)
            streams = body.get("stream") or isinstance(reply, EndlessBytes)
            (self._stream if streams else self._complete)(reply, body)
        elif reply:
            self._send_other(reply)

    def _embed(self, body: dict) -> None:
        wrong = wrong_embedding(body)
        if wrong:
            self._violation(wrong)
            return
        script = self.server.script
        reply = script.embeddings.popleft() if script.embeddings else None
        if reply is not None and not isinstance(reply, Vectors):
            self._send_other(reply)
            return
        dimension = body.get("dimensions", DIMENSION)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if script.blocked_text and any(script.blocked_text in text for text in texts):
            script.is_blocking.set()
            script.released.wait()
        rows = reply.rows if reply else [vector_of(text, dimension) for text in texts]
        as_base64 = body.get("encoding_format") == "base64"
        self._json(embedding_reply(body["model"], rows, as_base64))

    def _next(self, script: deque[Reply], body: dict) -> Reply | None:
        if script:
            return script.popleft()
        if self.server.script.answer:
            return self.server.script.answer(body)
        self._violation("a request that no reply was scripted for")
        return None

    def _complete(self, reply: Text, body: dict) -> None:
        choice = {"index": 0, "message": reply.message(), "finish_reason": reply.finish_reason}
        base = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
        self._json({**base, "model": body["model"], "choices": [choice], "usage": usage(reply)})

    def _stream(self, reply: Text, body: dict) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        # Otherwise the client may reuse a closing connection.
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for number, event in enumerate(events(reply, body)):
                # The role precedes the content.
                if reply.break_after is not None and number > reply.break_after:
                    return
                time.sleep(reply.pause_s)
                self._chunk(event)
            self._chunk(b"")
        except (BrokenPipeError, ConnectionResetError):
            self.server.script.hung_up.set()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _send_other(self, reply: Reply) -> None:
        if isinstance(reply, Fault):
            self._fault(reply)
        elif isinstance(reply, Raw):
            self._bytes(reply.body, reply.status, {"Content-Type": reply.content_type})

    def _violation(self, message: str, status: int = 400) -> None:
        self.server.script.violations.append(message)
        self._fault(Fault(status, message))

    def _fault(self, fault: Fault) -> None:
        error = {"message": fault.message, "type": "error", "param": None, "code": fault.code}
        headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
        self._json({"error": error}, fault.status, headers)

    def _json(self, value: dict, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value, ensure_ascii=False).encode()
        self._bytes(data, status, {"Content-Type": "application/json", **(headers or {})})

    def _bytes(self, data: bytes, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):  # the client has disconnected
            self.server.script.hung_up.set()
