"""Which indexes there are: what each was made with, and which one answers."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.orm import Session

from storage.database import Database
from storage.tables import IndexRow, PassageRow

ENTRIES_VERSION = "2"
"""Raise it when what is embedded or indexed of a passage changes: the headings with it, say."""

_Wanted = TypeVar("_Wanted", bound=Select[*tuple[Any, ...]])


class IndexState(StrEnum):
    """One index is active; at most one is building."""

    BUILDING = "building"
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """What an index is made with.

    `embedding` is all that is needed to load the model again, without a secret;
    `embedding_fingerprint` says model, dimension and normalisation. `size` and `overlap` of
    the passages are in characters.
    """

    embedding: Mapping[str, Any]
    embedding_fingerprint: str
    splitter_version: str
    size: int
    overlap: int

    @property
    def fingerprint(self) -> str:
        """Equal for two specs exactly when the same documents give the same index."""
        splitter = f"splitter {self.splitter_version} {self.size}/{self.overlap}"
        return f"{self.embedding_fingerprint}; {splitter}; entries {ENTRIES_VERSION}"


@dataclass(frozen=True, slots=True)
class Index:
    """An index; `fingerprint` is its spec's at the time it was made."""

    id: str
    spec: IndexSpec
    fingerprint: str
    state: IndexState
    created_at: datetime


def new_index(spec: IndexSpec, state: IndexState) -> Index:
    """An index to be made; nothing is kept of it yet."""
    return Index(uuid.uuid4().hex, spec, spec.fingerprint, state, datetime.now(UTC))


class Indexes:
    """The indexes of the library, as the ledger knows them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def active(self) -> Index | None:
        """The index that answers; None while nothing was ever imported."""
        return self._newest(IndexState.ACTIVE)

    def building(self) -> Index | None:
        """The index that is to take over, where a reindex was begun."""
        return self._newest(IndexState.BUILDING)

    def retired(self) -> list[Index]:
        """Indexes that another has taken over from, and that are not deleted yet."""
        with self._database.read() as session:
            rows = session.scalars(select(IndexRow).where(IndexRow.state == IndexState.RETIRED))
            return [_index(row) for row in rows]

    def add(self, index: Index) -> None:
        """Note a new index, whose folder must exist already."""
        row = IndexRow(
            id=index.id,
            spec=asdict(index.spec),
            fingerprint=index.fingerprint,
            state=index.state,
            created_at=index.created_at,
        )
        with self._database.write() as session:
            session.add(row)

    def activate(self, index_id: str) -> None:
        """Let that index answer from now on; the one that did until now is retired with it."""
        with self._database.write() as session:
            _set_state(session, IndexRow.state == IndexState.ACTIVE, IndexState.RETIRED)
            _set_state(session, IndexRow.id == index_id, IndexState.ACTIVE)

    def retire(self, index_id: str) -> None:
        """Give an index up; `drop` it once its folder is deleted."""
        with self._database.write() as session:
            _set_state(session, IndexRow.id == index_id, IndexState.RETIRED)

    def drop(self, index_id: str) -> None:
        """Forget an index and its passages."""
        with self._database.write() as session:
            session.execute(delete(IndexRow).where(IndexRow.id == index_id))

    def passages(self, index_id: str) -> int:
        """How many passages count in that index."""
        # All but those of the others: SQLite counts a whole table without looking at its rows,
        # and most often there is no other index.
        other = PassageRow.index_id
        counted = [
            select(func.count()).select_from(PassageRow).scalar_subquery(),
            select(func.count()).where(other < index_id).scalar_subquery(),
            select(func.count()).where(other > index_id).scalar_subquery(),
        ]
        with self._database.read() as session:
            every, before, after = session.execute(select(*counted)).one()
        return int(every - before - after)

    def _newest(self, state: IndexState) -> Index | None:
        wanted = select(IndexRow).where(IndexRow.state == state)
        with self._database.read() as session:
            row = session.scalar(wanted.order_by(IndexRow.created_at.desc()).limit(1))
            return None if row is None else _index(row)


def in_active_index(wanted: _Wanted) -> _Wanted:
    """Of these passages (or columns of them), those in the index that answers."""
    joined = wanted.join(IndexRow, IndexRow.id == PassageRow.index_id)
    return joined.where(IndexRow.state == IndexState.ACTIVE)


def _set_state(session: Session, which: Any, state: IndexState) -> None:
    session.execute(update(IndexRow).where(which).values(state=state))


def _index(row: IndexRow) -> Index:
    return Index(
        id=row.id,
        spec=IndexSpec(**row.spec),
        fingerprint=row.fingerprint,
        state=IndexState(row.state),
        created_at=row.created_at,
    )
