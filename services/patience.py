"""Waiting that a person sees and can end."""

import time

from domain import Progress, Stage
from services.progress import Cancelled, OnProgress, stop_if

_STEP_S = 0.2


class Patience:
    """What loaders wait with: it tells why, and ends at once where the work is to stop."""

    def __init__(self, on_progress: OnProgress, cancelled: Cancelled) -> None:
        """Args: who is told, and the wish to stop."""
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._last = Progress(Stage.LISTING, 0, 0)

    def tell(self, progress: Progress) -> None:
        """Tell of progress; a wait that follows is told with the same figures."""
        self._last = progress
        self._on_progress(progress)

    def wait(self, seconds: float, reason: str) -> None:
        """Wait, and tell why.

        Raises:
            CancelledError: The wish to stop came.
        """
        until = time.monotonic() + seconds
        last = self._last
        self._on_progress(Progress(Stage.WAITING, last.done, last.total, reason, last.passages))
        while (left := until - time.monotonic()) > 0:
            stop_if(self._cancelled)
            time.sleep(min(_STEP_S, left))
        stop_if(self._cancelled)
        self._on_progress(last)
