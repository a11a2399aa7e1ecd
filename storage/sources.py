"""Where documents come from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from unicodedata import normalize

from sqlalchemy import select

from errors import NotFoundError
from storage.database import Database
from storage.tables import SourceRow


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source and the options its loader is built from; never a secret."""

    id: str
    kind: str
    name: str
    location: str
    options: Mapping[str, Any]
    created_at: datetime

    @property
    def collection(self) -> str:
        """What its documents are filed under: its name, unless its options say otherwise."""
        told = self.options.get("collection") or self.name or self.location
        return normalize("NFC", told)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each of its documents is labelled with."""
        return tuple(normalize("NFC", label) for label in self.options.get("labels", ()))


class Sources:
    """The sources that were ever imported from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(
        self, kind: str, location: str, *, name: str, options: Mapping[str, Any] | None = None
    ) -> StoredSource:
        """The source of that kind and location, added or brought to these options.

        Its id follows from kind and location, so that links to its documents outlive the data
        folder.
        """
        with self._database.write() as session:
            row = session.get(SourceRow, _source_id(kind, location))
            if row is None:
                row = SourceRow(
                    id=_source_id(kind, location),
                    kind=kind,
                    location=location,
                    created_at=datetime.now(UTC),
                )
                session.add(row)
            row.name = name
            row.options = dict(options or {})
            session.flush()
            return _stored(row)

    def find(self, kind: str, location: str) -> StoredSource | None:
        """The source of that kind and location; None where it was never added."""
        with self._database.read() as session:
            row = session.get(SourceRow, _source_id(kind, location))
        return None if row is None else _stored(row)

    def get(self, source_id: str) -> StoredSource:
        """The source with that id.

        Raises:
            NotFoundError: There is none.
        """
        with self._database.read() as session:
            row = session.get(SourceRow, source_id)
        if row is None:
            raise NotFoundError(f"there is no source {source_id}")
        return _stored(row)

    def list(self) -> list[StoredSource]:
        """Every source, by name."""
        with self._database.read() as session:
            rows = session.scalars(select(SourceRow).order_by(SourceRow.name, SourceRow.id))
            return [_stored(row) for row in rows]


def _source_id(kind: str, location: str) -> str:
    return hashlib.sha256(f"{kind}\0{location}".encode()).hexdigest()[:32]


def _stored(row: SourceRow) -> StoredSource:
    return StoredSource(
        id=row.id,
        kind=row.kind,
        name=row.name,
        location=row.location,
        options=row.options,
        created_at=row.created_at,
    )
