"""What imports do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.documents import Named
from domain.progress import Progress


class Outcome(StrEnum):
    """What an import did with one document.

    Skipped are files of kinds that are not read: unlike failed ones they are no error.
    """

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    GONE = "gone"
    KEPT = "kept"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportItem(Named):
    """One document of an import and its outcome; `reason` says why where it failed.

    `passages`, `pages` and `characters` are of a new or changed document, 0 for others; `pages`
    is 0 too in formats without pages. Only dry runs estimate the `tokens` of embedding it.
    `title` is empty of what was never read, unless its source lists documents by title.
    """

    key: str
    location: str
    outcome: Outcome
    reason: str = ""
    passages: int = 0
    pages: int = 0
    characters: int = 0
    tokens: int = 0
    title: str = ""


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


@dataclass(frozen=True, slots=True)
class QueuedImport:
    """An import as the queue and the history show it: all but its items.

    `started_at` is when its work began, while it waits for the first time when it was asked for.
    `seconds` are those at work, without waiting and pauses: `progress.done` over them is its
    rate. `counts` are its items by the values of `Outcome` once it has ended. `wish` is "pause"
    or "cancel" from the moment a person said so until the work has heard it. One whose source can't
    be reached rests until `retry_at`.
    """

    id: str
    source_id: str
    kind: ImportKind
    state: ImportState
    started_at: datetime
    finished_at: datetime | None = None
    seconds: float = 0.0
    message: str = ""
    passages_embedded: int = 0
    progress: Progress | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    wish: str = ""
    user_id: str = ""
    retry_at: datetime | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The documents it is confined to; empty where it is about the whole source."""
        return tuple(self.options.get("keys", ()))

    @property
    def confirm_removals(self) -> bool:
        """Whether it removes documents even if most of the source is gone."""
        return bool(self.options.get("confirm_removals"))

    @property
    def ended(self) -> bool:
        """Whether nobody will go on with it."""
        return self.finished_at is not None
