"""A strict OpenAI-compatible server on loopback: exact bytes, scripted replies and faults."""

import base64
import hashlib
import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "test-chat"
EMBEDDING_MODEL = "test-embedding"
DIMENSION = 8

CHAT_FIELDS = {
    "model", "messages", "stream", "stream_options", "temperature",
    "max_tokens", "max_completion_tokens", "stop", "tools", "tool_choice",
}  # fmt: skip
EMBEDDING_FIELDS = {"model", "input", "encoding_format", "dimensions"}


@dataclass(frozen=True)
class Text:
    """A reply in pieces; `Text("one ", "two")`.

    `finish_reason=None` leaves it out of a stream that otherwise ends well; `break_after=n`
    drops the connection after n pieces; `pause_s` passes before each piece, `delay_s` before
    the first byte.
    """

    pieces: tuple[str, ...]
    finish_reason: str | None = "stop"
    break_after: int | None = None
    pause_s: float = 0
    delay_s: float = 0
    prompt_tokens: int = 11
    completion_tokens: int = 7

    def __init__(self, *pieces: str, **settings) -> None:
        object.__setattr__(self, "pieces", pieces)
        for name, value in settings.items():
            if name not in self.__dataclass_fields__:
                raise TypeError(f"Text has no {name}")
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Fault:
    """An HTTP error as OpenAI words it."""

    status: int
    message: str = "scripted fault"
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Raw:
    """Any body, for what is not the protocol at all."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True)
class Vectors:
    """Vectors of an embeddings reply, whatever was asked."""

    rows: tuple[tuple[float, ...], ...]


Reply = Text | Fault | Raw | Vectors


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """The server's vector of a text: always the same, representable in float32, not unit."""
    digest = hashlib.shake_128(text.encode()).digest(dimension)
    return [(byte - 127) / 16 for byte in digest]


@dataclass
class OpenAIServer:
    """What the test scripts and reads. Replies are used up in order.

    `answer` makes the reply from the request's body once the script is used up; without it a
    request too many is a violation, as is everything the protocol doesn't know. With `api_key`
    set, a request without that key gets 401.
    """

    url: str = ""
    api_key: str | None = None
    answer: Callable[[dict], Reply] | None = None
    chat: deque[Reply] = field(default_factory=deque)
    embeddings: deque[Reply] = field(default_factory=deque)
    requests: list[Recorded] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client leaves before the end of a stream."""

    def will(self, *replies: Reply) -> None:
        self.chat.extend(replies)

    def will_embed(self, *replies: Reply) -> None:
        self.embeddings.extend(replies)

    def check(self) -> None:
        assert not self.violations, "\n".join(self.violations)


@contextmanager
def serving() -> Iterator[OpenAIServer]:
    """The server, until the end of the block, which fails if a request broke the protocol."""
    script = OpenAIServer()
    http = _Http(("127.0.0.1", 0), _Handler)
    http.script = script
    script.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
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
        self.server.script.requests.append(Recorded(self.command, self.path, headers, body))
        if self.path not in routes:
            self._violation(f"{self.command} {self.path}: no such address", 404)
        elif self._is_stranger(headers):
            self._fault(Fault(401, f"Incorrect API key provided: {headers.get('authorization')}"))
        else:
            routes[self.path](body)

    def _is_stranger(self, headers: dict[str, str]) -> bool:
        key = self.server.script.api_key
        return key is not None and headers.get("authorization") != f"Bearer {key}"

    def _models(self, _body: dict) -> None:
        ids = (MODEL, EMBEDDING_MODEL)
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in ids]
        self._json({"object": "list", "data": data})

    def _chat(self, body: dict) -> None:
        wrong = _wrong_chat(body)
        if wrong:
            self._violation(wrong)
            return
        reply = self._next(self.server.script.chat, body)
        if isinstance(reply, Text):
            time.sleep(reply.delay_s)
            (self._stream if body.get("stream") else self._complete)(reply, body)
        elif reply:
            self._send_other(reply)

    def _embed(self, body: dict) -> None:
        wrong = _wrong_embedding(body)
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
        rows = reply.rows if reply else [vector_of(text, dimension) for text in texts]
        as_base64 = body.get("encoding_format") == "base64"
        self._json(_embedding_reply(body["model"], rows, as_base64))

    def _next(self, script: deque[Reply], body: dict) -> Reply | None:
        if script:
            return script.popleft()
        if self.server.script.answer:
            return self.server.script.answer(body)
        self._violation("a request that no reply was scripted for")
        return None

    def _complete(self, reply: Text, body: dict) -> None:
        message = {"role": "assistant", "content": "".join(reply.pieces)}
        choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
        made = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
        self._json({**made, "model": body["model"], "choices": [choice], "usage": _usage(reply)})

    def _stream(self, reply: Text, body: dict) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        try:
            for number, event in enumerate(_events(reply, body)):
                # The role comes before the pieces.
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

    def _violation(self, what: str, status: int = 400) -> None:
        self.server.script.violations.append(what)
        self._fault(Fault(status, what))

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
        self.wfile.write(data)


def _wrong_chat(body: dict) -> str | None:
    unknown = set(body) - CHAT_FIELDS
    if unknown:
        return f"chat/completions knows no {', '.join(sorted(unknown))}"
    if not isinstance(body.get("model"), str) or not body.get("messages"):
        return "chat/completions needs a model and messages"
    for message in body["messages"]:
        if message.get("role") not in {"system", "developer", "user", "assistant", "tool"}:
            return f"no such role: {message.get('role')!r}"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options without stream"
    return None


def _wrong_embedding(body: dict) -> str | None:
    unknown = set(body) - EMBEDDING_FIELDS
    if unknown:
        return f"embeddings knows no {', '.join(sorted(unknown))}"
    texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
    if not texts or not all(isinstance(text, str) and text for text in texts):
        return f"input must be texts that are not empty, not {str(texts)[:80]}"
    if body.get("encoding_format", "float") not in {"float", "base64"}:
        return f"no such encoding_format: {body['encoding_format']!r}"
    return None


def _embedding_reply(model: str, rows: Sequence[Sequence[float]], as_base64: bool) -> dict:
    def shape(row: Sequence[float]):
        packed = struct.pack(f"<{len(row)}f", *row)
        return base64.b64encode(packed).decode() if as_base64 else list(row)

    data = [
        {"object": "embedding", "index": n, "embedding": shape(row)} for n, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
    return {"object": "list", "model": model, "data": data, "usage": usage}


def _usage(reply: Text) -> dict[str, int]:
    total = reply.prompt_tokens + reply.completion_tokens
    return {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": total,
    }


def _events(reply: Text, body: dict) -> Iterator[bytes]:
    """The server-sent events: role, pieces, finish, usage where asked for, [DONE]."""

    def event(choices: list[dict], **more) -> bytes:
        made = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0}
        value = {**made, "model": body["model"], "choices": choices, **more}
        return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()

    def choice(delta: dict, finish_reason: str | None = None) -> list[dict]:
        return [{"index": 0, "delta": delta, "finish_reason": finish_reason}]

    yield event(choice({"role": "assistant", "content": ""}))
    for piece in reply.pieces:
        yield event(choice({"content": piece}))
    if reply.finish_reason:
        yield event(choice({}, reply.finish_reason))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield event([], usage=_usage(reply))
    yield b"data: [DONE]\n\n"
