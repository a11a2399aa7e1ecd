"""Documents that a person left out of a source: they are there, and are not to be imported."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from errors import NotFoundError
from storage.database import Database
from storage.tables import SourceRow

OPTION = "left_out"


class LeftOut:
    """The keys that sources leave out, kept among each source's options."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, source_id: str, keys: Iterable[str]) -> None:
        """Leave these out from the next import on.

        Raises:
            NotFoundError: There is no such source.
        """
        # Read and written in one transaction: two people may leave documents out at once.
        with self._database.write() as session:
            row = _row(session, source_id)
            _put(row, {*left_out_of(row.options), *keys})

    def remove(self, source_id: str, keys: Iterable[str]) -> None:
        """Let these be imported again; those that are not left out don't matter.

        Raises:
            NotFoundError: There is no such source.
        """
        with self._database.write() as session:
            row = _row(session, source_id)
            _put(row, {*left_out_of(row.options)} - {*keys})


def left_out_of(options: Mapping[str, Any]) -> list[str]:
    """The keys that a source with these options leaves out, in order."""
    return sorted(options.get(OPTION, ()))


def _put(row: SourceRow, keys: set[str]) -> None:
    row.options = {**row.options, OPTION: sorted(keys)}
    row.mark = {}  # what is let in again is no news to its source


def _row(session: Session, source_id: str) -> SourceRow:
    row = session.get(SourceRow, source_id, with_for_update=True)
    if row is None:
        raise NotFoundError(f"there is no source {source_id}")
    return row
