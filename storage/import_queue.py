"""The imports that wait, are at work or have ended, as people see and steer them.

An import without `finished_at` is still to be done, or to be gone on with.
"""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from domain import ImportKind, ImportState, QueuedImport
from errors import NotFoundError
from storage.database import Database
from storage.import_rows import is_left, queued, stop
from storage.tables import ImportRow, SourceRow

PAUSE, CANCEL = "pause", "cancel"
DIED = "died"
"""Among an import's options, at which document its worker died; nobody asked for that one."""

# At work first, then by age; with the id, so that two of one moment keep their order.
TURN: tuple[Any, ...] = (
    ImportRow.state != ImportState.RUNNING,
    ImportRow.started_at,
    ImportRow.id,
)


class QueuedImports:
    """The queue, each call in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enqueue(
        self, source_id: str, user_id: str, kind: ImportKind, options: Mapping[str, Any]
    ) -> QueuedImport:
        """Add an import to the queue.

        One of that source and kind with the same options that waits is returned instead; for one
        at work it may be too late: it may have looked at the source already.

        Raises:
            NotFoundError: There is no such source.
        """
        with self._database.write() as session:
            # Locked: of two who ask at once the second shall see what the first has asked for.
            if session.get(SourceRow, source_id, with_for_update=True) is None:
                raise NotFoundError(f"there is no source {source_id}")
            row = _same(session, source_id, kind, options)
            if row is None:
                row = new_row(source_id, user_id, kind, ImportState.QUEUED, options)
                session.add(row)
                session.flush()
            row.retry_at = None  # who asks for it now has maybe mended what it waits for
            return queued(row)

    def get(self, import_id: str) -> QueuedImport:
        """The import with that id.

        Raises:
            NotFoundError: There is none.
        """
        with self._database.read() as session:
            return queued(_row(session, import_id))

    def current(self, source_id: str | None = None) -> list[QueuedImport]:
        """What has not ended, of one source or of all, in the order it is done in."""
        wanted = select(ImportRow).where(ImportRow.finished_at.is_(None))
        if source_id is not None:
            wanted = wanted.where(ImportRow.source_id == source_id)
        return self._list(wanted.order_by(*TURN))

    def history(self, source_id: str, *, limit: int, offset: int = 0) -> list[QueuedImport]:
        """The source's ended imports, the latest first."""
        newest = _ended(select(ImportRow), source_id).order_by(
            ImportRow.started_at.desc(), ImportRow.id
        )
        return self._list(newest.limit(limit).offset(offset))

    def count_history(self, source_id: str) -> int:
        """How many imports of the source have ended."""
        with self._database.read() as session:
            return session.scalar(_ended(select(func.count(ImportRow.id)), source_id)) or 0

    def wish(self, import_id: str, wish: str) -> QueuedImport:
        """Let it be paused or cancelled; at once where nobody is at work on it.

        Where it has ended nothing changes.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.write() as session:
            row = _row(session, import_id, lock=True)
            if row.finished_at is None:
                row.wish = wish
                if row.state != ImportState.RUNNING or is_left(row):
                    stop(session, row, ImportState(row.state))
            return queued(row)

    def resume(self, import_id: str) -> QueuedImport:
        """Let a paused import wait for its turn again; a pause not heard yet is taken back.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.write() as session:
            row = _row(session, import_id, lock=True)
            if row.state == ImportState.PAUSED:
                row.state = ImportState.QUEUED
            elif row.wish == PAUSE:
                row.wish = ""
            return queued(row)

    def _list(self, wanted: Select[Any]) -> list[QueuedImport]:
        with self._database.read() as session:
            return [queued(row) for row in session.scalars(wanted)]


def new_row(
    source_id: str,
    user_id: str,
    kind: ImportKind,
    state: ImportState,
    options: Mapping[str, Any] | None = None,
) -> ImportRow:
    """An import of which nothing has been done."""
    return ImportRow(
        id=uuid.uuid4().hex,
        source_id=source_id,
        user_id=user_id,
        kind=kind,
        state=state,
        options=dict(options or {}),
        started_at=datetime.now(UTC),
        message="",
        seconds=0.0,
        passages_embedded=0,
        wish="",
        worker="",
        progress={},
        counts={},
        attempts=0,
    )


def _ended(wanted: Select[Any], source_id: str) -> Select[Any]:
    return wanted.where(ImportRow.source_id == source_id, ImportRow.finished_at.is_not(None))


def _row(session: Session, import_id: str, *, lock: bool = False) -> ImportRow:
    """The row; with `lock` no worker changes it meanwhile (SQLite has one writer anyway)."""
    row = session.get(ImportRow, import_id, with_for_update=lock or None)
    if row is None:
        raise NotFoundError(f"There is no import {import_id}, or not any more: look at the list.")
    return row


def _same(
    session: Session, source_id: str, kind: ImportKind, options: Mapping[str, Any]
) -> ImportRow | None:
    current = select(ImportRow).where(
        ImportRow.source_id == source_id, ImportRow.kind == kind, ImportRow.finished_at.is_(None)
    )
    rows = session.scalars(current.order_by(*TURN)).all()
    return next((r for r in rows if _asked(r.options) == dict(options) and not _is_late(r)), None)


def _is_late(row: ImportRow) -> bool:
    """Whether it may not do what is asked for only now; a removal leaves nothing to do."""
    at_work = row.state == ImportState.RUNNING and not is_left(row)
    return at_work and (row.kind != ImportKind.REMOVAL or bool(row.wish))


def _asked(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != DIED}
