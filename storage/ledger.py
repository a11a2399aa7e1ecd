"""The ledger's half of the crash protocol: the moments at which versions begin to count.

A passage id is announced as discarded before any index hears of it, and stops being discarded
in the very transaction that makes its document's new version visible. Whatever a killed process
leaves behind in the indexes is therefore named in `discarded_passages`, and is swept away.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain import ImportItem, Metadata, Passage
from storage.database import Database
from storage.documents import StoredDocument
from storage.groups import in_groups
from storage.import_rows import add_items
from storage.place_rows import place_rows
from storage.tables import (
    Base,
    DiscardedPassageRow,
    DocumentRow,
    DocumentTextRow,
    FailureRow,
    PassageRow,
    PlaceRow,
)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version of a document that is to replace what the ledger has of it."""

    document: StoredDocument
    text: str
    passages: Sequence[Passage]
    item: ImportItem


class Ledger:
    """Writes documents and passages, each call in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def announce(self, index_id: str, passage_ids: Sequence[str]) -> None:
        """Name the passages as discarded, before they are put into the index's stores.

        Passages that already count are left alone: writing them once more changes nothing.
        """
        with self._database.write() as session:
            live = _ids_among(session, PassageRow.id, PassageRow.index_id, index_id, passage_ids)
            _discard(session, index_id, [id_ for id_ in passage_ids if id_ not in live])

    def publish(self, index_id: str, import_id: str, versions: Sequence[NewVersion]) -> None:
        """Make the versions visible, and discard the passages of those they replace.

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
            add_items(session, import_id, [version.item for version in versions])

    def publish_passages(self, index_id: str, passages: Sequence[Passage]) -> None:
        """Make passages of documents count in another index, the one that is being built."""
        with self._database.write() as session:
            _add_passages(session, index_id, passages)

    def refile(self, details: Mapping[str, Metadata]) -> None:
        """Replace the details of documents, by their ids."""
        rows = [{"id": document_id, "details": told} for document_id, told in details.items()]
        with self._database.write() as session:
            session.execute(update(DocumentRow), rows)

    def remove(self, import_id: str, removals: Sequence[tuple[str, ImportItem]]) -> None:
        """Take documents, given as (document id, item), out of the library."""
        with self._database.write() as session:
            _remove(session, [document_id for document_id, _ in removals])
            add_items(session, import_id, [item for _, item in removals])

    def discarded(self, index_id: str) -> list[str]:
        """The passages that may lie in the index's stores without counting."""
        wanted = select(DiscardedPassageRow.passage_id).where(
            DiscardedPassageRow.index_id == index_id
        )
        with self._database.read() as session:
            return list(session.scalars(wanted))

    def forget(self, index_id: str, passage_ids: Sequence[str]) -> None:
        """Stop naming discarded passages that are gone from the index's stores."""
        with self._database.write() as session:
            _undiscard(session, index_id, passage_ids)


def _discard(session: Session, index_id: str, passage_ids: Iterable[str]) -> None:
    ids = list(dict.fromkeys(passage_ids))
    column = DiscardedPassageRow.passage_id
    named = _ids_among(session, column, DiscardedPassageRow.index_id, index_id, ids)
    rows = [{"index_id": index_id, "passage_id": id_} for id_ in ids if id_ not in named]
    if rows:
        session.execute(insert(DiscardedPassageRow), rows)


def _undiscard(session: Session, index_id: str, passage_ids: Sequence[str]) -> None:
    for group in in_groups(passage_ids):
        session.execute(
            delete(DiscardedPassageRow).where(
                DiscardedPassageRow.index_id == index_id, DiscardedPassageRow.passage_id.in_(group)
            )
        )


def _ids_among(
    session: Session,
    column: InstrumentedAttribute[str],
    index_column: InstrumentedAttribute[str],
    index_id: str,
    ids: Sequence[str],
) -> set[str]:
    wanted = select(column).where(index_column == index_id)
    groups = in_groups(ids)
    return {id_ for group in groups for id_ in session.scalars(wanted.where(column.in_(group)))}


def _remove(session: Session, document_ids: Sequence[str]) -> None:
    """Take documents away, and discard their passages.

    In every index: one that is being built must not keep them either.
    """
    replaced: dict[str, list[str]] = {}
    for group in in_groups(document_ids):
        of_group = PassageRow.document_id.in_(group)
        for index_id, id_ in session.execute(
            select(PassageRow.index_id, PassageRow.id).where(of_group)
        ):
            replaced.setdefault(index_id, []).append(id_)
        session.execute(delete(PassageRow).where(of_group))
        session.execute(delete(DocumentRow).where(DocumentRow.id.in_(group)))
    for index_id, ids in replaced.items():
        _discard(session, index_id, ids)


def _add_passages(session: Session, index_id: str, passages: Sequence[Passage]) -> None:
    _undiscard(session, index_id, [passage.id for passage in passages])
    if not passages:
        return
    session.execute(
        insert(PassageRow),
        [
            {
                "index_id": index_id,
                "id": passage.id,
                "document_id": passage.document_id,
                "ordinal": passage.ordinal,
                "start": passage.start,
                "end": passage.end,
                "page": passage.page,
                "heading_path": list(passage.heading_path),
                "text": passage.text,
            }
            for passage in passages
        ],
    )


def _forget_failures(session: Session, documents: Sequence[StoredDocument]) -> None:
    for source_id in {document.source_id for document in documents}:
        for group in in_groups([document.key for document in documents]):
            session.execute(
                delete(FailureRow).where(
                    FailureRow.source_id == source_id, FailureRow.key.in_(group)
                )
            )


def _rows(versions: Sequence[NewVersion]) -> dict[type[Base], list[dict[str, Any]]]:
    texts = [{"document_id": version.document.id, "text": version.text} for version in versions]
    documents = [
        asdict(version.document) | {"pages": [list(page) for page in version.document.pages]}
        for version in versions
    ]
    places = place_rows(version.document for version in versions)
    return {DocumentRow: documents, DocumentTextRow: texts, PlaceRow: places}
