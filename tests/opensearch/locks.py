"""Locks between processes, which end with the process that holds them."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.opensearch.programs import OpenSearchError


@contextmanager
def lock(path: Path, *, limit_s: float = 0) -> Iterator[None]:
    """Hold the lock; wait for it up to the limit, then raise OpenSearchError."""
    deadline = time.monotonic() + limit_s
    with path.open("w") as file:
        while not _acquire(file.fileno()):
            if time.monotonic() >= deadline:
                raise OpenSearchError(f"another process holds {path} (waited {limit_s:.0f} s)")
            time.sleep(0.2)
        yield


def _acquire(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
