"""Rows of imports: read as values, stopped and ended."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from domain import ImportItem, ImportKind, ImportState, Outcome, Progress, QueuedImport, Stage
from storage.processes import is_known_dead
from storage.tables import ImportItemRow, ImportRow

WAITING = (ImportState.QUEUED, ImportState.INTERRUPTED)
_RESTING = (*WAITING, ImportState.PAUSED)
ATTEMPTS = 12
"""So often in a row a source is asked that can't be reached: with their pauses nearly two hours."""
_FIRST_RETRY, _LAST_RETRY = timedelta(seconds=15), timedelta(minutes=15)
_LONGEST_PEACE = timedelta(days=1)
_WISHES = {"pause": ImportState.PAUSED, "cancel": ImportState.CANCELLED}
_MESSAGES = {
    ImportState.CANCELLED: (
        "stopped: what was imported is kept, and importing again goes on from there"
    ),
    ImportState.INTERRUPTED: (
        "the process ended before the import did: what it had imported is kept, and the next"
        " worker goes on from there, or importing again"
    ),
}


def queued(row: ImportRow) -> QueuedImport:
    """The import as a value; one whose worker is dead is interrupted, whatever was noted last."""
    return QueuedImport(
        id=row.id,
        source_id=row.source_id,
        kind=ImportKind(row.kind),
        state=ImportState.INTERRUPTED if is_left(row) else ImportState(row.state),
        started_at=row.started_at,
        finished_at=row.finished_at,
        seconds=row.seconds,
        message=row.message,
        passages_embedded=row.passages_embedded,
        progress=_progress(row.progress),
        counts=dict(row.counts),
        options=dict(row.options),
        wish=row.wish,
        user_id=row.user_id,
        retry_at=row.retry_at,
    )


def is_dead(worker: str, lease_until: datetime | None) -> bool:
    """Whether a worker gave no sign of life for as long as its lease, or is known to be gone."""
    return lease_until is None or lease_until < datetime.now(UTC) or is_known_dead(worker)


def is_left(row: ImportRow) -> bool:
    """Whether it is noted as running, and its worker is dead."""
    return row.state == ImportState.RUNNING and is_dead(row.worker, row.lease_until)


def add_items(session: Session, import_id: str, items: Iterable[ImportItem]) -> None:
    """Add items to an import, within the caller's transaction."""
    rows = [
        {
            "import_id": import_id,
            "key": item.key,
            "location": item.location,
            "outcome": item.outcome,
            "reason": item.reason,
            "passages": item.passages,
            "pages": item.pages,
            "characters": item.characters,
            "tokens": item.tokens,
            "title": item.title,
        }
        for item in items
    ]
    if rows:
        session.execute(insert(ImportItemRow), rows)


def item_of(row: ImportItemRow) -> ImportItem:
    """The item that a row of the ledger holds."""
    return ImportItem(
        key=row.key,
        location=row.location,
        outcome=Outcome(row.outcome),
        reason=row.reason,
        passages=row.passages,
        pages=row.pages,
        characters=row.characters,
        tokens=row.tokens,
        title=row.title,
    )


def postpone(
    session: Session, row: ImportRow, attempts: int, reason: str, at_least_s: float
) -> None:
    """Leave an import until its source can be reached, or for good after `ATTEMPTS` in a row.

    A source that asks for its peace gets it for `at_least_s`, though no longer than a day.
    """
    told = f"{reason.removesuffix('.')}."
    if row.wish:
        stop(session, row, ImportState.INTERRUPTED)
    elif attempts >= ATTEMPTS:
        message = f"{told} Tried {attempts} times. What was imported is kept"
        end(session, row, ImportState.FAILED, message)
    else:
        end(session, row, ImportState.INTERRUPTED, f"{told} What was imported is kept")
        row.attempts = attempts
        pause = min(_FIRST_RETRY * 2 ** (attempts - 1), _LAST_RETRY)
        asked = min(timedelta(seconds=at_least_s), _LONGEST_PEACE)
        row.retry_at = datetime.now(UTC) + max(pause, asked)


def stop(session: Session, row: ImportRow, otherwise: ImportState) -> None:
    """Leave an import before its end: as a person wished, or else as `otherwise`."""
    end(session, row, _WISHES.get(row.wish, otherwise))


def end(session: Session, row: ImportRow, state: ImportState, message: str = "") -> None:
    """Let nobody be at work on it; it has ended unless that state is one to go on from."""
    row.state = state
    row.message = message or _MESSAGES.get(state, "")
    row.wish, row.worker, row.lease_until, row.retry_at = "", "", None, None
    if state not in _RESTING:
        finish(session, row)


def finish(session: Session, row: ImportRow) -> None:
    """Let nobody go on with an import, and count what it did, whatever its state."""
    row.finished_at = datetime.now(UTC)
    row.counts = _counts(session, row.id)
    if not row.options.get("keys"):
        _drop_earlier_unchanged(session, row)


def _counts(session: Session, import_id: str) -> dict[str, Any]:
    outcomes = select(ImportItemRow.outcome, func.count()).where(
        ImportItemRow.import_id == import_id
    )
    found = session.execute(outcomes.group_by(ImportItemRow.outcome))
    return {str(outcome): count for outcome, count in found}


def _drop_earlier_unchanged(session: Session, row: ImportRow) -> None:
    """Of earlier runs of that kind over the whole source what did not change doesn't interest."""
    earlier = select(ImportRow.id).where(
        ImportRow.source_id == row.source_id, ImportRow.kind == row.kind, ImportRow.id != row.id
    )
    session.execute(
        delete(ImportItemRow).where(
            ImportItemRow.import_id.in_(earlier),
            ImportItemRow.outcome.in_((Outcome.UNCHANGED, Outcome.SKIPPED)),
        )
    )


def _progress(told: Mapping[str, Any]) -> Progress | None:
    return Progress(**{**told, "stage": Stage(told["stage"])}) if told else None
