"""Records of the indexes: how each was built, and which one is active."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.orm import Session

from storage.ledger.database import Store
from storage.ledger.ledger_tables import IndexRow, PassageRow

ENTRIES_VERSION = "2"
"""Increase it if the embedded or indexed text of passages changes, such as their headings."""

_Query = TypeVar("_Query", bound=Select[*tuple[Any, ...]])


class IndexState(StrEnum):
    """One index is active; at most one is building."""

    BUILDING = "building"
    ACTIVE = "active"
    RETIRED = "retired"


class Engine(StrEnum):
    """Where an index is stored: in the data folder, or on an OpenSearch cluster."""

    EMBEDDED = "embedded"
    OPENSEARCH = "opensearch"


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """How and where an index is built.

    `embedding` contains everything needed to load the model, except secrets;
    `embedding_fingerprint` identifies model, dimension, and normalization. The `size` and `overlap`
    of passages are in characters.
    """

    embedding: Mapping[str, Any]
    embedding_fingerprint: str
    splitter_version: str
    size: int
    overlap: int
    engine: Engine = Engine.EMBEDDED

    @property
    def fingerprint(self) -> str:
        """Equal if and only if the same documents produce the same index."""
        splitter = f"splitter {self.splitter_version} {self.size}/{self.overlap}"
        stored = "" if self.engine is Engine.EMBEDDED else f"; on {self.engine}"
        return f"{self.embedding_fingerprint}; {splitter}; entries {ENTRIES_VERSION}{stored}"


@dataclass(frozen=True, slots=True)
class Index:
    """An index; `fingerprint` is that of its spec when it was built."""

    id: str
    spec: IndexSpec
    fingerprint: str
    state: IndexState
    created_at: datetime


def new_index(spec: IndexSpec, state: IndexState) -> Index:
    """A new index that is not stored yet."""
    return Index(uuid.uuid4().hex, spec, spec.fingerprint, state, datetime.now(UTC))


class Indexes(Store):
    """The indexes recorded in the ledger."""

    def active(self) -> Index | None:
        """The active index; None before the first import."""
        return self._newest(IndexState.ACTIVE)

    def building(self) -> Index | None:
        """The index of an unfinished reindex, if any."""
        return self._newest(IndexState.BUILDING)

    def retired_indexes(self) -> list[Index]:
        """Replaced indexes that are not deleted yet."""
        return [index for index in self.all() if index.state is IndexState.RETIRED]

    def all(self) -> list[Index]:
        """All indexes, unordered."""
        return self._each(Index, select(IndexRow))

    def add(self, index: Index) -> None:
        """Record a new index, whose folder must already exist."""
        with self._database.write() as session:
            session.add(IndexRow(**asdict(index)))

    def activate(self, index_id: str) -> None:
        """Make this index the active one and retire the previous one."""
        with self._database.write() as session:
            _set_state(session, IndexRow.state == IndexState.ACTIVE, IndexState.RETIRED)
            _set_state(session, IndexRow.id == index_id, IndexState.ACTIVE)

    def retire(self, index_id: str) -> None:
        """Retire an index; `drop` it once its folder is deleted."""
        with self._database.write() as session:
            _set_state(session, IndexRow.id == index_id, IndexState.RETIRED)

    def drop(self, index_id: str) -> None:
        """Delete the records of an index and its passages."""
        self._execute(delete(IndexRow).where(IndexRow.id == index_id))

    def passages(self, index_id: str) -> int:
        """The number of visible passages of an index."""
        # Subtract the other indexes from the total: SQLite counts a whole table without reading its
        # rows, and usually there is no other index.
        other = PassageRow.index_id
        counts = [
            select(func.count()).select_from(PassageRow).scalar_subquery(),
            select(func.count()).where(other < index_id).scalar_subquery(),
            select(func.count()).where(other > index_id).scalar_subquery(),
        ]
        with self._database.read() as session:
            every, before, after = session.execute(select(*counts)).one()
        return int(every - before - after)

    def _newest(self, state: IndexState) -> Index | None:
        query = select(IndexRow).where(IndexRow.state == state)
        return self._first(Index, query.order_by(IndexRow.created_at.desc()))


def in_active_index(query: _Query) -> _Query:
    """Restrict a query of passages, or of their columns, to the active index."""
    joined = query.join(IndexRow, IndexRow.id == PassageRow.index_id)
    return joined.where(IndexRow.state == IndexState.ACTIVE)


def _set_state(session: Session, which: Any, state: IndexState) -> None:
    session.execute(update(IndexRow).where(which).values(state=state))
