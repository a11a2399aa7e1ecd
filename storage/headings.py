"""The headings of documents, without their texts."""

from collections.abc import Sequence

from sqlalchemy import select

from storage.database import Database
from storage.groups import in_groups
from storage.indexes import in_active_index
from storage.tables import PassageRow

_FIRST = 200


class Headings:
    """Lists what stands above the passages of a document."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, document_ids: Sequence[str]) -> dict[str, list[str]]:
        """By document id, the innermost heading of each of its first passages, each once.

        They are of the index that answers, in the order of the text; a document without
        headings is left out.
        """
        columns = select(PassageRow.document_id, PassageRow.heading_path)
        wanted = (
            in_active_index(columns)
            .where(PassageRow.ordinal < _FIRST)
            .order_by(PassageRow.document_id, PassageRow.ordinal)
        )
        found: dict[str, dict[str, None]] = {}
        with self._database.read() as session:
            for group in in_groups(document_ids):
                for id_, path in session.execute(wanted.where(PassageRow.document_id.in_(group))):
                    if path:
                        found.setdefault(id_, {})[path[-1]] = None
        return {id_: list(headings) for id_, headings in found.items()}
