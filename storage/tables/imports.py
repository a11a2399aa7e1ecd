"""What was imported, by whom, and what failed."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base, key_reference, reference


class ImportRow(Base):
    """One run over a source: queued, at work or ended; the queue of the worker processes.

    `worker` holds it until `lease_until`, and tells its `progress`; `wish` is what a person wants
    of it meanwhile ("pause" or "cancel"). `options` are the run's own, such as the keys it is
    confined to. `counts` are its items by outcome, for of old runs not every item is kept. An
    interrupted one whose source can't be reached waits until `retry_at`; `attempts` counts how
    often that happened without a document read in between.
    """

    __tablename__ = "imports"
    __table_args__ = (Index("ix_imports_state", "state", "started_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = reference("sources.id")
    user_id: Mapped[str]
    state: Mapped[str]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    message: Mapped[str]
    seconds: Mapped[float]
    passages_embedded: Mapped[int]
    kind: Mapped[str] = mapped_column(default="import")
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    wish: Mapped[str] = mapped_column(default="")
    worker: Mapped[str] = mapped_column(default="")
    lease_until: Mapped[datetime | None]
    progress: Mapped[dict[str, Any]] = mapped_column(default=dict)
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    retry_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)


class ImportItemRow(Base):
    """A document of an import and its outcome, in the order they were settled."""

    __tablename__ = "import_items"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    import_id: Mapped[str] = reference("imports.id")
    key: Mapped[str]
    location: Mapped[str]
    outcome: Mapped[str]
    reason: Mapped[str]
    passages: Mapped[int]
    pages: Mapped[int] = mapped_column(default=0)
    characters: Mapped[int] = mapped_column(default=0)
    tokens: Mapped[int] = mapped_column(default=0)
    title: Mapped[str] = mapped_column(default="")


class WorkerRow(Base):
    """A process that does what is queued, alive until `lease_until`."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    lease_until: Mapped[datetime]


class FailureRow(Base):
    """A version that could not be read, named until it can be or a person dismisses it.

    Unless `again` it is not tried again before the document changes. It is no error, and not named,
    where nothing is wrong with the document: a picture without text.
    """

    __tablename__ = "failures"

    source_id: Mapped[str] = key_reference("sources.id")
    key: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str]
    formats_version: Mapped[int]
    reason: Mapped[str]
    location: Mapped[str] = mapped_column(default="")
    again: Mapped[bool] = mapped_column(default=False)
    dismissed: Mapped[bool] = mapped_column(default=False)
    failed_at: Mapped[datetime | None]
    title: Mapped[str] = mapped_column(default="")
    is_error: Mapped[bool] = mapped_column(default=True)
