"""Import runs, their progress, and their outcomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.documents import Named


class Stage(StrEnum):
    """The current step of a long-running operation."""

    LISTING = "listing"
    READING = "reading"
    SPLITTING = "splitting"
    EMBEDDING = "embedding"
    WRITING = "writing"
    REMOVING = "removing"
    INDEXING = "indexing"
    WAITING = "waiting"


class CancelledError(Exception):
    """The work was canceled; this error never leaves the services."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` documents are processed; `total` is 0 until it is known.

    `passages` is the number of passages embedded so far, in a dry run those that an import would
    embed. The documents read so far have `read` passages and all documents about `expected`; both
    are 0 in work without passages. `key` is the title or key of the current document or,
    while waiting, the reason. `part` of `parts` passages of the current batch are embedded; `parts`
    is 0 in stages without passages. `seconds_left` is an estimate, None until there is one.
    """

    stage: Stage
    done: int
    total: int
    key: str = ""
    passages: int = 0
    part: int = 0
    parts: int = 0
    read: int = 0
    expected: int = 0
    seconds_left: int | None = None

    @property
    def share(self) -> float:
        """The completed fraction of documents and passages, from 0 to 1; 0 while it is unknown."""
        if not self.total:
            return 0.0
        work = self.done + (self.passages if self.expected else 0)
        return min(work / (self.total + self.expected), 1.0)

    @property
    def rounded_seconds_left(self) -> int | None:
        """The time left in steps of 5 seconds; 0 if the work is almost done, None if unknown."""
        return None if self.seconds_left is None else round(self.seconds_left / 5) * 5


Wait = Callable[[float, str], None]
"""Waits for the given seconds and reports the reason; raises if the run is canceled."""


class Outcome(StrEnum):
    """The outcome of an import for one document. The values are stored and part of the API.

    PERMISSIONS: only its readers have changed. SKIPPED is not an error: files of this kind are not
    imported.
    """

    NEW = "new"
    CHANGED = "changed"
    PERMISSIONS = "permissions"
    UNCHANGED = "unchanged"
    REMOVED = "gone"
    RETAINED = "kept"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportItem(Named):
    """One document of an import and its outcome.

    `passages`, `pages`, and `characters` are set for new and changed documents only; `pages` is
    also 0 in formats without pages. Only dry runs estimate `tokens`, the cost of embedding.
    `title` is empty for documents that were never read, unless the source lists titles.
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
    """The kind of an import run.

    A dry run reports what an import would do and changes nothing; a removal deletes the source
    with all its documents.
    """

    IMPORT = "import"
    DRY_RUN = "dry run"
    REMOVAL = "removal"


class ImportState(StrEnum):
    """The state of an import run.

    A queued run starts when its turn comes. A paused run continues when a user resumes it, an
    interrupted run when a worker is available again. The other states are final.
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
    """The result of one import run with all its items."""

    id: str
    source_id: str
    state: ImportState
    items: tuple[ImportItem, ...] = ()
    passages_embedded: int = 0
    seconds: float = 0.0
    message: str = ""
    kind: ImportKind = ImportKind.IMPORT

    def count(self, outcome: Outcome) -> int:
        """The number of items with this outcome."""
        return sum(item.outcome is outcome for item in self.items)


DocumentVersion = tuple[str, str]
"""The key and the version of a document, as its source lists them."""

CRASHES, READING, QUARANTINED = "died", "reading", "quarantined"
"""Internal options of a run: where its processes crashed, the document that is being read now, and
the quarantined ones."""


@dataclass(frozen=True, slots=True)
class ImportRun:
    """An import run as the queue and the history show it, without its items.

    `started_at` is the start time, or the time of the request if work has not started. `seconds`
    is working time without waits and pauses. `counts` contains the number of items by `Outcome`
    value once the run has ended. `stop_request` is "pause" or "cancel" from a user's request until
    it takes effect. `retry_at` is set while the source can't be reached.
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
    stop_request: str = ""
    user_id: str = ""
    retry_at: datetime | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The documents to which the run is restricted; empty for the whole source."""
        return tuple(self.options.get("keys", ()))

    @property
    def confirm_removals(self) -> bool:
        """Whether documents are removed even if most of the source is missing."""
        return bool(self.options.get("confirm_removals"))

    @property
    def has_crashed(self) -> bool:
        """Whether a process that performed this run crashed."""
        return CRASHES in self.options

    @property
    def crashed_at(self) -> str:
        """The name of the document that was last known to be read before the crash, or ""."""
        return str(self.options.get(CRASHES, {}).get("key", ""))

    @property
    def quarantined(self) -> frozenset[DocumentVersion]:
        """The documents on which the run crashed twice; it does not read them anymore."""
        return frozenset((key, version) for key, version in self.options.get(QUARANTINED, ()))

    @property
    def ended(self) -> bool:
        """Whether the run is over and won't be resumed."""
        return self.finished_at is not None
