"""The documents that could not be read, until they can be or a person dismisses them."""

from collections.abc import Iterable, Sequence
from typing import TypeVarTuple

from sqlalchemy import Select, func, select, update

from domain import FailedDocument
from storage.database import Database
from storage.groups import in_groups
from storage.tables import FailureRow

Columns = TypeVarTuple("Columns")


class Failures:
    """What imports could not read, over all sources; what was dismissed is not seen."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, sources: Sequence[str] | None = None, *, limit: int, offset: int = 0
    ) -> list[FailedDocument]:
        """Failed documents of these sources or of all, the latest first."""
        wanted = _shown(select(FailureRow), sources).order_by(
            FailureRow.failed_at.desc().nulls_last(), FailureRow.source_id, FailureRow.key
        )
        with self._database.read() as session:
            rows = session.scalars(wanted.limit(limit).offset(offset))
            return [_failed(row) for row in rows]

    def count(self, sources: Sequence[str] | None = None) -> int:
        """How many there are."""
        counted = _shown(select(func.count()).select_from(FailureRow), sources)
        with self._database.read() as session:
            return session.scalar(counted) or 0

    def named(self, sources: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """The source's id and the key of each."""
        wanted = _shown(select(FailureRow.source_id, FailureRow.key), sources)
        with self._database.read() as session:
            return [(row[0], row[1]) for row in session.execute(wanted)]

    def dismiss(self, source_id: str, keys: Iterable[str]) -> None:
        """Show these no more, until they fail again; unknown keys don't matter."""
        with self._database.write() as session:
            for group in in_groups(list(keys)):
                session.execute(
                    update(FailureRow)
                    .where(FailureRow.source_id == source_id, FailureRow.key.in_(group))
                    .values(dismissed=True)
                )


NAMED = FailureRow.dismissed.is_(False) & FailureRow.is_error
"""Failures that people are told of."""


def _shown(wanted: Select[*Columns], sources: Sequence[str] | None) -> Select[*Columns]:
    wanted = wanted.where(NAMED)
    return wanted if sources is None else wanted.where(FailureRow.source_id.in_(sources))


def _failed(row: FailureRow) -> FailedDocument:
    return FailedDocument(
        row.source_id, row.key, row.location, row.reason, row.failed_at, row.title
    )
