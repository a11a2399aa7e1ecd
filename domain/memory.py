"""Returning freed memory to the operating system."""

import ctypes
import sys


def return_freed_memory() -> None:
    """Return all freed pages, also those between blocks in use, which glibc would keep.

    This takes some milliseconds. It does nothing on systems whose C library has no `malloc_trim`.
    """
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl lacks it
    if trim is not None:
        trim(0)
