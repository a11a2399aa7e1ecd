"""Prepares processes that run for days: memory that stays bounded, and enough open files."""

import ctypes
import gc
import os
import sys
from contextlib import suppress

_GARBAGE_THRESHOLDS = 700, 10, 10
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
"""The names of the options in glibc's `malloc.h`."""
_OWN_MAPPING_BYTES = 128 * 2**10
"""glibc's initial value, which it raises to up to 32 MiB as soon as a larger block is freed."""
_MAX_OPEN_FILES = 10_240
"""Enough for 2,000 tabs; macOS permits no more."""


def bound_memory() -> None:
    """Collect garbage as often as Python does, and let the allocator return what is freed.

    `cli.py` collects it rarely, for short commands. glibc would give each of many short-lived
    threads, such as those that embed passages, one of eight arenas per core, and each arena keeps
    what an embedding needs. Large blocks get mappings of their own, which the system takes back at
    once; otherwise, small blocks that live long would settle between them and keep their memory.
    """
    gc.freeze()  # what has been loaded until now stays
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl lacks it
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, max(2, os.cpu_count() or 1))
            mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING_BYTES)


def allow_open_files() -> None:
    """Raise this process's own limit of open files to what the system permits, at most 10,240.

    The usual limit is 1,024, on macOS 256. Each tab with a page has four open files, and each of up
    to 128 tabs closed in the last two minutes has three, because Streamlit keeps their sessions.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # the system has a limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
