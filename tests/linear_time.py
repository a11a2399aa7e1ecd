"""Proof of linear time by two sizes in one run: a limit in seconds would test the machine."""

import time
from collections.abc import Callable

GROWTH = 8
SLACK = 4
"""Linear work takes GROWTH times as long for the larger size, quadratic work GROWTH ** 2 times."""

ATTEMPTS = 3
"""A garbage collection or another test may fall into one measurement, but not into each."""

SHORTEST_S = 0.001
"""Shorter times are mostly noise."""


def require_linear_time(work: Callable[[int], object], size: int) -> None:
    """Call the work with `size` and an eighth of it; compares processor times."""
    small = min(_seconds(work, size // GROWTH) for _ in range(ATTEMPTS))
    limit = GROWTH * SLACK * max(small, SHORTEST_S)
    times = []
    for _ in range(ATTEMPTS):
        times.append(_seconds(work, size))
        if times[-1] < limit:
            return
    raise AssertionError(f"{size}: {min(times):.3f} s, an eighth: {small:.3f} s")


def _seconds(work: Callable[[int], object], size: int) -> float:
    started = time.process_time()
    work(size)
    return time.process_time() - started
