"""The wire format between an OpenAI client and the loopback server, byte for byte."""

import base64
import hashlib
import json
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

DIMENSION = 8

CHAT_FIELDS = {
    "model", "messages", "stream", "stream_options", "temperature",
    "max_tokens", "max_completion_tokens", "stop", "tools", "tool_choice", "parallel_tool_calls",
    "response_format",
}  # fmt: skip
EMBEDDING_FIELDS = {"model", "input", "encoding_format", "dimensions"}


@dataclass(frozen=True)
class Text:
    """A reply in pieces; `Text("one ", "two")`.

    `finish_reason=None` omits it from an otherwise complete stream; `break_after=n` drops the
    connection after n pieces; `pause_s` is the delay before each piece, `delay_s` before the
    first byte.
    """

    pieces: tuple[str, ...]
    finish_reason: str | None = "stop"
    break_after: int | None = None
    pause_s: float = 0
    delay_s: float = 0
    prompt_tokens: int = 11
    completion_tokens: int = 7
    status: int = 200

    def __init__(self, *pieces: str, **settings) -> None:
        object.__setattr__(self, "pieces", pieces)
        for name, value in settings.items():
            if name not in self.__dataclass_fields__:
                raise TypeError(f"Text has no {name}")
            object.__setattr__(self, name, value)

    def deltas(self) -> Iterator[dict]:
        """The streamed deltas of the message, after its role."""
        return ({"content": piece} for piece in self.pieces)

    def message(self) -> dict:
        """The whole message."""
        return {"role": "assistant", "content": "".join(self.pieces)}


class Reasoned(Text):
    """A reply after reasoning in a field of its own: `Reasoned("Hm, ", "so.", text="25 days.")`.

    The name of the field differs between servers: reasoning_content or reasoning.
    """

    reasoning: tuple[str, ...]
    name: str

    def __init__(self, *reasoning: str, text: str, name: str = "reasoning_content") -> None:
        super().__init__(*([text] if text else []))
        object.__setattr__(self, "reasoning", reasoning)
        object.__setattr__(self, "name", name)

    def deltas(self) -> Iterator[dict]:
        yield from ({"content": "", self.name: piece} for piece in self.reasoning)
        yield from super().deltas()

    def message(self) -> dict:
        return {**super().message(), self.name: "".join(self.reasoning)}


class Held(Text):
    """A reply that pauses after its first piece until it is released."""

    released: threading.Event

    def __init__(self, *pieces: str) -> None:
        super().__init__(*pieces)
        object.__setattr__(self, "released", threading.Event())

    def deltas(self) -> Iterator[dict]:
        first, *others = super().deltas()
        yield first
        self.released.wait()
        yield from others


MANY = 100_000
"""Repetitions in an endless reply: beyond any limit, but the test still ends."""
BETWEEN_NUMBERS = 40


class Endless(Text):
    """A stream that repeats one delta beyond any requested length: `Endless(content="word ")`.

    `once` precedes it. Unless it `loops`, a number follows every `BETWEEN_NUMBERS` pieces of
    content, so that the text is not an endless repetition.
    """

    once: tuple[dict, ...]
    delta: dict
    loops: bool

    def __init__(self, *once: dict, pause_s: float = 0, loops: bool = False, **delta) -> None:
        super().__init__(pause_s=pause_s)
        object.__setattr__(self, "once", once)
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "loops", loops)

    def deltas(self) -> Iterator[dict]:
        return chain(self.once, map(self._delta, range(1, MANY)))

    def _delta(self, n: int) -> dict:
        if self.loops or n % BETWEEN_NUMBERS or not self.delta.get("content"):
            return self.delta
        return {**self.delta, "content": f"{self.delta['content']}{n} "}


class EndlessBytes(Text):
    """A response that repeats bytes without sending an event, or an error page."""

    data: bytes

    def __init__(self, data: bytes, **settings) -> None:
        super().__init__(**settings)
        object.__setattr__(self, "data", data)


@dataclass(frozen=True)
class Fault:
    """An HTTP error in OpenAI's format."""

    status: int
    message: str = "scripted fault"
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Raw:
    """Any body, for responses outside the protocol."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True)
class Vectors:
    """Fixed vectors of an embeddings reply, whatever the request."""

    rows: tuple[tuple[float, ...], ...]


Reply = Text | Fault | Raw | Vectors


@dataclass(frozen=True)
class RecordedRequest:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """The deterministic vector of a text: representable in float32, not normalized."""
    digest = hashlib.shake_128(text.encode()).digest(dimension)
    return [(byte - 127) / 16 for byte in digest]


def wrong_chat(body: dict) -> str | None:
    unknown = set(body) - CHAT_FIELDS
    if unknown:
        return f"chat/completions knows no {', '.join(sorted(unknown))}"
    if not isinstance(body.get("model"), str) or not body.get("messages"):
        return "chat/completions needs a model and messages"
    for message in body["messages"]:
        if message.get("role") not in {"system", "developer", "user", "assistant", "tool"}:
            return f"no such role: {message.get('role')!r}"
        if message.get("content") is None and not message.get("tool_calls"):
            return f"a {message['role']} message without content"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options without stream"
    return None


def unsupported_message(field: str) -> str:
    other = {"max_tokens": "max_completion_tokens"}.get(field)
    return f"Unsupported parameter: {field!r}." + (f" Use {other!r} instead." if other else "")


def wrong_embedding(body: dict) -> str | None:
    unknown = set(body) - EMBEDDING_FIELDS
    if unknown:
        return f"embeddings knows no {', '.join(sorted(unknown))}"
    texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
    if not texts or not all(isinstance(text, str) and text for text in texts):
        return f"input must be texts that are not empty, not {str(texts)[:80]}"
    if body.get("encoding_format", "float") not in {"float", "base64"}:
        return f"no such encoding_format: {body['encoding_format']!r}"
    return None


def embedding_reply(model: str, rows: Sequence[Sequence[float]], as_base64: bool) -> dict:
    def shape(row: Sequence[float]):
        packed = struct.pack(f"<{len(row)}f", *row)
        return base64.b64encode(packed).decode() if as_base64 else list(row)

    data = [
        {"object": "embedding", "index": n, "embedding": shape(row)} for n, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
    return {"object": "list", "model": model, "data": data, "usage": usage}


def usage(reply: Text) -> dict[str, int]:
    total = reply.prompt_tokens + reply.completion_tokens
    return {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": total,
    }


def events(reply: Text, body: dict) -> Iterator[bytes]:
    """The server-sent events: role, pieces, finish, usage if requested, [DONE]."""
    if isinstance(reply, EndlessBytes):
        yield from repeat(reply.data, MANY)
        return

    def event(choices: list[dict], **more) -> bytes:
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0}
        value = {**base, "model": body["model"], "choices": choices, **more}
        return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode(
            errors="backslashreplace"
        )

    def choice(delta: dict, finish_reason: str | None = None) -> list[dict]:
        return [{"index": 0, "delta": delta, "finish_reason": finish_reason}]

    yield event(choice({"role": "assistant", "content": ""}))
    for delta in reply.deltas():
        yield event(choice(delta))
    if reply.finish_reason:
        yield event(choice({}, reply.finish_reason))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield event([], usage=usage(reply))
    yield b"data: [DONE]\n\n"
