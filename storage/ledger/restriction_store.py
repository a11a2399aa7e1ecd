"""Restrictions: who may read sources, collections, and documents.

A restriction is a set of readers (`domain.Principal.readers`). What has no restriction is readable
by everyone; what has several is readable by those who are in each of them, as Confluence combines
the restrictions of a page with those of the pages above it. Restrictions are not in the indexes,
so a change affects the next question.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, func, insert, select, true
from sqlalchemy.orm import Session

from storage.ledger.access_tables import (
    CounterRow,
    DocumentRestrictionRow,
    RestrictionReaderRow,
    RestrictionRow,
)
from storage.ledger.database import Database, Store, change_all, rows_with, scalars_with
from storage.ledger.ledger_tables import DocumentRow

_COUNTER = "restrictions"
_PRINCIPALS = 32
"""The number of principals whose results are cached."""


def source_restriction(source_id: str) -> str:
    """The name of the restriction of a source."""
    return f"source:{source_id}"


def collection_restriction(collection: str) -> str:
    """The name of the restriction of a collection."""
    return f"collection:{collection}"


Readers = frozenset[str] | None
"""Someone who is all of these readers; None is someone whom no restriction excludes."""


def is_readable_by(readers: Readers) -> ColumnElement[bool]:
    """Whether none of a document's own restrictions excludes them, as of the statement.

    The number of restrictions and of hidden documents is not limited.
    """
    if readers is None:
        return true()
    admitting = select(RestrictionReaderRow.restriction_id).where(
        RestrictionReaderRow.reader.in_(readers)
    )
    hidden = select(DocumentRestrictionRow.document_id).where(
        DocumentRestrictionRow.restriction_id.not_in(admitting)
    )
    return DocumentRow.id.not_in(hidden)


class Denied(NamedTuple):
    """What a principal may not read: names of restrictions, and ids of documents."""

    restrictions: frozenset[str]
    documents: frozenset[str]


@dataclass(frozen=True)
class _Snapshot:
    """All restrictions at one revision; the names of a document's restrictions by its id."""

    revision: int
    readers: Mapping[str, frozenset[str]]
    documents: Mapping[str, list[str]]
    denied: dict[frozenset[str], Denied] = field(default_factory=dict)

    def denied_to(self, readers: frozenset[str]) -> Denied:
        denied = self.denied.get(readers)
        if denied is None:
            if len(self.denied) >= _PRINCIPALS:
                self.denied.clear()
            denied = self.denied[readers] = self._denied_to(readers)
        return denied

    def _denied_to(self, readers: frozenset[str]) -> Denied:
        names = frozenset(
            name for name, allowed in self.readers.items() if readers.isdisjoint(allowed)
        )
        documents = (id_ for id_, own in self.documents.items() if not names.isdisjoint(own))
        return Denied(names, frozenset(documents))


class Restrictions(Store):
    """The restrictions of sources, collections, and documents."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._snapshot: _Snapshot | None = None

    def denied(self, readers: frozenset[str]) -> Denied:
        """What someone who is all of these readers may not read, as of the latest commit."""
        return self._current().denied_to(readers)

    def readers(self, name: str) -> frozenset[str] | None:
        """The readers of a source's or collection's restriction; None if it has none."""
        return self._current().readers.get(name)

    def all(self) -> Mapping[str, frozenset[str]]:
        """The readers of every restriction by its name, as of the latest commit."""
        return self._current().readers

    def document_counts(self, reader: str) -> dict[str, int]:
        """By source id, the number of documents of which a restriction of their own has the reader.

        Sources without such documents are omitted.
        """
        count = func.count(DocumentRow.id.distinct())
        query = (
            select(DocumentRow.source_id, count)
            .join(DocumentRestrictionRow, DocumentRestrictionRow.document_id == DocumentRow.id)
            .join(
                RestrictionReaderRow,
                RestrictionReaderRow.restriction_id == DocumentRestrictionRow.restriction_id,
            )
            .where(RestrictionReaderRow.reader == reader)
        )
        return self._pairs(query.group_by(DocumentRow.source_id))

    def counts_of(self, source_id: str) -> Counter[frozenset[frozenset[str]]]:
        """The number of the source's documents by their restrictions, without unrestricted ones."""
        name = func.aggregate_strings(DocumentRestrictionRow.restriction_id, ",").label("names")
        each = (
            select(name)
            .join(DocumentRow, DocumentRow.id == DocumentRestrictionRow.document_id)
            .where(DocumentRow.source_id == source_id)
            .group_by(DocumentRow.id)
            .subquery()
        )
        query = select(each.c.names, func.count()).group_by(each.c.names)
        counts, nobody = Counter[frozenset[frozenset[str]]](), frozenset[str]()
        numbers, readers = self._pairs(query), self.all()
        for names, number in numbers.items():  # the names of a document have no order
            counts[frozenset(readers.get(one, nobody) for one in names.split(","))] += number
        return counts

    def restrict(self, name: str, readers: Iterable[str] | None) -> None:
        """Replace the restriction of a source or collection; None removes it."""
        with self._database.write() as session:
            session.execute(delete(RestrictionRow).where(RestrictionRow.id == name))
            if readers is not None:
                _add(session, {name: readers})
            advance(session)

    def restrict_documents(self, restrictions: Mapping[str, Collection[frozenset[str]]]) -> None:
        """Replace the restrictions of documents, by document id.

        A document without restrictions is as readable as its source; a restriction without readers
        hides it from everyone.
        """
        with self._database.write() as session:
            put_document_restrictions(session, restrictions)

    def of_documents(self, document_ids: Iterable[str]) -> dict[str, frozenset[frozenset[str]]]:
        """The restrictions of documents by document id, as of the latest commit.

        Documents without restrictions are omitted.
        """
        snapshot = self._current()
        return {
            id_: frozenset(snapshot.readers[name] for name in snapshot.documents[id_])
            for id_ in document_ids
            if id_ in snapshot.documents
        }

    def _current(self) -> _Snapshot:
        with self._database.read() as session:
            revision = _revision(session)
            snapshot = self._snapshot
            if snapshot is None or snapshot.revision != revision:
                snapshot = self._snapshot = _read(session, revision)
        return snapshot


def put_document_restrictions(
    session: Session, restrictions: Mapping[str, Collection[frozenset[str]]]
) -> None:
    """See `Restrictions.restrict_documents`; within a transaction. Equal ones are not written."""
    names = {one: _name(one) for several in restrictions.values() for one in several}
    stored = _names_of_documents(session, list(restrictions))
    changed = {
        document_id: {names[one] for one in several}
        for document_id, several in restrictions.items()
        if {names[one] for one in several} != stored[document_id]
    }
    if not changed:
        return
    _add_missing(session, names)
    _replace_rows(session, changed)
    _delete_unused(session, {name for id_ in changed for name in stored[id_]})
    advance(session)


def _add_missing(session: Session, names: Mapping[frozenset[str], str]) -> None:
    query = select(RestrictionRow.id)
    known = set(scalars_with(session, query, RestrictionRow.id, list(names.values())))
    _add(session, {name: readers for readers, name in names.items() if name not in known})


def _replace_rows(session: Session, names: Mapping[str, Collection[str]]) -> None:
    """Replace the names of restrictions by document id."""
    rows = delete(DocumentRestrictionRow)
    change_all(session, rows, DocumentRestrictionRow.document_id, list(names))
    new = [
        {"document_id": document_id, "restriction_id": name}
        for document_id, several in names.items()
        for name in sorted(several)
    ]
    if new:
        session.execute(insert(DocumentRestrictionRow), new)


def _delete_unused(session: Session, names: Iterable[str]) -> None:
    """Delete those of these restrictions of documents that no document has any more."""
    used = select(DocumentRestrictionRow.restriction_id)
    unused = delete(RestrictionRow).where(RestrictionRow.id.not_in(used))
    change_all(session, unused, RestrictionRow.id, sorted(names))


def _names_of_documents(session: Session, document_ids: Sequence[str]) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {document_id: set() for document_id in document_ids}
    query = select(DocumentRestrictionRow.document_id, DocumentRestrictionRow.restriction_id)
    for document_id, name in rows_with(
        session, query, DocumentRestrictionRow.document_id, document_ids
    ):
        names[document_id].add(name)
    return names


def _name(readers: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(sorted(readers)).encode()).hexdigest()[:32]


def _add(session: Session, restrictions: Mapping[str, Iterable[str]]) -> None:
    """Add restrictions with their readers by name."""
    readers = [
        {"restriction_id": name, "reader": one}
        for name, several in restrictions.items()
        for one in {*several}
    ]
    if restrictions:
        session.execute(insert(RestrictionRow), [{"id": name} for name in restrictions])
    if readers:
        session.execute(insert(RestrictionReaderRow), readers)


def _revision(session: Session) -> int:
    row = session.get(CounterRow, _COUNTER)
    return row.value if row else 0


def advance(session: Session) -> None:
    """Count a change, so that all processes read the restrictions again."""
    row = session.get(CounterRow, _COUNTER, with_for_update=True)
    if row is None:
        session.add(CounterRow(name=_COUNTER, value=1))
    else:
        row.value += 1


def _read(session: Session, revision: int) -> _Snapshot:
    readers: dict[str, set[str]] = {
        id_: set() for id_ in session.scalars(select(RestrictionRow.id))
    }
    for name, reader in session.execute(
        select(RestrictionReaderRow.restriction_id, RestrictionReaderRow.reader)
    ):
        readers[name].add(reader)
    documents: dict[str, list[str]] = {}
    for document_id, name in session.execute(
        select(DocumentRestrictionRow.document_id, DocumentRestrictionRow.restriction_id)
    ):
        documents.setdefault(document_id, []).append(name)
    return _Snapshot(revision, {name: frozenset(each) for name, each in readers.items()}, documents)
