"""Clients that ask over server-sent events, each one question after another."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx

TIMEOUT_S = 60
_TOKEN = re.compile(rb"event: token\r\ndata: (.*)\r\n")
_END = b"event: end\r\n"
_OVERLAP = len(_END)


def ask_for(
    url: str, secret: str, questions: Sequence[str], clients: int, seconds: float
) -> dict[str, Any]:
    """Results of clients that start together and run for `seconds`.

    Returns:
        `added`: for each answer (seconds since the start, milliseconds to its first token minus
        those that the model took); `failed`: counts by error.
    """
    return asyncio.run(_ask_for(url, secret, questions, clients, seconds))


async def _ask_for(
    url: str, secret: str, questions: Sequence[str], clients: int, seconds: float
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {secret}"}
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=TIMEOUT_S, limits=limits
    ) as http:
        crowd = _Crowd(http, questions)
        # An uncounted warm-up: loading on first use is a separate matter.
        await crowd.ask_for(clients, 0)
        crowd.added.clear()
        await crowd.ask_for(clients, seconds)
    return {"added": crowd.added, "failed": dict(crowd.failed)}


class _Crowd:
    def __init__(self, http: httpx.AsyncClient, questions: Sequence[str]) -> None:
        self._http = http
        self._questions = questions
        self._began = 0.0
        self.added: list[tuple[float, float]] = []
        self.failed: Counter[str] = Counter()

    async def ask_for(self, clients: int, seconds: float) -> None:
        """Ask with clients that start together; each asks at least once."""
        self._began = time.monotonic()
        await asyncio.gather(*(self._keep_asking(n, seconds) for n in range(clients)))

    async def _keep_asking(self, n: int, seconds: float) -> None:
        """Ask until the time is up; the last answer is read to its end."""
        while True:
            try:
                await self._ask(self._questions[n % len(self._questions)])
            except (httpx.HTTPError, ValueError) as error:
                self.failed[f"{type(error).__name__}: {error}"[:100]] += 1
            if time.monotonic() - self._began >= seconds:
                return
            n += 7

    async def _ask(self, question: str) -> None:
        start, first, came, ended = time.monotonic(), None, b"", False
        body = {"question": question}
        async with self._http.stream("POST", "/api/v1/ask/stream", json=body) as answer:
            answer.raise_for_status()
            async for piece in answer.aiter_raw():
                # Events are not parsed: the clients share the machine with the API.
                came = came[-_OVERLAP:] + piece if first else came + piece
                if first is None and (token := _TOKEN.search(came)):
                    first = time.monotonic()
                    by_model = float(json.loads(token[1])["text"].split()[0])
                    added = (first - start) * 1000 - by_model
                    self.added.append((start - self._began, added))
                ended = _END in came or ended
        if first is None or not ended:
            raise ValueError(f"the answer did not end: {came[-_OVERLAP:]!r}")
