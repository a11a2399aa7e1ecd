"""A document read at a place: which version is stored, and the text around a span of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select

from storage.database import Database
from storage.groups import in_groups
from storage.indexes import in_active_index
from storage.tables import DocumentRow, DocumentTextRow, PassageRow


class StoredVersion(NamedTuple):
    """The version of a document that answers now; `revision` counts its versions from 1."""

    version: str
    revision: int
    imported_at: datetime


class Place(NamedTuple):
    """Where a passage stands in its document's text."""

    ordinal: int
    start: int
    end: int


class Reading:
    """Reads no more of a document than is to be shown: it may have megabytes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def versions(
        self, document_ids: Sequence[str], sources: Sequence[str]
    ) -> dict[str, StoredVersion]:
        """By document id, the version that is stored; nothing of what no such source holds."""
        wanted = select(
            DocumentRow.id, DocumentRow.version, DocumentRow.revision, DocumentRow.imported_at
        ).where(DocumentRow.source_id.in_(sources))
        with self._database.read() as session:
            return {
                row.id: StoredVersion(*row[1:])
                for group in in_groups(document_ids)
                for row in session.execute(wanted.where(DocumentRow.id.in_(group)))
            }

    def cut(self, document_id: str, start: int, end: int) -> str:
        """That stretch of a document's text; "" where it has none there."""
        # Cut by the database, as the whole is not needed.
        piece = func.substr(DocumentTextRow.text, start + 1, end - start)
        wanted = select(piece).where(DocumentTextRow.document_id == document_id)
        with self._database.read() as session:
            return session.scalar(wanted) or ""

    def places(self, document_id: str) -> list[Place]:
        """The places of a document's passages in the index that answers, in the text's order."""
        columns = select(PassageRow.ordinal, PassageRow.start, PassageRow.end)
        own = columns.where(PassageRow.document_id == document_id)
        wanted = in_active_index(own).order_by(PassageRow.ordinal)
        with self._database.read() as session:
            return [Place(*row) for row in session.execute(wanted)]

    def passage_ids(self, document_id: str, start: int, limit: int) -> list[str]:
        """The first `limit` passages that end behind that character, in the text's order."""
        own = select(PassageRow.id).where(
            PassageRow.document_id == document_id, PassageRow.end > start
        )
        wanted = in_active_index(own).order_by(PassageRow.ordinal).limit(limit)
        with self._database.read() as session:
            return list(session.scalars(wanted))

    def headings(self, document_id: str, ordinal: int) -> tuple[str, ...]:
        """The heading path of that passage; empty where there is none."""
        paths = select(PassageRow.heading_path).where(
            PassageRow.document_id == document_id, PassageRow.ordinal == ordinal
        )
        with self._database.read() as session:
            return tuple(session.scalar(in_active_index(paths)) or ())
