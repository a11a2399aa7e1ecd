"""Who is at work on which import, and for how long without a sign of life.

A running import has a worker, who renews its lease. Once the lease has expired, or the process
is known to be dead, the import is interrupted, and the next worker goes on with it. Whoever has
lost an import changes nothing of it any more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, delete, select, update
from sqlalchemy.orm import Session, aliased

from domain import ImportKind, ImportState, Progress, QueuedImport
from storage.database import Database
from storage.import_queue import DIED, TURN, new_row
from storage.import_rows import WAITING, end, finish, is_dead, postpone, queued, stop
from storage.tables import ImportRow, WorkerRow

LEASE = timedelta(seconds=20)
_DEATHS = 3


class ImportLeases:
    """The workers' side of the queue, each call in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, worker: str) -> QueuedImport | None:
        """Take the oldest import that waits; None where none does, or another is running.

        However many ask at once, one gets it. One that has only waited so far, as it found the
        library busy each time, goes to the end of the line: a dry run needs no such wait.
        """
        with self._database.write() as session:
            waiting = select(ImportRow).where(
                ImportRow.state.in_(WAITING),
                ImportRow.finished_at.is_(None),
                ImportRow.retry_at.is_(None) | (ImportRow.retry_at <= datetime.now(UTC)),
            )
            row = session.scalar(waiting.order_by(*TURN).limit(1))
            if row is None:
                return None
            has_begun = bool(row.seconds or row.progress)
            taken = _update(
                session,
                [ImportRow.id == row.id, ImportRow.state == row.state, ~_any_running()],
                state=ImportState.RUNNING,
                worker=worker,
                lease_until=_lease(),
                started_at=row.started_at if has_begun else datetime.now(UTC),
                message="",
            )
            session.refresh(row)
            return queued(row) if taken else None

    def start(self, source_id: str, user_id: str, worker: str) -> str:
        """Begin an import that waits for nobody's turn; its id.

        It does what interrupted ones of the whole source had left, and so these end.
        """
        with self._database.write() as session:
            left = select(ImportRow).where(
                ImportRow.source_id == source_id,
                ImportRow.kind == ImportKind.IMPORT,
                ImportRow.state == ImportState.INTERRUPTED,
                ImportRow.finished_at.is_(None),
            )
            for row in session.scalars(left).all():
                if not row.options.get("keys"):  # those are read even if nothing has changed
                    finish(session, row)
            new = new_row(source_id, user_id, ImportKind.IMPORT, ImportState.RUNNING)
            new.worker, new.lease_until = worker, _lease()
            session.add(new)
            return new.id

    def renew(self, import_id: str, worker: str) -> None:
        """Give a sign of life for an import."""
        with self._database.write() as session:
            _update(session, _own(import_id, worker), lease_until=_lease())

    def wish(self, import_id: str, worker: str) -> str | None:
        """What is wished of the worker's import, often ""; None where it is no longer its own."""
        with self._database.read() as session:
            return session.scalar(select(ImportRow.wish).where(*_own(import_id, worker)))

    def tell(self, import_id: str, worker: str, progress: Progress, seconds: float) -> None:
        """Note how far the worker's import has come."""
        with self._database.write() as session:
            _update(session, _own(import_id, worker), progress=asdict(progress), seconds=seconds)

    def settle(
        self,
        import_id: str,
        worker: str,
        state: ImportState,
        *,
        message: str,
        seconds: float,
        passages: int | None = None,
    ) -> QueuedImport | None:
        """Note how the worker's import ended; None where it is no longer its own."""
        with self._owned(import_id, worker, seconds) as (session, row):
            if row is None:
                return None
            if passages is not None:
                row.passages_embedded = passages
            end(session, row, state, message)
            return queued(row)

    def stop(
        self, import_id: str, worker: str, otherwise: ImportState, *, seconds: float
    ) -> QueuedImport | None:
        """Note that the worker stopped before the end: as wished, or else as `otherwise`.

        None where the import is no longer the worker's own.
        """
        with self._owned(import_id, worker, seconds) as (session, row):
            if row is None:
                return None
            stop(session, row, otherwise)
            return queued(row)

    def postpone(
        self,
        import_id: str,
        worker: str,
        reason: str,
        *,
        seconds: float,
        has_written: bool,
        at_least_s: float,
    ) -> QueuedImport | None:
        """Interrupt the worker's import for `at_least_s`, longer each time in a row.

        What was wished of it meanwhile comes true instead. It has failed where the source could
        not be reached `ATTEMPTS` times without anything written in between. None where it is no
        longer the worker's own.
        """
        with self._owned(import_id, worker, seconds) as (session, row):
            if row is None:
                return None
            attempts = 1 if has_written else row.attempts + 1
            postpone(session, row, attempts, reason, at_least_s)
            return queued(row)

    def interrupt_dead(self) -> int:
        """Mark running imports whose worker is dead as interrupted; how many.

        What a person wished of one of them comes true instead. One whose workers die at the same
        document again and again has failed: nobody shall go on with it for ever.
        """
        running = select(ImportRow).where(ImportRow.state == ImportState.RUNNING)
        with self._database.read() as session:
            if not any(is_dead(row.worker, row.lease_until) for row in session.scalars(running)):
                return 0
        with self._database.write() as session:
            rows = session.scalars(running.with_for_update()).all()
            dead = [row for row in rows if is_dead(row.worker, row.lease_until)]
            for row in dead:
                _interrupt(session, row)
            return len(dead)

    @contextmanager
    def _owned(
        self, import_id: str, worker: str, seconds: float
    ) -> Iterator[tuple[Session, ImportRow | None]]:
        with self._database.write() as session:
            own = select(ImportRow).where(*_own(import_id, worker)).with_for_update()
            row = session.scalar(own)
            if row is not None:
                row.seconds = seconds
            yield session, row


class Workers:
    """The processes that do what is queued."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def renew(self, name: str) -> None:
        """Give a sign of life."""
        with self._database.write() as session:
            session.merge(WorkerRow(name=name, lease_until=_lease()))

    def leave(self, name: str) -> None:
        """Be a worker no more; dead ones are forgotten too."""
        with self._database.write() as session:
            for row in session.scalars(select(WorkerRow)).all():
                if row.name == name or is_dead(row.name, row.lease_until):
                    session.execute(delete(WorkerRow).where(WorkerRow.name == row.name))

    def any_alive(self) -> bool:
        """Whether one has given a sign of life lately, and is not known to be dead."""
        with self._database.read() as session:
            rows = session.scalars(select(WorkerRow))
            return any(not is_dead(row.name, row.lease_until) for row in rows)

    def any_lately(self) -> bool:
        """Whether one has given a sign of life lately, be it dead since."""
        lately = select(WorkerRow.name).where(WorkerRow.lease_until > datetime.now(UTC))
        with self._database.read() as session:
            return session.scalar(lately.limit(1)) is not None


def _interrupt(session: Session, row: ImportRow) -> None:
    key, before = row.progress.get("key", ""), row.options.get(DIED, {})
    times = before.get("times", 0) + 1 if key == before.get("key") else 1
    row.options = {**row.options, DIED: {"key": key, "times": times}}
    if not key or times < _DEATHS or row.wish:
        stop(session, row, ImportState.INTERRUPTED)
        return
    message = (
        f"its process ended {times} times at {key}: leave that document out, or mend it, and"
        " import again; what was imported is kept"
    )
    end(session, row, ImportState.FAILED, message=message)


def _lease() -> datetime:
    return datetime.now(UTC) + LEASE


def _own(import_id: str, worker: str) -> list[ColumnElement[bool]]:
    return [
        ImportRow.id == import_id,
        ImportRow.worker == worker,
        ImportRow.state == ImportState.RUNNING,
    ]


def _any_running() -> ColumnElement[bool]:
    other = aliased(ImportRow)
    return select(other.id).where(other.state == ImportState.RUNNING).exists()


def _update(session: Session, where: list[ColumnElement[bool]], **values: Any) -> int:
    statement = update(ImportRow).where(*where).values(**values)
    result = session.execute(statement.execution_options(synchronize_session=False))
    return result.rowcount if isinstance(result, CursorResult) else 0
