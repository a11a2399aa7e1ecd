"""Lowers the priority of a process, so that people who wait for answers come first."""

import os
from contextlib import suppress
from pathlib import Path

NICENESS = 5
_GROUP = Path("/proc/self/autogroup")


def lower_priority() -> None:
    """Let other processes precede this one and its future children when processors are short.

    Without effect on Windows. Linux may divide the processors among sessions before processes, so
    a process that leads its session lowers the priority of the session too.
    """
    if not hasattr(os, "nice"):
        return
    niceness = os.nice(NICENESS)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # a system without such groups, or a container that protects them
            _GROUP.write_text(str(niceness), encoding="ascii")
