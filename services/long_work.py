"""Progress and cancellation of long-running work."""

import time
from collections.abc import Callable

from domain import CancelledError, Progress, Stage
from domain.logs import get_logger

OnProgress = Callable[[Progress], None]
Cancelled = Callable[[], bool]


def ignore(_progress: Progress) -> None:
    """Do nothing: the default if nobody follows the progress."""


def never() -> bool:
    """Return False: the default for work that nobody cancels."""
    return False


def stop_if(cancelled: Cancelled) -> None:
    """Raise CancelledError if the work was canceled."""
    if cancelled():
        raise CancelledError


_STEP_S = 0.2
_log = get_logger("imports")


class CancelableWait:
    """Waits on behalf of a loader: reports the reason, and stops immediately on cancellation."""

    def __init__(self, on_progress: OnProgress, cancelled: Cancelled) -> None:
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._last = Progress(Stage.LISTING, 0, 0)

    def report(self, progress: Progress) -> None:
        """Report progress; the next wait is reported with the same numbers."""
        self._last = progress
        self._on_progress(progress)

    def wait(self, seconds: float, reason: str) -> None:
        """Wait, and report the reason as progress.

        Raises:
            CancelledError: The work was canceled.
        """
        until = time.monotonic() + seconds
        _log.warning("waiting before a retry", seconds=round(seconds, 1), reason=str(reason))
        last = self._last
        self._on_progress(Progress(Stage.WAITING, last.done, last.total, reason, last.passages))
        while (remaining := until - time.monotonic()) > 0:
            stop_if(self._cancelled)
            time.sleep(min(_STEP_S, remaining))
        stop_if(self._cancelled)
        self._on_progress(last)
