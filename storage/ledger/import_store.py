"""The items of imports, and document versions that could not be read."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy import Select, and_, case, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from domain import (
    FailedDocument,
    ImportDay,
    ImportItem,
    ImportKind,
    ImportReport,
    ImportState,
    Outcome,
)
from domain.errors import NotFoundError
from domain.messages import _
from storage.ledger.columns import columns_of, from_row, shallow_dict
from storage.ledger.database import Columns, Database, Store, change_all, in_groups, scalars_with
from storage.ledger.document_store import document_id
from storage.ledger.ledger_tables import DocumentRow, FailureRow, ImportItemRow, ImportRow
from storage.ledger.restriction_store import Readers, is_readable_by


@dataclass(frozen=True, slots=True)
class Failure:
    """A document version that could not be read; `version` is "" if it could not be listed.

    With `again`, the next import retries it even if it has not changed. `is_error` is False if
    nothing is wrong with the document.
    """

    version: str
    formats_version: int
    reason: str
    location: str = ""
    again: bool = False
    title: str = ""
    is_error: bool = True


@dataclass(frozen=True, slots=True)
class ReadFigures:
    """Totals over the documents that an import read."""

    passages: int = 0
    pages: int = 0
    characters: int = 0
    tokens: int = 0


def import_not_found(import_id: str) -> NotFoundError:
    """The error for an import that does not exist or is not visible."""
    return NotFoundError(
        _(
            "There is no import {import_id}, or it was removed with its source. See the list of"
            " imports."
        ).format(import_id=import_id)
    )


def source_not_found(source_id: str) -> NotFoundError:
    """The error for a source that does not exist or is not visible."""
    return NotFoundError(_("there is no source {source_id}").format(source_id=source_id))


def add_items(session: Session, import_id: str, items: Iterable[ImportItem]) -> None:
    """Add items to an import, within the caller's transaction."""
    rows = [{"import_id": import_id, **shallow_dict(item)} for item in items]
    if rows:
        session.execute(insert(ImportItemRow), rows)


class Imports(Store):
    """Items of imports, and the failures that later imports take into account."""

    def add(self, import_id: str, items: Sequence[ImportItem]) -> None:
        """Record outcomes that don't change documents."""
        with self._database.write() as session:
            add_items(session, import_id, items)

    def fail(self, import_id: str, source_id: str, item: ImportItem, failure: Failure) -> None:
        """Record a document that could not be read, for this import and later ones."""
        with self._database.write() as session:
            add_items(session, import_id, [item])
            _remember(session, source_id, {item.key: failure})

    def remember(self, source_id: str, failures: Mapping[str, Failure]) -> None:
        """Record failures by key; a dismissed one reappears if its version has changed."""
        with self._database.write() as session:
            _remember(session, source_id, failures)

    def failures(self, source_id: str) -> dict[str, Failure]:
        """The failures of the last attempts by key, including dismissed ones."""
        query = select(FailureRow).where(FailureRow.source_id == source_id)
        with self._database.read() as session:
            return {row.key: from_row(Failure, row) for row in session.scalars(query)}

    def forget_failures(self, source_id: str, keys: Sequence[str]) -> None:
        """Delete the failures of documents that were removed or are readable again."""
        statement = delete(FailureRow).where(FailureRow.source_id == source_id)
        with self._database.write() as session:
            change_all(session, statement, FailureRow.key, keys)

    def drop_items(self, import_id: str, keys: Sequence[str]) -> None:
        """Delete the items of documents that will be processed again."""
        statement = delete(ImportItemRow).where(ImportItemRow.import_id == import_id)
        with self._database.write() as session:
            change_all(session, statement, ImportItemRow.key, keys)

    def items(
        self, import_id: str, outcomes: Sequence[Outcome] = (), *, limit: int, offset: int = 0
    ) -> list[ImportItem]:
        """A page of the import's items; empty `outcomes` select all."""
        query = select(ImportItemRow).where(ImportItemRow.import_id == import_id)
        if outcomes:
            query = query.where(ImportItemRow.outcome.in_(outcomes))
        page = query.order_by(ImportItemRow.id).limit(limit).offset(offset)
        return self._each(ImportItem, page)

    def keys_among(self, import_id: str, keys: Sequence[str]) -> set[str]:
        """Those of the keys whose documents have an item."""
        query = select(ImportItemRow.key).where(ImportItemRow.import_id == import_id)
        with self._database.read() as session:
            return set(scalars_with(session, query, ImportItemRow.key, keys))

    def counts(self, import_id: str) -> dict[Outcome, int]:
        """The number of documents by outcome, even while the import is running."""
        query = select(ImportItemRow.outcome, func.count()).where(
            ImportItemRow.import_id == import_id
        )
        counts = self._pairs(query.group_by(ImportItemRow.outcome))
        return {Outcome(name): count for name, count in counts.items()}

    def count_with_reason(self, import_id: str, words: str) -> int:
        """The number of documents whose reason's template contains these words."""
        items = select(func.count()).where(ImportItemRow.import_id == import_id)
        return self._count(items.where(ImportItemRow.reason.contains(words)))

    def figures(self, import_id: str) -> ReadFigures:
        """Totals over the documents that were read."""
        columns = columns_of(ReadFigures, ImportItemRow)
        query = select(*(func.coalesce(func.sum(column), 0) for column in columns))
        with self._database.read() as session:
            row = session.execute(query.where(ImportItemRow.import_id == import_id)).one()
            return ReadFigures(*(int(value) for value in row))

    def passages_of_dry_run(self, source_id: str) -> dict[str, int]:
        """The passages of new and changed documents by key, as the latest dry run counted them."""
        latest = select(ImportRow.id).where(
            ImportRow.source_id == source_id,
            ImportRow.kind == ImportKind.DRY_RUN,
            ImportRow.state.in_((ImportState.COMPLETED, ImportState.COMPLETED_WITH_ERRORS)),
        )
        query = select(ImportItemRow.key, ImportItemRow.passages).where(
            ImportItemRow.import_id
            == latest.order_by(ImportRow.started_at.desc()).limit(1).scalar_subquery(),
            ImportItemRow.outcome.in_((Outcome.NEW, Outcome.CHANGED)),
        )
        return self._pairs(query)

    def replace_items(self, import_id: str, items: Sequence[ImportItem]) -> None:
        """Delete the items of an import and store these instead."""
        with self._database.write() as session:
            session.execute(delete(ImportItemRow).where(ImportItemRow.import_id == import_id))
            for group in in_groups(items):
                add_items(session, import_id, group)

    def get(self, import_id: str) -> ImportReport:
        """The report of an import, running or ended, with items in processing order.

        Unchanged and skipped documents are stored for a source's latest import only.

        Raises:
            NotFoundError: There is no such import.
        """
        with self._database.read() as session:
            row = session.get(ImportRow, import_id)
            if row is None:
                raise import_not_found(import_id)
            return _report(session, row)

    def latest(self, source_id: str) -> ImportReport | None:
        """The report of the source's most recent import, ignoring dry runs and removals."""
        query = (
            select(ImportRow)
            .where(ImportRow.source_id == source_id, ImportRow.kind == ImportKind.IMPORT)
            .order_by(ImportRow.started_at.desc())
            .limit(1)
        )
        with self._database.read() as session:
            row = session.scalar(query)
            return None if row is None else _report(session, row)


def _remember(session: Session, source_id: str, failures: Mapping[str, Failure]) -> None:
    query = select(FailureRow).where(FailureRow.source_id == source_id)
    stored = scalars_with(session, query, FailureRow.key, list(failures))
    rows = {row.key: row for row in stored}
    for key, failure in failures.items():
        row = rows.get(key) or FailureRow(source_id=source_id, key=key, dismissed=False)
        _fill(row, failure)
        session.add(row)


def _fill(row: FailureRow, failure: Failure) -> None:
    if (row.version, row.formats_version) != (failure.version, failure.formats_version):
        row.dismissed = False
    for name, value in shallow_dict(failure).items():
        setattr(row, name, value)
    row.failed_at = datetime.now(UTC)


def _report(session: Session, row: ImportRow) -> ImportReport:
    items = session.scalars(
        select(ImportItemRow).where(ImportItemRow.import_id == row.id).order_by(ImportItemRow.id)
    )
    return from_row(ImportReport, row, items=tuple(from_row(ImportItem, item) for item in items))


class Failures(Store):
    """Documents of all sources that could not be read, without dismissed ones.

    Documents of which an earlier version is hidden from the `readers` are omitted.
    """

    def identifiers(
        self, sources: Sequence[str] | None = None, readers: Readers = None
    ) -> list[tuple[str, str]]:
        """The source id and key of each failed document, latest first; `sources` None means all."""
        query = select(FailureRow.source_id, FailureRow.key).where(REPORTED)
        query = readable_failures(query, readers)
        if sources is not None:
            query = query.where(FailureRow.source_id.in_(sources))
        latest = FailureRow.failed_at.desc().nulls_last()
        with self._database.read() as session:
            rows = session.execute(query.order_by(latest, FailureRow.source_id, FailureRow.key))
            return [(source_id, key) for source_id, key in rows]

    def of(self, documents: Iterable[tuple[str, str]]) -> list[FailedDocument]:
        """The failures of a page of documents by source id and key, in this order."""
        with self._database.read() as session:
            rows = (session.get(FailureRow, one) for one in documents)
            return [from_row(FailedDocument, row) for row in rows if row]

    def dismiss(self, source_id: str, keys: Iterable[str]) -> None:
        """Hide failures until another version of the document fails; unknown keys are ignored."""
        dismissal = update(FailureRow).where(FailureRow.source_id == source_id)
        with self._database.write() as session:
            change_all(session, dismissal.values(dismissed=True), FailureRow.key, list(keys))


REPORTED = FailureRow.dismissed.is_(False) & FailureRow.is_error
"""Failures that users see."""


def readable_failures(query: Select[*Columns], readers: Readers) -> Select[*Columns]:
    """The query of failures without those of stored documents that the readers may not read."""
    if readers is None:
        return query
    same = and_(DocumentRow.source_id == FailureRow.source_id, DocumentRow.key == FailureRow.key)
    return query.outerjoin(DocumentRow, same).where(
        or_(DocumentRow.id.is_(None), is_readable_by(readers))
    )


_CHANGES = (Outcome.NEW, Outcome.CHANGED, Outcome.REMOVED)


def import_days(
    database: Database,
    sources: Sequence[str],
    since: datetime,
    readers: Readers = None,
    hidden: Collection[str] = (),
) -> list[ImportDay]:
    """The days since `since` with new, changed, or removed documents, oldest first.

    Dry runs don't count, nor do documents that the readers may not read; of removed documents,
    these are the `hidden` ids.
    """
    day, needs_keys = func.date(ImportRow.started_at), readers is not None
    # Only the key tells which removed document it was.
    removed = case((DocumentRow.id.is_(None) & needs_keys, ImportItemRow.key), else_="")
    same = and_(DocumentRow.source_id == ImportRow.source_id, DocumentRow.key == ImportItemRow.key)
    query = (
        select(day, ImportItemRow.outcome, ImportRow.source_id, removed, func.count())
        .join(ImportItemRow, ImportItemRow.import_id == ImportRow.id)
        .outerjoin(DocumentRow, same)
        .where(
            or_(DocumentRow.id.is_(None), is_readable_by(readers)),
            ImportRow.source_id.in_(sources),
            ImportRow.started_at >= since,
            ImportRow.kind != ImportKind.DRY_RUN,
            ImportItemRow.outcome.in_(_CHANGES),
        )
        .group_by(day, ImportItemRow.outcome, ImportRow.source_id, removed)
        .order_by(day)
    )
    days: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with database.read() as session:
        for text, outcome, source_id, key, documents in session.execute(query):
            if not key or document_id(source_id, key) not in hidden:
                days[str(text)][outcome] += documents
        return [ImportDay(date.fromisoformat(text), counts) for text, counts in days.items()]
