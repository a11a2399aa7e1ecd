"""What each import did, and which versions could not be read."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from domain import DocumentRef, ImportItem, ImportKind, ImportReport, ImportState, Outcome
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.tables import FailureRow, ImportItemRow, ImportRow


@dataclass(frozen=True, slots=True)
class Failure:
    """A version that could not be read, and why."""

    version: str
    formats_version: int
    reason: str


class Imports:
    """The imports that were run, and the failures they remember."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, source_id: str, user_id: str) -> str:
        """Note that an import has begun; its id."""
        row = ImportRow(
            id=uuid.uuid4().hex,
            source_id=source_id,
            user_id=user_id,
            state=ImportState.RUNNING,
            started_at=datetime.now(UTC),
            message="",
            seconds=0.0,
            passages_embedded=0,
        )
        import_id = row.id
        with self._database.write() as session:
            session.add(row)
        return import_id

    def add(self, import_id: str, items: Sequence[ImportItem]) -> None:
        """Note outcomes that change no document."""
        with self._database.write() as session:
            add_items(session, import_id, items)

    def fail(
        self, import_id: str, item: ImportItem, remembered: tuple[str, DocumentRef, Failure] | None
    ) -> None:
        """Note a document that could not be read.

        Args:
            import_id: The import that tried.
            item: What the report says about it.
            remembered: Source id, document and failure where trying again is useless until
                the document changes.
        """
        with self._database.write() as session:
            add_items(session, import_id, [item])
            if remembered is not None:
                source_id, ref, failure = remembered
                session.merge(
                    FailureRow(
                        source_id=source_id,
                        key=ref.key,
                        version=failure.version,
                        formats_version=failure.formats_version,
                        reason=failure.reason,
                    )
                )

    def failures(self, source_id: str) -> dict[str, Failure]:
        """By key, the versions that could not be read when they were last tried."""
        wanted = select(FailureRow).where(FailureRow.source_id == source_id)
        with self._database.read() as session:
            return {
                row.key: Failure(row.version, row.formats_version, row.reason)
                for row in session.scalars(wanted)
            }

    def forget_failures(self, source_id: str, keys: Sequence[str]) -> None:
        """Drop what is known of documents that are gone or are readable again."""
        with self._database.write() as session:
            for group in in_groups(keys):
                session.execute(
                    delete(FailureRow).where(
                        FailureRow.source_id == source_id, FailureRow.key.in_(group)
                    )
                )

    def finish(self, report: ImportReport) -> None:
        """Note how an import ended; its items are kept, and only the latest one's unchanged."""
        with self._database.write() as session:
            row = session.get_one(ImportRow, report.id)
            row.state = report.state
            row.message = report.message
            row.seconds = report.seconds
            row.passages_embedded = report.passages_embedded
            row.finished_at = datetime.now(UTC)
            row.counts = {
                outcome.value: count for outcome in Outcome if (count := report.count(outcome))
            }
            _drop_unchanged_items(session, report)

    def get(self, import_id: str) -> ImportReport:
        """The report of an import, running or ended, items in the order they were settled.

        Of earlier imports than a source's latest the unchanged documents are not listed.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.read() as session:
            row = session.get(ImportRow, import_id)
            if row is None:
                raise NotFoundError(f"there is no import {import_id}")
            return _report(session, row)

    def latest(self, source_id: str) -> ImportReport | None:
        """The report of the source's most recent import."""
        wanted = (
            select(ImportRow)
            .where(ImportRow.source_id == source_id)
            .order_by(ImportRow.started_at.desc())
            .limit(1)
        )
        with self._database.read() as session:
            row = session.scalar(wanted)
            return None if row is None else _report(session, row)

    def interrupt_running(self) -> int:
        """Mark imports that a dead process left running; how many.

        Only for whoever holds the writer lock: an import runs under it.
        """
        with self._database.write() as session:
            running = select(ImportRow).where(ImportRow.state == ImportState.RUNNING)
            rows = session.scalars(running).all()
            for row in rows:
                _interrupt(row)
            return len(rows)


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
        }
        for item in items
    ]
    if rows:
        session.execute(insert(ImportItemRow), rows)


def _interrupt(row: ImportRow) -> None:
    row.state = ImportState.INTERRUPTED
    row.message = (
        "the process ended before the import did; what it had imported is kept, and importing"
        " again goes on from there"
    )
    row.finished_at = datetime.now(UTC)


def _drop_unchanged_items(session: Session, report: ImportReport) -> None:
    earlier = select(ImportRow.id).where(
        ImportRow.source_id == report.source_id, ImportRow.id != report.id
    )
    session.execute(
        delete(ImportItemRow).where(
            ImportItemRow.import_id.in_(earlier), ImportItemRow.outcome == Outcome.UNCHANGED
        )
    )


def _report(session: Session, row: ImportRow) -> ImportReport:
    items = session.scalars(
        select(ImportItemRow).where(ImportItemRow.import_id == row.id).order_by(ImportItemRow.id)
    )
    return ImportReport(
        id=row.id,
        source_id=row.source_id,
        state=ImportState(row.state),
        items=tuple(
            ImportItem(
                item.key,
                item.location,
                Outcome(item.outcome),
                item.reason,
                item.passages,
                item.pages,
                item.characters,
            )
            for item in items
        ),
        passages_embedded=row.passages_embedded,
        seconds=row.seconds,
        message=row.message,
        kind=ImportKind(row.kind),
    )
