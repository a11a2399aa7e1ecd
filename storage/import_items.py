"""The documents of an import, page by page: of a long one nobody reads all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select

from domain import ImportItem, Outcome
from storage.database import Database
from storage.groups import in_groups
from storage.import_rows import add_items, item_of
from storage.tables import ImportItemRow


@dataclass(frozen=True, slots=True)
class ReadFigures:
    """What was read of an import's documents, all together."""

    passages: int = 0
    pages: int = 0
    characters: int = 0
    tokens: int = 0


class ImportItems:
    """The outcomes of imports, in the order they were settled."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, import_id: str, outcomes: Sequence[Outcome] = (), *, limit: int, offset: int = 0
    ) -> list[ImportItem]:
        """Some of the import's documents, of these outcomes or of all."""
        wanted = select(ImportItemRow).where(ImportItemRow.import_id == import_id)
        if outcomes:
            wanted = wanted.where(ImportItemRow.outcome.in_(outcomes))
        wanted = wanted.order_by(ImportItemRow.id)
        with self._database.read() as session:
            return [item_of(row) for row in session.scalars(wanted.limit(limit).offset(offset))]

    def counts(self, import_id: str) -> dict[Outcome, int]:
        """How many documents had which outcome, of an import that is at work too."""
        counted = select(ImportItemRow.outcome, func.count()).where(
            ImportItemRow.import_id == import_id
        )
        with self._database.read() as session:
            found = session.execute(counted.group_by(ImportItemRow.outcome))
            return {Outcome(name): count for name, count in found}

    def count_with_reason(self, import_id: str, end: str) -> int:
        """How many documents have a reason that ends so."""
        counted = select(func.count()).where(
            ImportItemRow.import_id == import_id, ImportItemRow.reason.endswith(end)
        )
        with self._database.read() as session:
            return session.scalar(counted) or 0

    def figures(self, import_id: str) -> ReadFigures:
        """What was read, all together."""
        columns = (
            ImportItemRow.passages,
            ImportItemRow.pages,
            ImportItemRow.characters,
            ImportItemRow.tokens,
        )
        summed = select(*(func.coalesce(func.sum(column), 0) for column in columns))
        with self._database.read() as session:
            row = session.execute(summed.where(ImportItemRow.import_id == import_id)).one()
            return ReadFigures(*(int(value) for value in row))

    def replace(self, import_id: str, items: Sequence[ImportItem]) -> None:
        """Let these be the import's documents, instead of what it had noted before."""
        with self._database.write() as session:
            session.execute(delete(ImportItemRow).where(ImportItemRow.import_id == import_id))
            for group in in_groups(items):
                add_items(session, import_id, group)
