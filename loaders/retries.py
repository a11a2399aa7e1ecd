"""Retries of requests to a source, with waits that the user sees and can cancel.

We don't use tenacity: its sleep does not receive the reason that is displayed during a wait, and
callbacks for that and for an error with the number of attempts would be longer than this loop.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from domain import Wait
from domain.errors import SourceUnavailableError
from domain.logs import log_context
from domain.messages import _

T = TypeVar("T")
MAX_ATTEMPTS = 6


class TransientError(Exception):
    """A request failed but may succeed when retried.

    `reason` is displayed during the wait; `retry_after_s` is the delay that the source requested.
    """

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.retry_after_s = reason, retry_after_s

    def final_error(self, attempts: int) -> SourceUnavailableError:  # noqa: ARG002  # subclasses use it
        """The error to raise after the last attempt."""
        return SourceUnavailableError(
            _("{reason}. Try again later.").format(reason=self.reason),
            retry_after_s=self.retry_after_s or 0,
        )


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retries a limited number of times.

    It waits as long as the source requests, or else 1, 2, 4 ... seconds, ±50%. If the source
    requests more than `max_retry_after_s`, it gives up immediately: the import is resumed later,
    and other imports need not wait.
    """

    wait: Wait
    max_retry_after_s: float

    def with_retries(self, request: Callable[[], T], attempts: int = MAX_ATTEMPTS) -> T:
        """Send a request, and retry it if it raises TransientError.

        Raises:
            SourceUnavailableError: All attempts failed, or the requested delay is too long.
        """
        attempt = 1
        while True:
            try:
                with log_context(attempt=attempt):
                    return request()
            except TransientError as error:
                delay = error.retry_after_s
                if attempt == attempts or (delay or 0) > self.max_retry_after_s:
                    raise error.final_error(attempt) from error
                self.wait(_backoff_s(attempt) if delay is None else delay, error.reason)
            attempt += 1


def _backoff_s(attempt: int) -> float:
    return float(2.0 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311  # not for security
