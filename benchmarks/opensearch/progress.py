"""Progress on standard error."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

_EVERY_S = 20


def log(line: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {line}", file=sys.stderr, flush=True)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Log the begin, and the duration at the end."""
    log(f"{name} ...")
    started = time.monotonic()
    yield
    log(f"{name}: {time.monotonic() - started:.0f} s")


class Progress:
    """How many passages are done, how fast, and how long the rest takes at this rate."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, total, 0
        self._since, self._done_then = time.monotonic(), 0

    def add(self, count: int) -> None:
        """Count passages; logs now and then."""
        self._done += count
        passed = time.monotonic() - self._since
        if passed >= _EVERY_S or self._done == self._total:
            rate = (self._done - self._done_then) / max(passed, 0.001)
            left = (self._total - self._done) / max(rate, 0.001) / 60
            done = f"{self._done:,} of {self._total:,}"
            log(f"{self._name}: {done}, {rate:,.0f}/s, {left:.0f} min left")
            self._since, self._done_then = time.monotonic(), self._done
