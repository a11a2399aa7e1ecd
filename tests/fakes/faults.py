"""Occasional server faults, drawn from a seed."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum

MAX_IN_A_ROW = 3


class Fault(StrEnum):
    """One way in which a response fails."""

    TOO_MANY = "429"
    TOO_MANY_RETRY_AFTER = "429 with Retry-After"
    FAILED = "500"
    UNAVAILABLE = "503"
    CLOSED = "connection closed without an answer"
    TRUNCATED = "connection closed in the middle of the body"
    BROKEN_JSON = "half of the JSON with a matching Content-Length"
    SLOW = "a slow answer"
    LOGIN_PAGE = "an HTML login page with status 200"
    REFUSED = "400"


TRANSIENT_FAULTS = tuple(fault for fault in Fault if fault not in (Fault.LOGIN_PAGE, Fault.REFUSED))
"""Faults that do not recur when the request is repeated. The others persist until someone acts."""


class Faults:
    """Which responses fail, and how; deterministic for a seed and an order of requests.

    A `share` of all responses is faulty, with the `kinds` equally likely. One request fails at
    most `in_a_row` times in a row, and all requests together at most `at_most` times. `only`
    selects the requests ("GET /path?query") that may fail. `retry_after` is the header value of
    a 429, `slow_seconds` the duration of a slow response.
    """

    def __init__(
        self,
        seed: int = 0,
        share: float = 0.2,
        kinds: Sequence[Fault] = TRANSIENT_FAULTS,
        *,
        in_a_row: int = MAX_IN_A_ROW,
        at_most: int | None = None,
        only: Callable[[str], bool] = lambda request: True,
        retry_after: int = 1,
        slow_seconds: float = 0.02,
    ):
        self.share, self.kinds, self.in_a_row, self.at_most = share, kinds, in_a_row, at_most
        self.only, self.retry_after, self.slow_seconds = only, retry_after, slow_seconds
        self.counts: Counter[Fault] = Counter()
        self._random = random.Random(seed)
        self._rows: Counter[str] = Counter()
        self._lock = threading.Lock()

    def draw(self, request: str) -> Fault | None:
        """The fault of this request; None for none."""
        with self._lock:
            if not self._may_fail(request) or self._random.random() >= self.share:
                self._rows.pop(request, None)
                return None
            fault = self._random.choice(self.kinds)
            self._rows[request] += 1
            self.counts[fault] += 1
            return fault

    def _may_fail(self, request: str) -> bool:
        is_exhausted = self.at_most is not None and self.counts.total() >= self.at_most
        return self._rows[request] < self.in_a_row and not is_exhausted and self.only(request)


def no_faults() -> Faults:
    """Faults that never occur."""
    return Faults(share=0)
