"""Checks with a real search whether questions can be answered."""

import asyncio
import threading
import time
from collections.abc import Callable

from bootstrap import Services
from domain import LOCAL_USER, SearchMode
from domain.logs import get_logger

LIMIT_S = 5.0
_REUSED_S = 2.0
_QUERY = "ready"


class SearchProbe:
    """Runs one search at a time, in a thread of its own, and all checks meanwhile wait for it.

    So a search that hangs occupies one thread, however often the check is repeated. A result is
    used for two seconds. The reason of a failure is logged once.
    """

    def __init__(self, latest: Callable[[], Services], limit_s: float = LIMIT_S) -> None:
        """Create the probe.

        Args:
            latest: Returns the current services.
            limit_s: The time after which a search counts as hanging.
        """
        self._latest = latest
        self._limit_s = limit_s
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ended.set()
        self._ended_at = float("-inf")
        self._succeeded = False
        self._reason = ""

    async def is_ready(self) -> bool:
        """Whether a search has succeeded within the limit."""
        end = time.monotonic() + self._limit_s
        self._start()
        # Polled, because a search that hangs must not collect a waiter per check.
        while not self._ended.is_set() and time.monotonic() < end:
            await asyncio.sleep(0.01)
        if not self._ended.is_set():
            self._log(f"a search has not ended for {self._limit_s:g} s")
            return False
        return self._succeeded

    def _start(self) -> None:
        with self._lock:
            is_recent = time.monotonic() < self._ended_at + _REUSED_S
            if is_recent or not self._ended.is_set():
                return
            thread = threading.Thread(target=self._search, daemon=True)
            self._ended.clear()
            try:
                thread.start()
            except RuntimeError as error:  # the system has no threads left
                self._succeeded = False
                self._end(str(error))

    def _search(self) -> None:
        reason = "the search was aborted"
        try:
            services = self._latest()
            services.search.search(LOCAL_USER, _QUERY, mode=_mode(services), k=1, rerank=False)
            reason = ""
        except Exception as error:  # noqa: BLE001  # whatever fails, the process is not ready
            reason = str(error) or type(error).__name__
        finally:
            self._succeeded = not reason
            self._end(reason)

    def _end(self, reason: str) -> None:
        self._log(reason)
        self._ended_at = time.monotonic()
        self._ended.set()

    def _log(self, reason: str) -> None:
        if reason and reason != self._reason:
            get_logger("api").warning("not ready", reason=reason)
        self._reason = reason


def _mode(services: Services) -> SearchMode:
    """All rankers, or only keywords if the embedding model is on a server, which may charge."""
    index = services.library.indexes.active()
    is_local = index is None or index.spec.embedding["provider"] != "openai"
    return SearchMode.CONVEX if is_local else SearchMode.BM25
