"""Import runs that are waiting, running, or ended.

A run without `finished_at` has not ended: it is waiting, running, or can be resumed.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session, object_session

from domain import (
    CRASHES,
    QUARANTINED,
    READING,
    Action,
    ImportKind,
    ImportRun,
    ImportState,
    Outcome,
    Principal,
)
from domain.messages import _
from storage.ledger.audit_store import add_event
from storage.ledger.columns import from_row
from storage.ledger.database import Store, time_of
from storage.ledger.import_store import import_not_found, source_not_found
from storage.ledger.import_turns import in_turns
from storage.ledger.ledger_tables import ImportItemRow, ImportPortionRow, ImportRow, SourceRow
from storage.processes import is_known_dead

WAITING = (ImportState.QUEUED, ImportState.INTERRUPTED)
_RESTING = (*WAITING, ImportState.PAUSED)
_PROBLEMS = (
    ImportState.FAILED,
    ImportState.COMPLETED_WITH_ERRORS,
    ImportState.NEEDS_CONFIRMATION,
)
ATTEMPTS = 12
"""Consecutive attempts to reach a source; with the pauses in between, nearly two hours."""
_FIRST_RETRY, _LAST_RETRY = timedelta(seconds=15), timedelta(minutes=15)
MAX_PAUSE = timedelta(days=1)
"""The longest pause before a retry, even if the source requests more."""
_NO_CHANGE = (Outcome.UNCHANGED, Outcome.SKIPPED)
_STATES_BY_REQUEST = {"pause": ImportState.PAUSED, "cancel": ImportState.CANCELLED}
_MESSAGES = {
    ImportState.CANCELLED: (
        _("stopped: imported documents are kept; the next import continues from there")
    ),
    ImportState.INTERRUPTED: (
        _(
            "the process ended before the import was complete: imported documents are kept,"
            " and the next worker or import continues from there"
        )
    ),
}


def import_run(row: ImportRow) -> ImportRun:
    """Convert a row to a run; a running one with a dead worker counts as interrupted."""
    state = ImportState.INTERRUPTED if is_abandoned(row) else ImportState(row.state)
    return from_row(ImportRun, row, state=state)


def is_dead(session: Session, worker: str, lease_until: datetime | None) -> bool:
    """Whether a worker's lease has expired or its process is known to have ended."""
    return lease_until is None or is_known_dead(worker) or lease_until < time_of(session)


def is_abandoned(row: ImportRow) -> bool:
    """Whether the run is recorded as running but its worker is dead."""
    if row.state != ImportState.RUNNING:
        return False
    return is_dead(session_of(row), row.worker, row.lease_until)


def session_of(row: ImportRow) -> Session:
    """The session in which the row was read, and which is still open."""
    session = object_session(row)
    assert session is not None  # noqa: S101  # rows do not leave the block of their session
    return session


def postpone(
    session: Session, row: ImportRow, attempts: int, reason: str, at_least_s: float
) -> None:
    """Schedule a retry of a run whose source can't be reached, or fail it after `ATTEMPTS`.

    A pause that the source requested (`at_least_s`) is honored up to one day.
    """
    sentence = reason if reason.endswith(".") else _("{reason}.").format(reason=reason)
    if row.stop_request:
        stop(session, row, ImportState.INTERRUPTED)
    elif attempts >= ATTEMPTS:
        message = _("{reason} Tried {attempts} times. Imported documents are kept").format(
            reason=sentence, attempts=attempts
        )
        end(session, row, ImportState.FAILED, message)
    else:
        end(
            session,
            row,
            ImportState.INTERRUPTED,
            _("{reason} Imported documents are kept").format(reason=sentence),
        )
        row.attempts = attempts
        pause = min(_FIRST_RETRY * 2 ** (attempts - 1), _LAST_RETRY)
        requested = min(timedelta(seconds=at_least_s), MAX_PAUSE)
        row.retry_at = time_of(session) + max(pause, requested)


def stop(session: Session, row: ImportRow, default_state: ImportState) -> None:
    """Stop a run before its end: as requested, or else in `default_state`."""
    end(session, row, _STATES_BY_REQUEST.get(row.stop_request, default_state))


def end(session: Session, row: ImportRow, state: ImportState, message: str = "") -> None:
    """Release the lease and set the state; the run has ended unless that state can be resumed.

    Workers that read portions of the import can no longer write for it.
    """
    session.execute(delete(ImportPortionRow).where(ImportPortionRow.import_id == row.id))
    row.state = state
    row.message = message or _MESSAGES.get(state, "")
    row.stop_request, row.worker, row.lease_until, row.retry_at = "", "", None, None
    if state not in _RESTING:
        finish(session, row)


def finish(session: Session, row: ImportRow) -> None:
    """Mark a run as ended, regardless of its state, and count its outcomes."""
    row.finished_at = datetime.now(UTC)
    row.counts = _counts(session, row.id)
    _add_event(session, row)
    if not row.options.get("keys"):
        _drop_earlier_unchanged(session, row)


def _counts(session: Session, import_id: str) -> dict[str, Any]:
    outcomes = select(ImportItemRow.outcome, func.count()).where(
        ImportItemRow.import_id == import_id
    )
    rows = session.execute(outcomes.group_by(ImportItemRow.outcome))
    return {str(outcome): count for outcome, count in rows}


def _add_event(session: Session, row: ImportRow) -> None:
    """Report the end of an import, except of one that completed without changing anything."""
    changes = {name: number for name, number in row.counts.items() if name not in _NO_CHANGE}
    if row.kind == ImportKind.IMPORT and (changes or row.state != ImportState.COMPLETED):
        detail = {"source_id": row.source_id, "state": row.state, **changes}
        add_event(session, Principal(row.user_id), Action.IMPORT_ENDED, row.id, detail)


def _drop_earlier_unchanged(session: Session, row: ImportRow) -> None:
    """Delete unchanged and skipped items of earlier runs of this kind over the whole source."""
    earlier = select(ImportRow.id).where(
        ImportRow.source_id == row.source_id, ImportRow.kind == row.kind, ImportRow.id != row.id
    )
    session.execute(
        delete(ImportItemRow).where(
            ImportItemRow.import_id.in_(earlier),
            ImportItemRow.outcome.in_((Outcome.UNCHANGED, Outcome.SKIPPED)),
        )
    )


PAUSE, CANCEL = "pause", "cancel"
_INTERNAL = {CRASHES, READING, QUARANTINED}


class ImportRuns(Store):
    """The runs of the queue and the history; each call is one transaction."""

    def enqueue(
        self,
        source_id: str,
        user_id: str,
        kind: ImportKind,
        options: Mapping[str, Any],
        *,
        is_scheduled: bool = False,
    ) -> ImportRun:
        """Add a run to the queue.

        If a run with the same source, kind, and options is waiting, it is returned instead. A
        running one is not, because it may already have listed the source. Instead of a scheduled
        run, any unfinished run of the source is returned, because several workers check schedules.

        Raises:
            NotFoundError: There is no such source.
        """
        with self._database.write() as session:
            # Locked, because the second of two concurrent callers must see the first one's run.
            if session.get(SourceRow, source_id, with_for_update=True) is None:
                raise source_not_found(source_id)
            rows = _unfinished(session, source_id)
            if is_scheduled and rows:
                return import_run(rows[0])
            row = _same(rows, kind, options)
            if row is None:
                row = new_row(source_id, user_id, kind, ImportState.QUEUED, options)
                session.add(row)
                session.flush()
            row.retry_at = None  # the problem may have been fixed
            return import_run(row)

    def get(self, import_id: str) -> ImportRun:
        """A run; raises NotFoundError if there is none with this id."""
        with self._database.read() as session:
            return import_run(_row(session, import_id))

    def current(self, source_id: str | None = None) -> list[ImportRun]:
        """Runs of one source, or of all, that have not ended.

        Running ones come first, then those that wait in the order of their turns, then paused ones.
        """
        query = select(ImportRow).where(ImportRow.finished_at.is_(None))
        with self._database.read() as session:
            rows = _in_order(session, session.scalars(query).all())
            runs = [import_run(row) for row in rows]
        return [run for run in runs if source_id in (None, run.source_id)]

    def history(self, source_id: str, *, limit: int, offset: int = 0) -> list[ImportRun]:
        """The source's ended runs, latest first."""
        newest = _ended_runs(select(ImportRow), source_id).order_by(
            ImportRow.started_at.desc(), ImportRow.id
        )
        return self._list(newest.limit(limit).offset(offset))

    def count_history(self, source_id: str) -> int:
        """The number of the source's ended runs."""
        return self._count(_ended_runs(select(func.count(ImportRow.id)), source_id))

    def problems(self, source_ids: Sequence[str], *, limit: int) -> list[ImportRun]:
        """Ended runs of these sources with unread documents or removals to confirm, or that failed.

        The latest comes first.
        """
        query = select(ImportRow).where(
            ImportRow.state.in_(_PROBLEMS), ImportRow.source_id.in_(source_ids)
        )
        return self._list(query.order_by(ImportRow.finished_at.desc(), ImportRow.id).limit(limit))

    def count_by_state(self) -> dict[str, int]:
        """The number of recorded runs of all sources for each state that occurs."""
        return self._pairs(
            select(ImportRow.state, func.count(ImportRow.id)).group_by(ImportRow.state)
        )

    def request_stop(self, import_id: str, request: str) -> ImportRun:
        """Pause or cancel a run, immediately if no worker has it; no effect if it has ended.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.write() as session:
            row = _row(session, import_id, lock=True)
            if row.finished_at is None:
                row.stop_request = request
                if row.state != ImportState.RUNNING or is_abandoned(row):
                    stop(session, row, ImportState(row.state))
            return import_run(row)

    def resume(self, import_id: str) -> ImportRun:
        """Return a paused run to the queue, or withdraw a pause request not yet in effect.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.write() as session:
            row = _row(session, import_id, lock=True)
            if row.state == ImportState.PAUSED:
                row.state = ImportState.QUEUED
            elif row.stop_request == PAUSE:
                row.stop_request = ""
            return import_run(row)

    def _list(self, query: Select[Any]) -> list[ImportRun]:
        with self._database.read() as session:
            return [import_run(row) for row in session.scalars(query)]


def new_row(
    source_id: str,
    user_id: str,
    kind: ImportKind,
    state: ImportState,
    options: Mapping[str, Any] | None = None,
) -> ImportRow:
    """A run that has not started."""
    return ImportRow(
        id=uuid.uuid4().hex,
        source_id=source_id,
        user_id=user_id,
        kind=kind,
        state=state,
        options=dict(options or {}),
        started_at=datetime.now(UTC),
    )


def _in_order(session: Session, rows: Sequence[ImportRow]) -> list[ImportRow]:
    """Running runs, then waiting ones in the order of their turns, then paused ones."""
    running = [row for row in rows if row.state == ImportState.RUNNING]
    paused = [row for row in rows if row.state == ImportState.PAUSED]
    waiting = [row for row in rows if row.state in WAITING]
    return [*running, *in_turns(session, waiting), *in_turns(session, paused)]


def _ended_runs(query: Select[Any], source_id: str) -> Select[Any]:
    return query.where(ImportRow.source_id == source_id, ImportRow.finished_at.is_not(None))


def _row(session: Session, import_id: str, *, lock: bool = False) -> ImportRow:
    """The row; `lock` keeps workers from changing it (SQLite has only one writer anyway)."""
    row = session.get(ImportRow, import_id, with_for_update=lock or None)
    if row is None:
        raise import_not_found(import_id)
    return row


def _unfinished(session: Session, source_id: str) -> Sequence[ImportRow]:
    current = select(ImportRow).where(
        ImportRow.source_id == source_id, ImportRow.finished_at.is_(None)
    )
    return session.scalars(current.order_by(ImportRow.started_at, ImportRow.id)).all()


def _same(
    rows: Sequence[ImportRow], kind: ImportKind, options: Mapping[str, Any]
) -> ImportRow | None:
    for row in rows:
        is_same = row.kind == kind and _requested_options(row.options) == dict(options)
        if is_same and not _is_late(row):
            return row
    return None


def _is_late(row: ImportRow) -> bool:
    """Whether the run may miss changes made just now; a running removal misses none."""
    at_work = row.state == ImportState.RUNNING and not is_abandoned(row)
    return at_work and (row.kind != ImportKind.REMOVAL or bool(row.stop_request))


def _requested_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _INTERNAL}
