"""A document's passages page by page, each with what it shares with its neighbours."""

from itertools import pairwise

from sqlalchemy import select

from domain import Passage, SharedPassage
from storage.database import Database
from storage.tables import PassageRow


class PassageList:
    """The passages of one document in one index, in the order of the text."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, document_id: str, index_id: str, *, limit: int, offset: int = 0
    ) -> list[SharedPassage]:
        """`limit` passages after the first `offset`, with the overlap to those before and after."""
        before = min(1, offset)
        wanted = (
            select(PassageRow)
            .where(PassageRow.document_id == document_id, PassageRow.index_id == index_id)
            .order_by(PassageRow.ordinal)
            .limit(before + limit + 1)
            .offset(offset - before)
        )
        with self._database.read() as session:
            found = [passage_of(row) for row in session.scalars(wanted)]
        return shared(found)[before : before + limit]


def shared(passages: list[Passage]) -> list[SharedPassage]:
    """Consecutive passages, each with the characters it shares with the one before and after."""
    overlaps = [
        max(0, min(first.end, second.end) - second.start) for first, second in pairwise(passages)
    ]
    ends = zip(passages, [0, *overlaps], [*overlaps, 0], strict=False)
    return [SharedPassage(*each) for each in ends]


def passage_of(row: PassageRow) -> Passage:
    """The passage that a row of the ledger holds."""
    return Passage(
        id=row.id,
        document_id=row.document_id,
        ordinal=row.ordinal,
        start=row.start,
        end=row.end,
        text=row.text,
        heading_path=tuple(row.heading_path),
        page=row.page,
    )
