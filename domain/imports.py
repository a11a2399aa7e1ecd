"""What imports do."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What an import did with one document."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    GONE = "gone"
    KEPT = "kept"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportItem:
    """One document of an import and its outcome; `reason` says why where it failed.

    `passages`, `pages` and `characters` are of a new or changed document, 0 for others; `pages`
    is 0 too in formats without pages.
    """

    key: str
    location: str
    outcome: Outcome
    reason: str = ""
    passages: int = 0
    pages: int = 0
    characters: int = 0


class ImportKind(StrEnum):
    """What a run does with its source.

    A dry run tells what an import would do and changes nothing; a removal takes all of the
    source's documents out of the library, and the source itself.
    """

    IMPORT = "import"
    DRY_RUN = "dry run"
    REMOVAL = "removal"


class ImportState(StrEnum):
    """How an import stands.

    Queued, paused and interrupted ones are gone on with: when their turn comes, when they are
    resumed, when a worker is there again.
    """

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed with errors"
    NEEDS_CONFIRMATION = "needs confirmation"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What one import did, item by item."""

    id: str
    source_id: str
    state: ImportState
    items: tuple[ImportItem, ...] = ()
    passages_embedded: int = 0
    seconds: float = 0.0
    message: str = ""
    kind: ImportKind = ImportKind.IMPORT

    def count(self, outcome: Outcome) -> int:
        """The number of items with that outcome."""
        return sum(item.outcome is outcome for item in self.items)
