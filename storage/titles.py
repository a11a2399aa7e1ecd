"""What documents are called, for finding one by its name."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from domain import Filter
from storage.database import Database
from storage.filters import checks_of, matches
from storage.groups import in_groups
from storage.indexes import in_active_index
from storage.passage_metadata import passage_metadata
from storage.tables import DocumentRow, PassageRow


class DocumentTitle(NamedTuple):
    """A document's id and what it may be called by: its title, its key within its source."""

    id: str
    source_id: str
    title: str
    key: str


class Titles:
    """Reads no texts of documents: a name is compared with all there are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[DocumentTitle]:
        """Those of all documents, by title and key."""
        columns = (DocumentRow.id, DocumentRow.source_id, DocumentRow.title, DocumentRow.key)
        listing = select(*columns).order_by(DocumentRow.title, DocumentRow.key, DocumentRow.id)
        with self._database.read() as session:
            return [DocumentTitle(*row) for row in session.execute(listing)]

    def matching(self, document_ids: Sequence[str], condition: Filter) -> set[str]:
        """Which of the documents satisfy a condition on fields that all their passages share.

        Raises:
            ValueError: The condition can't be understood.
        """
        checks = checks_of(condition)
        with self._database.read() as session:
            return {
                row.id
                for group in in_groups(document_ids)
                for row in session.scalars(select(DocumentRow).where(DocumentRow.id.in_(group)))
                if matches(checks, passage_metadata(row, None, row.script))
            }

    def passage_ids(self, document_id: str) -> list[str]:
        """The passages of the document in the index that answers, in the order of the text."""
        own = select(PassageRow.id).where(PassageRow.document_id == document_id)
        with self._database.read() as session:
            return list(session.scalars(in_active_index(own).order_by(PassageRow.ordinal)))
