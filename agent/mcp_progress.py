"""Tells a client how an answer comes along, and ends the work where nobody waits any more."""

import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any

import anyio.from_thread

from services.events import Event, Found, Searching, Written

Report = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
"""Sends a progress, its total (None: unknown) and a message; nothing where nobody asked for it."""

_EVERY_S = 1.0


class StoppedError(Exception):
    """The request was cancelled."""


class Progress:
    """How one answer comes along; `tell` is called by the thread that writes it."""

    def __init__(self, report: Report) -> None:
        """Args: what sends it, in the event loop that the thread was started from."""
        self._report = report
        self._stopped = threading.Event()
        self._steps = 0
        self._characters = 0
        self._told_at = 0.0

    def stop(self) -> None:
        """Let the next event end the work."""
        self._stopped.set()

    def tell(self, event: Event) -> None:
        """Send what happened; of what is written the count, once a second.

        Raises:
            StoppedError: Nobody waits any more.
        """
        if self._stopped.is_set():
            raise StoppedError
        if isinstance(event, Searching):
            self._send(f"Searching for: {event.question}")
        elif isinstance(event, Found):
            self._send(f"{len(event.sources)} passages found")
        elif isinstance(event, Written):
            self._characters += len(event.text)
            if time.monotonic() - self._told_at >= _EVERY_S:
                self._told_at = time.monotonic()
                self._send(f"{self._characters:,} characters written")

    def _send(self, message: str) -> None:
        self._steps += 1
        try:
            anyio.from_thread.run(self._report, self._steps, None, message)
        except CancelledError as error:
            raise StoppedError from error
