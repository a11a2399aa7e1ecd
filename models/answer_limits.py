"""Limits on the length and duration of a chat model's answer, enforced by the client."""

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import httpx2

from domain import LENGTH_LIMIT, TIME_LIMIT
from domain.logs import run_in_context

T = TypeVar("T")
R = TypeVar("R")
Hooks = dict[str, list[Callable[..., Any]]]

CHARS_PER_TOKEN = 8
"""Above the average of any language, so an answer within its token limit is never cut."""
BYTES_PER_TOKEN = 1024
"""Each token arrives in an event of 200 to 600 bytes on common servers."""
BYTES_BESIDE = 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
"""The limit of one response if the number of tokens is unlimited."""
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

    `max_tokens` is None if only the server limits the length. `seconds` are counted from the
    request; inside `within_time`, a call also ends when the time for the whole answer is up.
    """

    max_tokens: int | None = None
    seconds: float = 300

    @property
    def max_chars(self) -> float:
        """The maximum number of characters in an answer; infinite if there is no limit."""
        return math.inf if self.max_tokens is None else self.max_tokens * CHARS_PER_TOKEN

    @property
    def max_bytes(self) -> int:
        """The maximum size of a response in bytes, as sent."""
        if self.max_tokens is None:
            return MOST_BYTES
        return BYTES_BESIDE + self.max_tokens * BYTES_PER_TOKEN

    def deadline(self) -> float:
        """The deadline of a call that starts now, on the monotonic clock."""
        return min(_deadline.get(), time.monotonic() + self.seconds)


def within_time(work: Generator[T, None, R], seconds: float) -> Generator[T, None, R]:
    """Run `work` with one deadline shared by all its chat model calls.

    If limits are nested, the earlier deadline applies.
    """
    context = copy_context()
    context.run(_deadline.set, AnswerLimits(seconds=seconds).deadline())
    return (yield from run_in_context(work, context))


def limit_hooks(limits: AnswerLimits) -> Hooks:
    """Event hooks for an `httpx2.Client` that cut off its responses at the limits.

    Hooks also see data that never becomes part of an answer: keep-alive comments, a line that never
    ends, an endless error page.
    """
    return {
        "request": [partial(_limit_request, limits)],
        "response": [partial(_limit_response, limits)],
    }


def _limit_request(limits: AnswerLimits, request: httpx2.Request) -> None:
    """Limit all timeouts to the time that is left for the answer."""
    left = max(limits.deadline() - time.monotonic(), LEAST_WAIT_S)
    waits = request.extensions["timeout"]
    for step, seconds in waits.items():
        waits[step] = left if seconds is None else min(seconds, left)


def _limit_response(limits: AnswerLimits, response: httpx2.Response) -> None:
    assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101
    most = ERROR_BYTES if response.is_error else limits.max_bytes
    response.stream = _LimitedStream(response.stream, most, limits.deadline(), response.is_error)


@dataclass
class _LimitedStream(httpx2.SyncByteStream):
    """The first bytes of a response, up to a number and a deadline.

    An error message is cut there. Another response raises AnswerCutError, because a cut would look
    like the end of the answer.
    """

    stream: httpx2.SyncByteStream
    most_bytes: int
    deadline: float
    is_error: bool

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for data in self.stream:
            read += len(data)
            is_late = time.monotonic() > self.deadline
            is_cut = is_late or read > self.most_bytes
            if is_cut and not self.is_error:
                raise AnswerCutError(TIME_LIMIT if is_late else LENGTH_LIMIT)
            yield data
            if is_cut:
                return

    def close(self) -> None:
        self.stream.close()
