"""The ledger's part of the crash protocol, which makes document versions visible.

A passage id is staged, that is, listed as discarded, before it is added to any index. The
transaction that makes its document's new version visible also removes it from that list. Therefore,
all passages that a killed process leaves in the indexes are listed in `discarded_passages` and
collected as garbage.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain import ImportItem, Metadata, Passage
from storage.ledger.columns import shallow_dict
from storage.ledger.database import Store, change_all, rows_with, scalars_with
from storage.ledger.document_store import StoredDocument
from storage.ledger.import_store import add_items
from storage.ledger.ledger_tables import (
    Base,
    DiscardedPassageRow,
    DocumentRow,
    DocumentTextRow,
    FailureRow,
    PassageRow,
    PlaceRow,
)
from storage.ledger.place_store import place_rows
from storage.ledger.restriction_store import put_document_restrictions


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version of a document that will replace the stored one.

    `restrictions` are the sets of its readers; None leaves them as they are.
    """

    document: StoredDocument
    text: str
    passages: Sequence[Passage]
    item: ImportItem
    restrictions: Sequence[frozenset[str]] | None = None


class Ledger(Store):
    """Writes documents and passages; each call is one transaction."""

    def stage(self, index_id: str, passage_ids: Sequence[str]) -> None:
        """List the passages as discarded, before they are added to the index's stores.

        Passages that are already visible are skipped, because writing them again changes nothing.
        """
        with self._database.write() as session:
            _stage(session, index_id, passage_ids)

    def stage_again(self, index_id: str, passage_ids: Sequence[str]) -> None:
        """`stage` for a run that has lost its lease after it added the passages.

        Garbage collection by another worker may already have removed them from the list.
        """
        with self._database.write(checks_lease=False) as session:
            _stage(session, index_id, passage_ids)

    def commit(self, index_id: str, import_id: str, versions: Sequence[NewVersion]) -> None:
        """Make the versions visible to their readers, and discard the passages they replace.

        Raises:
            SourceError: A place has a number that is not finite.
        """
        with self._database.write() as session:
            _remove(session, [version.document.id for version in versions])
            for row_type, rows in _rows(versions).items():
                if rows:
                    session.execute(insert(row_type), rows)
            _add_passages(session, index_id, [p for version in versions for p in version.passages])
            _forget_failures(session, [version.document for version in versions])
            put_document_restrictions(session, _restrictions(versions))
            add_items(session, import_id, [version.item for version in versions])

    def settle(
        self,
        import_id: str,
        items: Sequence[ImportItem],
        restrictions: Mapping[str, Collection[frozenset[str]]],
    ) -> None:
        """Record outcomes that change no text, and replace restrictions by document id."""
        with self._database.write() as session:
            put_document_restrictions(session, restrictions)
            add_items(session, import_id, items)

    def commit_passages(self, index_id: str, passages: Sequence[Passage]) -> None:
        """Commit passages of existing documents to an index that is being built."""
        with self._database.write() as session:
            _add_passages(session, index_id, passages)

    def update_metadata(self, details: Mapping[str, Metadata]) -> None:
        """Replace the details of documents by document id."""
        rows = [{"id": document_id, "details": new} for document_id, new in details.items()]
        with self._database.write() as session:
            session.execute(update(DocumentRow), rows)

    def remove(self, import_id: str, removals: Sequence[tuple[str, ImportItem]]) -> None:
        """Remove documents, given as (document id, item), from the library."""
        with self._database.write() as session:
            _remove(session, [document_id for document_id, _ in removals])
            add_items(session, import_id, [item for _, item in removals])

    def discards(self, index_id: str) -> list[str]:
        """The passages that may be in the index's stores without being visible."""
        listed = DiscardedPassageRow.index_id == index_id
        return self._all(select(DiscardedPassageRow.passage_id).where(listed))

    def forget(self, index_id: str, passage_ids: Sequence[str]) -> None:
        """Remove passages from the discarded list after deleting them from the index's stores."""
        with self._database.write() as session:
            _undiscard(session, index_id, passage_ids)


def _stage(session: Session, index_id: str, passage_ids: Sequence[str]) -> None:
    live = _ids_among(session, PassageRow.id, PassageRow.index_id, index_id, passage_ids)
    _discard(session, index_id, [id_ for id_ in passage_ids if id_ not in live])


def _discard(session: Session, index_id: str, passage_ids: Iterable[str]) -> None:
    ids = list(dict.fromkeys(passage_ids))
    column = DiscardedPassageRow.passage_id
    listed_ids = _ids_among(session, column, DiscardedPassageRow.index_id, index_id, ids)
    rows = [{"index_id": index_id, "passage_id": id_} for id_ in ids if id_ not in listed_ids]
    if rows:
        session.execute(insert(DiscardedPassageRow), rows)


def _undiscard(session: Session, index_id: str, passage_ids: Sequence[str]) -> None:
    statement = delete(DiscardedPassageRow).where(DiscardedPassageRow.index_id == index_id)
    change_all(session, statement, DiscardedPassageRow.passage_id, passage_ids)


def _ids_among(
    session: Session,
    column: InstrumentedAttribute[str],
    index_column: InstrumentedAttribute[str],
    index_id: str,
    ids: Sequence[str],
) -> set[str]:
    return set(scalars_with(session, select(column).where(index_column == index_id), column, ids))


def _remove(session: Session, document_ids: Sequence[str]) -> None:
    """Delete documents and discard their passages, including those in an index being built."""
    replaced: defaultdict[str, list[str]] = defaultdict(list)
    passages = select(PassageRow.index_id, PassageRow.id)
    for index_id, id_ in rows_with(session, passages, PassageRow.document_id, document_ids):
        replaced[index_id].append(id_)
    change_all(session, delete(PassageRow), PassageRow.document_id, document_ids)
    change_all(session, delete(DocumentRow), DocumentRow.id, document_ids)
    for index_id, ids in replaced.items():
        _discard(session, index_id, ids)


def _add_passages(session: Session, index_id: str, passages: Sequence[Passage]) -> None:
    _undiscard(session, index_id, [passage.id for passage in passages])
    if passages:
        rows = [{"index_id": index_id, **shallow_dict(passage)} for passage in passages]
        session.execute(insert(PassageRow), rows)


def _forget_failures(session: Session, documents: Sequence[StoredDocument]) -> None:
    keys = [document.key for document in documents]
    for source_id in {document.source_id for document in documents}:
        statement = delete(FailureRow).where(FailureRow.source_id == source_id)
        change_all(session, statement, FailureRow.key, keys)


def _restrictions(versions: Sequence[NewVersion]) -> dict[str, Sequence[frozenset[str]]]:
    return {one.document.id: one.restrictions for one in versions if one.restrictions is not None}


def _rows(versions: Sequence[NewVersion]) -> dict[type[Base], list[dict[str, Any]]]:
    texts = [{"document_id": version.document.id, "text": version.text} for version in versions]
    documents = [shallow_dict(version.document) for version in versions]
    places = place_rows(version.document for version in versions)
    return {DocumentRow: documents, DocumentTextRow: texts, PlaceRow: places}
