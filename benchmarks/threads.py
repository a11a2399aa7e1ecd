"""Threads that run for the length of a `with` block."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def running_threads(
    targets: Iterable[Callable[[], object]], ended: threading.Event
) -> Iterator[None]:
    """Run each target in a thread; at the end of the block, set `ended`, and wait for all."""
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()
