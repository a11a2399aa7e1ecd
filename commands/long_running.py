"""Keeps the memory of processes that run for days bounded."""

import ctypes
import gc
import os
import sys

_GARBAGE_THRESHOLDS = 700, 10, 10
_M_ARENA_MAX = -8
"""The name of the option in glibc's `malloc.h`."""


def bound_memory() -> None:
    """Collect garbage as often as Python does, and let threads share few memory arenas.

    `cli.py` collects it rarely, for short commands. glibc would give each of many short-lived
    threads, such as those that embed passages, one of eight arenas per core, and each arena keeps
    what an embedding needs.
    """
    gc.freeze()  # what has been loaded until now stays
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl lacks it
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, max(2, os.cpu_count() or 1))
