"""Leases: which worker performs which import run.

The worker of a running import renews its lease. If the lease expires or the process is known to
be dead, the run counts as interrupted, and the next worker resumes it. A worker that has lost its
lease can no longer change the run.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select, update
from sqlalchemy.orm import Session, aliased

from domain import (
    CRASHES,
    QUARANTINED,
    READING,
    Action,
    DocumentVersion,
    ImportKind,
    ImportRun,
    ImportState,
    Principal,
    Progress,
)
from domain.errors import BusyError
from domain.messages import _
from storage.ledger.audit_store import add_event
from storage.ledger.database import Database, Store, time_of
from storage.ledger.import_queue_store import (
    MAX_PAUSE,
    WAITING,
    end,
    finish,
    import_run,
    is_abandoned,
    is_dead,
    new_row,
    postpone,
    session_of,
    stop,
)
from storage.ledger.import_turns import in_turns, take_turn
from storage.ledger.lease_guard import has_lease
from storage.ledger.ledger_tables import ImportPortionRow, ImportRow, WorkerRow
from storage.processes import is_known_dead

LEASE = timedelta(seconds=20)
_RENEWAL_S = 10.0
"""How long the expired lease of a living process must stay unchanged: it is renewed every 4 s."""
_CRASHES, _MOST_QUARANTINED = 3, 20
"""Crashes on a document that was not noted, and quarantined documents, that a run may have."""


class ImportLeases(Store):
    """The workers' side of the queue; each call is one transaction."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._expired: dict[str, tuple[datetime | None, float]] = {}
        """Expired leases of living processes by run, and when they were first seen (monotonic)."""

    def claim(self, worker: str) -> ImportRun | None:
        """Lease the waiting run whose turn it is, of a source without a running one; None if none.

        If several workers call it concurrently, only one gets the run. A run that could not start
        because the library was busy has had its turn, so it does not block dry runs.
        """
        with self._database.write() as session:
            row = next(iter(in_turns(session, session.scalars(_waiting(session)))), None)
            if row is None:
                return None
            if not (row.seconds or row.progress):
                row.started_at = datetime.now(UTC)
            row.state, row.message = ImportState.RUNNING, ""
            row.worker, row.lease_until = worker, _lease(session)
            if READING in row.options:  # the worker that noted it did not crash
                row.options = {**row.options, READING: None}
            take_turn(session, row)
            return import_run(row)

    def others_wait(self, run: ImportRun) -> bool:
        """Whether an import of another source waits for its turn, and no idle worker can take it.

        An import whose source has a running one waits for that one, not for a worker.
        """
        with self._database.read() as session:
            others = _waiting(session).where(ImportRow.source_id != run.source_id)
            if not session.scalar(select(others.exists())):
                return False
            return not _any_idle(session)

    def start(self, source_id: str, user_id: str, worker: str) -> str:
        """Start an import immediately, bypassing the queue, and return its id.

        Ends interrupted imports of the whole source, whose remaining work the new import includes.

        Raises:
            BusyError: A run of this source is in progress.
        """
        with self._database.write() as session:
            _interrupt_dead_or_refuse(session, source_id)
            interrupted = select(ImportRow).where(
                ImportRow.source_id == source_id,
                ImportRow.kind == ImportKind.IMPORT,
                ImportRow.state == ImportState.INTERRUPTED,
                ImportRow.finished_at.is_(None),
            )
            for row in session.scalars(interrupted).all():
                if not row.options.get("keys"):  # a run with keys reads documents even if unchanged
                    finish(session, row)
            new = new_row(source_id, user_id, ImportKind.IMPORT, ImportState.RUNNING)
            new.worker, new.lease_until = worker, _lease(session)
            session.add(new)
            detail = {"source_id": source_id}
            add_event(session, Principal(user_id), Action.IMPORT_STARTED, new.id, detail)
            return new.id

    def require_idle(self, source_id: str) -> None:
        """Make sure that no run of the source is in progress.

        Raises:
            BusyError: There is one.
        """
        with self._database.read() as session:
            for row in session.scalars(_running_of(source_id)):
                if not is_abandoned(row):
                    raise _busy(row.worker)

    def renew(self, import_id: str, worker: str) -> None:
        """Extend the lease of a run."""
        with self._database.write() as session:
            _update(session, import_id, worker, lease_until=_lease(session))

    def stop_request(self, import_id: str, worker: str) -> str | None:
        """The pause or cancellation request, "" if there is none; None if the lease was lost."""
        with self._database.read() as session:
            query = select(ImportRow.stop_request).where(has_lease(import_id, worker))
            return session.scalar(query)

    def save_progress(
        self, import_id: str, worker: str, progress: Progress, seconds: float
    ) -> None:
        """Save the progress of the worker's run."""
        with self._database.write() as session:
            _update(session, import_id, worker, progress=asdict(progress), seconds=seconds)

    def note_reading(self, import_id: str, worker: str, document: DocumentVersion | None) -> None:
        """Note the document that the worker reads now; if the worker crashes, it is quarantined.

        None notes that what an earlier crash lost has been stored.
        """
        with self._database.write(synced=False) as session:
            row = session.scalar(select(ImportRow).where(has_lease(import_id, worker)))
            if row is not None:
                options = {**row.options, READING: document and list(document)}
                if document is None:
                    options.pop(CRASHES, None)
                row.options = options

    def settle(
        self,
        import_id: str,
        worker: str,
        state: ImportState,
        *,
        message: str,
        seconds: float,
        passages: int | None = None,
    ) -> ImportRun | None:
        """Record how the worker's run ended; None if the lease was lost."""
        with self._own_run(import_id, worker, seconds) as (session, row):
            if row is None:
                return None
            if passages is not None:
                row.passages_embedded = passages
            end(session, row, state, message)
            return import_run(row)

    def stop(
        self, import_id: str, worker: str, default_state: ImportState, *, seconds: float
    ) -> ImportRun | None:
        """Record that the run stopped early: as requested, or else in `default_state`.

        None if the lease was lost.
        """
        with self._own_run(import_id, worker, seconds) as (session, row):
            if row is None:
                return None
            stop(session, row, default_state)
            return import_run(row)

    def postpone(
        self,
        import_id: str,
        worker: str,
        reason: str,
        *,
        seconds: float,
        has_written: bool,
        at_least_s: float,
    ) -> ImportRun | None:
        """Interrupt the run for at least `at_least_s`, with exponential backoff.

        A pause or cancellation request takes effect instead. The run fails after `ATTEMPTS`
        consecutive attempts that wrote nothing. None if the lease was lost.
        """
        with self._own_run(import_id, worker, seconds) as (session, row):
            if row is None:
                return None
            attempts = 1 if has_written else row.attempts + 1
            postpone(session, row, attempts, reason, at_least_s)
            return import_run(row)

    def interrupt_dead(self) -> int:
        """Mark running imports whose worker is dead as interrupted and return their number.

        A pause or cancellation request takes effect instead. A document that was noted by
        `note_reading` is quarantined. A run that repeatedly crashes on a document that was not
        noted fails, so that it is not resumed forever, and so does one with many quarantined
        documents.

        An expired lease alone does not prove a crash: the clock may have been set forward, or the
        ledger may have been unavailable. The worker is dead only if the lease is not renewed while
        this object is used.
        """
        running = select(ImportRow).where(ImportRow.state == ImportState.RUNNING)
        with self._database.read() as session:
            if not any(self._is_dead(row) for row in session.scalars(running)):
                return 0
        with self._database.write() as session:
            rows = session.scalars(running.with_for_update()).all()
            dead = [row for row in rows if self._is_dead(row)]
            for row in dead:
                _interrupt(session, row)
            return len(dead)

    def _is_dead(self, row: ImportRow) -> bool:
        if not is_dead(session_of(row), row.worker, row.lease_until):
            return False
        if is_known_dead(row.worker):
            return True
        lease, since = self._expired.get(row.id, (None, 0.0))
        if lease != row.lease_until:
            self._expired[row.id] = row.lease_until, time.monotonic()
            return False
        return time.monotonic() - since >= _RENEWAL_S

    @contextmanager
    def _own_run(
        self, import_id: str, worker: str, seconds: float
    ) -> Iterator[tuple[Session, ImportRow | None]]:
        with self._database.write() as session:
            own = select(ImportRow).where(has_lease(import_id, worker))
            row = session.scalar(own.with_for_update())
            if row is not None:
                row.seconds = seconds
            yield session, row


class Workers(Store):
    """The worker processes that perform queued runs."""

    def renew(self, name: str) -> None:
        """Send a heartbeat."""
        with self._database.write() as session:
            session.merge(WorkerRow(name=name, lease_until=_lease(session)))

    def leave(self, name: str) -> None:
        """Unregister a worker and all dead workers."""
        with self._database.write() as session:
            for row in session.scalars(select(WorkerRow)).all():
                if row.name == name or is_dead(session, row.name, row.lease_until):
                    session.execute(delete(WorkerRow).where(WorkerRow.name == row.name))

    def any_alive(self, other_than: str = "") -> bool:
        """Whether a worker sent a heartbeat recently and is not known to be dead."""
        with self._database.read() as session:
            rows = session.scalars(select(WorkerRow).where(WorkerRow.name != other_than))
            return any(not is_dead(session, row.name, row.lease_until) for row in rows)

    def any_recent(self) -> bool:
        """Whether a worker sent a heartbeat recently, even if it has died since."""
        with self._database.read() as session:
            recent = WorkerRow.lease_until > time_of(session)
            return session.scalar(select(WorkerRow.name).where(recent).limit(1)) is not None


_MANY_CRASHES = _(
    "the import crashed on many documents: give its process more memory, or see its log for the"
    " reason, then import again; imported documents are kept"
)


def _interrupt(session: Session, row: ImportRow) -> None:
    reading, options = row.options.get(READING), {**row.options, READING: None}
    key, crash = row.progress.get("key", ""), options.get(CRASHES, {})
    times = crash.get("times", 0) + 1 if key == crash.get("key") else 1
    options[CRASHES] = {"key": key, "times": times}
    if reading is not None:
        options[QUARANTINED] = [*options.get(QUARANTINED, ()), reading]
    row.options = options
    if not row.stop_request and len(options.get(QUARANTINED, ())) > _MOST_QUARANTINED:
        end(session, row, ImportState.FAILED, message=_MANY_CRASHES)
        return
    if reading is not None or not key or times < _CRASHES or row.stop_request:
        stop(session, row, ImportState.INTERRUPTED)
        return
    message = _(
        "its process ended {times} times at {key}: exclude or repair this document, then import"
        " again; imported documents are kept"
    ).format(times=times, key=key)
    end(session, row, ImportState.FAILED, message=message)


def _lease(session: Session) -> datetime:
    return time_of(session) + LEASE


def _waiting(session: Session) -> Select[ImportRow]:
    """The runs that a worker may perform now: one of each source at a time."""
    other = aliased(ImportRow)
    running = select(other.id).where(
        other.source_id == ImportRow.source_id, other.state == ImportState.RUNNING
    )
    return select(ImportRow).where(
        ImportRow.state.in_(WAITING),
        ImportRow.finished_at.is_(None),
        _may_be_tried(time_of(session)),
        ~running.exists(),
    )


def _may_be_tried(now: datetime) -> ColumnElement[bool]:
    """Whether a run need not wait; a longer wait than any was set by a clock that was ahead."""
    at = ImportRow.retry_at
    return at.is_(None) | (at <= now) | (at > now + MAX_PAUSE)


def _running_of(source_id: str) -> Select[ImportRow]:
    return select(ImportRow).where(
        ImportRow.source_id == source_id, ImportRow.state == ImportState.RUNNING
    )


def _interrupt_dead_or_refuse(session: Session, source_id: str) -> None:
    """Interrupt runs of the source without a living worker; raise BusyError if there is another.

    If an expired lease belongs to a worker that lives after all, it can no longer write.
    """
    for row in session.scalars(_running_of(source_id)).all():
        if not is_abandoned(row):
            raise _busy(row.worker)
        _interrupt(session, row)


def _busy(worker: str) -> BusyError:
    host, _slash, rest = worker.partition("/")
    return BusyError(
        _(
            "Process {pid} on {host} is working on this source: let it finish, or cancel it on the"
            " import page, then try again."
        ).format(pid=rest.partition("/")[0], host=host)
    )


def _any_idle(session: Session) -> bool:
    """Whether a living worker performs no run and reads no portion, and can therefore claim one."""
    running = select(ImportRow.id).where(
        ImportRow.worker == WorkerRow.name, ImportRow.state == ImportState.RUNNING
    )
    reading = select(ImportPortionRow.number).where(ImportPortionRow.worker == WorkerRow.name)
    idle = session.scalars(select(WorkerRow).where(~running.exists(), ~reading.exists()))
    return any(not is_dead(session, row.name, row.lease_until) for row in idle)


def _update(session: Session, import_id: str, worker: str, **values: Any) -> None:
    statement = update(ImportRow).where(has_lease(import_id, worker)).values(**values)
    session.execute(statement.execution_options(synchronize_session=False))
