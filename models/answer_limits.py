"""How much a chat model may write and for how long, whatever its server makes of the request."""

import math
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2

from domain import LENGTH_LIMIT, TIME_LIMIT

T = TypeVar("T")
R = TypeVar("R")
Hooks = dict[str, list[Callable[..., Any]]]

CHARS_PER_TOKEN = 8
"""More than the tokens of any language average, so that no answer within its tokens is cut."""
BYTES_PER_TOKEN = 1024
"""A token comes in an event of its own, of 200 to 600 bytes on the servers in use."""
BYTES_BESIDE = 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
"""Of one response where the number of tokens has no limit."""
ERROR_BYTES = 64 * 1024
LEAST_WAIT_S = 0.001

_deadline: ContextVar[float] = ContextVar("answer_deadline", default=math.inf)


class AnswerCutError(Exception):
    """Reading a response ended at a limit; `reason` is LENGTH_LIMIT or TIME_LIMIT."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class AnswerLimits:
    """The limits of one call of a chat model.

    `max_tokens` is None where only the server limits the length. `seconds` count from the request;
    inside `within_time` a call also ends with the time of the whole answer.
    """

    max_tokens: int | None = None
    seconds: float = 300

    @property
    def max_chars(self) -> float:
        """The most characters of an answer; infinite without a limit."""
        return math.inf if self.max_tokens is None else self.max_tokens * CHARS_PER_TOKEN

    @property
    def max_bytes(self) -> int:
        """The most bytes of a response as it is sent."""
        if self.max_tokens is None:
            return MOST_BYTES
        return BYTES_BESIDE + self.max_tokens * BYTES_PER_TOKEN

    def deadline(self) -> float:
        """When a call that begins now has to be over, on the monotonic clock."""
        return min(_deadline.get(), time.monotonic() + self.seconds)


def within_time(work: Generator[T, None, R], seconds: float) -> Generator[T, None, R]:
    """What `work` gives; all calls of chat models in it share that time, which begins now.

    Of two such limits, one inside the other, the nearer one counts.
    """
    context = copy_context()
    context.run(_deadline.set, AnswerLimits(seconds=seconds).deadline())
    try:
        while True:
            try:
                item = context.run(next, work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]  # of a generator that gives an R
            yield item
    finally:
        context.run(work.close)


class LimitedHttp:
    """Ends the responses of an HTTP client at the limits, by hooks of the client.

    They see what no piece of an answer shows: comments that keep a connection alive, a line that
    never ends, an endless error page.
    """

    def __init__(self, limits: AnswerLimits) -> None:
        self._limits = limits

    @property
    def hooks(self) -> Hooks:
        """Those of a `httpx2.Client`."""
        return {"request": [self._limit_request], "response": [self._limit_response]}

    @property
    def async_hooks(self) -> Hooks:
        """Those of a `httpx2.AsyncClient`."""
        return {"request": [self._limit_request_async], "response": [self._limit_response_async]}

    def _limit_request(self, request: httpx2.Request) -> None:
        """Wait no longer for anything than the answer may take."""
        left = max(self._limits.deadline() - time.monotonic(), LEAST_WAIT_S)
        waits = request.extensions["timeout"]
        for step, seconds in waits.items():
            waits[step] = left if seconds is None else min(seconds, left)

    def _limit_response(self, response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101
        response.stream = _LimitedStream(response.stream, self._meter(response))

    async def _limit_request_async(self, request: httpx2.Request) -> None:
        self._limit_request(request)

    async def _limit_response_async(self, response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101
        response.stream = _LimitedAsyncStream(response.stream, self._meter(response))

    def _meter(self, response: httpx2.Response) -> "_Meter":
        most = ERROR_BYTES if response.is_error else self._limits.max_bytes
        return _Meter(most, self._limits.deadline(), shortens=response.is_error)


@dataclass
class _Meter:
    """Counts the bytes of one response; of an error message the beginning is enough."""

    most_bytes: int
    deadline: float
    shortens: bool
    read: int = 0

    def goes_on(self, data: bytes) -> bool:
        """Whether more may be read after this.

        Raises:
            AnswerCutError: No more may, and an end would be taken for the answer's own.
        """
        self.read += len(data)
        is_late = time.monotonic() > self.deadline
        if not is_late and self.read <= self.most_bytes:
            return True
        if not self.shortens:
            raise AnswerCutError(TIME_LIMIT if is_late else LENGTH_LIMIT)
        return False


class _LimitedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, meter: _Meter) -> None:
        self._stream = stream
        self._meter = meter

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            goes_on = self._meter.goes_on(data)
            yield data
            if not goes_on:
                return

    def close(self) -> None:
        self._stream.close()


class _LimitedAsyncStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, meter: _Meter) -> None:
        self._stream = stream
        self._meter = meter

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            goes_on = self._meter.goes_on(data)
            yield data
            if not goes_on:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()
