"""What else in the ledger tells of sources: their latest imports, and who cites them."""

from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import aliased

from domain import ImportKind, ImportState, QueuedImport
from storage.database import Database
from storage.import_rows import queued
from storage.tables import ConversationRow, DocumentRow, ImportRow, TurnRow

_REFRESHED = (
    ImportRow.finished_at.is_not(None),
    ImportRow.kind == ImportKind.IMPORT,
    ImportRow.options["keys"].as_string().is_(None),
)
"""Imports of a whole source that have ended."""


class SourceTraces:
    """Read only: imports and conversations are written elsewhere."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def latest_imports(self) -> dict[str, QueuedImport]:
        """By source id, the latest import that has ended; dry runs don't count."""
        place = func.row_number().over(
            partition_by=ImportRow.source_id, order_by=(ImportRow.started_at.desc(), ImportRow.id)
        )
        ended = select(ImportRow, place.label("place")).where(
            ImportRow.finished_at.is_not(None), ImportRow.kind == ImportKind.IMPORT
        )
        numbered = ended.subquery()
        latest = aliased(ImportRow, numbered)
        with self._database.read() as session:
            rows = session.scalars(select(latest).where(numbered.c.place == 1))
            return {row.source_id: queued(row) for row in rows}

    def last_refreshes(self) -> dict[str, datetime]:
        """By source id, when its latest import of all of it began that has ended."""
        latest = select(ImportRow.source_id, func.max(ImportRow.started_at)).where(*_REFRESHED)
        with self._database.read() as session:
            found = session.execute(latest.group_by(ImportRow.source_id))
            return {row[0]: row[1] for row in found}

    def failed_in_a_row(self) -> dict[str, int]:
        """By source id, how many of its latest imports failed one after another; not if none.

        Those confined to single documents don't count.
        """
        ended = select(ImportRow).where(*_REFRESHED)
        done = ended.where(ImportRow.state != ImportState.FAILED).subquery()
        last = select(func.max(done.c.started_at)).where(done.c.source_id == ImportRow.source_id)
        since = last.scalar_subquery()
        failed = select(ImportRow.source_id, func.count()).where(
            *_REFRESHED,
            ImportRow.state == ImportState.FAILED,
            or_(since.is_(None), ImportRow.started_at > since),
        )
        with self._database.read() as session:
            found = session.execute(failed.group_by(ImportRow.source_id))
            return {str(source_id): count for source_id, count in found}

    def citing_conversations(self, source_id: str) -> int:
        """How many conversations, of all people, cite a document of the source."""
        held = select(DocumentRow.id).where(DocumentRow.source_id == source_id)
        cited = (
            select(TurnRow.conversation_id, TurnRow.citations)
            .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
            .where(ConversationRow.deleted_at.is_(None))
        )
        with self._database.read() as session:
            ids = set(session.scalars(held))
            return len(
                {
                    conversation_id
                    for conversation_id, citations in session.execute(cited)
                    if any(one.get("document_id") in ids for one in citations)
                }
            )
