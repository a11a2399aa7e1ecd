"""How far long work has come, and the wish to stop it."""

from collections.abc import Callable

from domain import Progress, Stage

__all__ = [
    "Cancelled",
    "CancelledError",
    "OnProgress",
    "Progress",
    "Stage",
    "ignore",
    "never",
    "stop_if",
]

OnProgress = Callable[[Progress], None]
Cancelled = Callable[[], bool]


class CancelledError(Exception):
    """The person asked to stop; never leaves the services."""


def ignore(_progress: Progress) -> None:
    """For whoever does not want to know."""


def never() -> bool:
    """For whoever can't stop it."""
    return False


def stop_if(cancelled: Cancelled) -> None:
    """Leave the work at hand if the person asked to.

    Raises:
        CancelledError: They did.
    """
    if cancelled():
        raise CancelledError
