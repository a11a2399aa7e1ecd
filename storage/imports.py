"""What each import did, and which versions could not be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain import ImportItem, ImportKind, ImportReport, ImportState
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.import_rows import add_items, item_of
from storage.tables import FailureRow, ImportItemRow, ImportRow


@dataclass(frozen=True, slots=True)
class Failure:
    """A version that could not be read, and why; "" of a document that can't even be listed.

    With `again` the next import tries it again, though nothing about it has changed. It is no error
    where nothing is wrong with the document.
    """

    version: str
    formats_version: int
    reason: str
    location: str = ""
    again: bool = False
    title: str = ""
    is_error: bool = True


class Imports:
    """The imports that were run, and the failures they remember."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, import_id: str, items: Sequence[ImportItem]) -> None:
        """Note outcomes that change no document."""
        with self._database.write() as session:
            add_items(session, import_id, items)

    def fail(self, import_id: str, source_id: str, item: ImportItem, failure: Failure) -> None:
        """Note a document that could not be read, in the import and for those to come."""
        with self._database.write() as session:
            add_items(session, import_id, [item])
            _remember(session, source_id, {item.key: failure})

    def remember(self, source_id: str, failures: Mapping[str, Failure]) -> None:
        """Note failures by key; one of another version shows again where it was dismissed."""
        with self._database.write() as session:
            _remember(session, source_id, failures)

    def failures(self, source_id: str) -> dict[str, Failure]:
        """By key, what could not be read when it was last tried, dismissed or not."""
        wanted = select(FailureRow).where(FailureRow.source_id == source_id)
        with self._database.read() as session:
            return {
                row.key: Failure(
                    row.version,
                    row.formats_version,
                    row.reason,
                    row.location,
                    row.again,
                    row.title,
                    row.is_error,
                )
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

    def drop_items(self, import_id: str, keys: Sequence[str]) -> None:
        """Take back the items of documents that are gone through once more."""
        with self._database.write() as session:
            for group in in_groups(keys):
                session.execute(
                    delete(ImportItemRow).where(
                        ImportItemRow.import_id == import_id, ImportItemRow.key.in_(group)
                    )
                )

    def get(self, import_id: str) -> ImportReport:
        """The report of an import, running or ended, items in the order they were settled.

        Of earlier imports than a source's latest unchanged and skipped documents are not listed.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.read() as session:
            row = session.get(ImportRow, import_id)
            if row is None:
                raise NotFoundError(
                    f"There is no import {import_id}, or not any more: look at the list."
                )
            return _report(session, row)

    def latest(self, source_id: str) -> ImportReport | None:
        """The report of the source's most recent import, of other kinds of runs none."""
        wanted = (
            select(ImportRow)
            .where(ImportRow.source_id == source_id, ImportRow.kind == ImportKind.IMPORT)
            .order_by(ImportRow.started_at.desc())
            .limit(1)
        )
        with self._database.read() as session:
            row = session.scalar(wanted)
            return None if row is None else _report(session, row)


def _remember(session: Session, source_id: str, failures: Mapping[str, Failure]) -> None:
    for group in in_groups(list(failures)):
        known = select(FailureRow).where(
            FailureRow.source_id == source_id, FailureRow.key.in_(group)
        )
        rows = {row.key: row for row in session.scalars(known)}
        for key in group:
            row = rows.get(key) or FailureRow(source_id=source_id, key=key, dismissed=False)
            _fill(row, failures[key])
            session.add(row)


def _fill(row: FailureRow, failure: Failure) -> None:
    if (row.version, row.formats_version) != (failure.version, failure.formats_version):
        row.dismissed = False
    row.version, row.formats_version = failure.version, failure.formats_version
    row.reason, row.location = failure.reason, failure.location
    row.again, row.failed_at = failure.again, datetime.now(UTC)
    row.title, row.is_error = failure.title, failure.is_error


def _report(session: Session, row: ImportRow) -> ImportReport:
    items = session.scalars(
        select(ImportItemRow).where(ImportItemRow.import_id == row.id).order_by(ImportItemRow.id)
    )
    return ImportReport(
        id=row.id,
        source_id=row.source_id,
        state=ImportState(row.state),
        items=tuple(map(item_of, items)),
        passages_embedded=row.passages_embedded,
        seconds=row.seconds,
        message=row.message,
        kind=ImportKind(row.kind),
    )
