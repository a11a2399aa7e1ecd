"""Checks for linear time with two sizes in one run: a limit in seconds would test the machine."""

import gc
import time
from collections.abc import Callable

GROWTH = 8
SLACK = 4
"""Linear work takes GROWTH times as long for the larger size, quadratic work GROWTH ** 2 times."""

ATTEMPTS = 5
"""Another test may fall into one measurement, but not into each; garbage collection is off."""


def require_linear_time(work: Callable[[int], object], size: int) -> None:
    """Call the work with `size` and an eighth of it; compares processor times."""
    small = min(_seconds(work, size // GROWTH) for _ in range(ATTEMPTS))
    limit = GROWTH * SLACK * small
    large = _seconds(work, size)
    for _ in range(ATTEMPTS - 1):
        if large >= limit:
            large = min(large, _seconds(work, size))
    assert large < limit, f"{size}: {large:.3f} s, an eighth: {small:.3f} s"


def _seconds(work: Callable[[int], object], size: int) -> float:
    gc.disable()
    try:
        started = time.process_time()
        work(size)
        return time.process_time() - started
    finally:
        gc.enable()
