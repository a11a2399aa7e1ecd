"""How far long work has come."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What long work is doing."""

    LISTING = "listing"
    READING = "reading"
    SPLITTING = "splitting"
    EMBEDDING = "embedding"
    WRITING = "writing"
    REMOVING = "removing"
    INDEXING = "indexing"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` documents are behind it; `total` is 0 while it is not known yet.

    `passages` counts those embedded so far. `key` names the document at hand, by its title where
    its source lists one; while it waits for its source it says why. `part` of `parts` passages of
    the documents at hand are embedded; `parts` is 0 in stages without passages.
    """

    stage: Stage
    done: int
    total: int
    key: str = ""
    passages: int = 0
    part: int = 0
    parts: int = 0


Wait = Callable[[float, str], None]
"""Waits that many seconds while it tells why; raises where a person ends the work meanwhile."""
