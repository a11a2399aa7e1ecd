"""A scripted chat model that answers at a set speed and reports its delays.

    python -m benchmarks.api_model PORT FIRST_S GAP_S TOKENS

It supports streaming chat completions of OpenAI's protocol. The first token of each answer is the
number of milliseconds between the request and that token, so the rest of the delay can be
computed by subtraction even if the model was late. Answers have random lengths from half to one
and a half times TOKENS; equal lengths would keep all clients synchronized.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import uvicorn

Message = dict[str, Any]


class ScriptedModel:
    """The ASGI application; about `tokens` words, `gap_s` seconds apart."""

    def __init__(self, first_s: float, gap_s: float, tokens: int) -> None:
        self._first_s = first_s
        self._gap_s = gap_s
        self._tokens = tokens
        self._random = random.Random(7)
        # Built once, since this program shares the machine with the API.
        self._words = [_chunk({"content": f"word{n} "}) for n in range(1, 2 * tokens)]

    async def __call__(  # noqa: D102  # of any ASGI application
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http":
            return
        start = time.monotonic()
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await asyncio.sleep(self._first_s)
        for piece in self._pieces(start):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(self._gap_s)
        ended = _chunk({}, "stop") + b"data: [DONE]\n\n"
        await send({"type": "http.response.body", "body": ended})

    def _pieces(self, start: float) -> Iterator[bytes]:
        milliseconds = (time.monotonic() - start) * 1000
        yield _chunk({"role": "assistant", "content": f"{milliseconds:.1f} "})
        yield from self._words[: round(self._tokens * self._random.uniform(0.5, 1.5)) - 1]


def _chunk(delta: Message, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {"id": "scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return b"data: " + json.dumps(chunk | {"choices": [choice]}).encode() + b"\n\n"


if __name__ == "__main__":
    port, first_s, gap_s, tokens = sys.argv[1:]
    model = ScriptedModel(float(first_s), float(gap_s), int(tokens))
    uvicorn.run(model, host="127.0.0.1", port=int(port), log_level="error", lifespan="off")
