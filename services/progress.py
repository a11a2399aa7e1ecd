"""How far long work has come, and the wish to stop it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What long work is doing."""

    LISTING = "listing"
    IMPORTING = "importing"
    REMOVING = "removing"
    INDEXING = "indexing"


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` documents in this stage; `total` is 0 while it is not known yet.

    `passages` counts those embedded so far, `key` names the document at hand.
    """

    stage: Stage
    done: int
    total: int
    key: str = ""
    passages: int = 0


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
