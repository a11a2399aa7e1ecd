"""The ledger's half of the crash protocol: the moments at which versions begin to count.

A passage id is announced as discarded before any index hears of it, and stops being discarded
in the very transaction that makes its document's new version visible. Whatever a killed process
leaves behind in the indexes is therefore named in `discarded_passages`, and is swept away.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain import ImportItem, Passage
from storage.database import Database
from storage.documents import StoredDocument
from storage.groups import in_groups
from storage.imports import add_items
from storage.tables import (
    DiscardedPassageRow,
    DocumentRow,
    DocumentTextRow,
    FailureRow,
    PassageRow,
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
        """Make the versions visible, and discard the passages of those they replace."""
        with self._database.write() as session:
            _discard_passages_of(session, [version.document.id for version in versions])
            for version in versions:
                session.merge(_document_row(version.document))
                session.flush()
                session.merge(DocumentTextRow(document_id=version.document.id, text=version.text))
                _forget_failure(session, version.document)
            session.flush()
            passages = [passage for version in versions for passage in version.passages]
            _add_passages(session, index_id, passages)
            add_items(session, import_id, [version.item for version in versions])

    def publish_passages(self, index_id: str, passages: Sequence[Passage]) -> None:
        """Make passages of documents count in another index, the one that is being built."""
        with self._database.write() as session:
            _add_passages(session, index_id, passages)

    def remove(self, import_id: str, removals: Sequence[tuple[str, ImportItem]]) -> None:
        """Take documents, given as (document id, item), out of the library."""
        with self._database.write() as session:
            document_ids = [document_id for document_id, _ in removals]
            _discard_passages_of(session, document_ids)
            for group in in_groups(document_ids):
                session.execute(delete(DocumentRow).where(DocumentRow.id.in_(group)))
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


def _discard_passages_of(session: Session, document_ids: Sequence[str]) -> None:
    """In every index: one that is being built must not keep them either."""
    replaced: dict[str, list[str]] = {}
    for group in in_groups(document_ids):
        of_group = PassageRow.document_id.in_(group)
        for index_id, id_ in session.execute(
            select(PassageRow.index_id, PassageRow.id).where(of_group)
        ):
            replaced.setdefault(index_id, []).append(id_)
        session.execute(delete(PassageRow).where(of_group))
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


def _forget_failure(session: Session, document: StoredDocument) -> None:
    session.execute(
        delete(FailureRow).where(
            FailureRow.source_id == document.source_id, FailureRow.key == document.key
        )
    )


def _document_row(document: StoredDocument) -> DocumentRow:
    return DocumentRow(
        id=document.id,
        source_id=document.source_id,
        key=document.key,
        version=document.version,
        formats_version=document.formats_version,
        title=document.title,
        location=document.location,
        format=document.format,
        encoding=document.encoding,
        pages=[list(page) for page in document.pages],
        warnings=list(document.warnings),
        details=document.details,
        imported_at=document.imported_at,
        revision=document.revision,
    )
