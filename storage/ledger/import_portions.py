"""Portions of the documents of a running import, which several workers read.

Whatever ends the run also deletes its portions (`import_queue_store.end`), in the same transaction.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from domain import DocumentRef
from storage.ledger.database import Database, Store
from storage.ledger.import_queue_store import is_dead
from storage.ledger.lease_guard import LeaseLostError
from storage.ledger.ledger_tables import ImportPortionRow, WorkerRow


@dataclass(frozen=True, slots=True)
class Portion:
    """Documents that a worker has taken.

    Those with `new_keys` are new to the library, even if an earlier turn of the import has stored a
    version. If `is_retry`, another worker may have read some of them.
    """

    import_id: str
    number: int
    documents: tuple[DocumentRef, ...]
    new_keys: frozenset[str]
    is_retry: bool


class ImportPortions(Store):
    """Which documents of running imports are still to be read, and by whom."""

    def publish(
        self, import_id: str, groups: Sequence[Sequence[DocumentRef]], new_keys: Collection[str]
    ) -> None:
        """Let any worker take these groups of documents, in this order."""
        rows = [
            {
                "import_id": import_id,
                "number": number,
                "documents": [_as_json(ref, new_keys) for ref in group],
            }
            for number, group in enumerate(groups)
        ]
        with self._database.write() as session:
            session.execute(insert(ImportPortionRow), rows)

    def take_any(self, worker: str) -> Portion | None:
        """Take a portion of an import of another worker; None if there is none.

        Gives back what the worker could not give back, for example without the ledger.
        """
        is_own = ImportPortionRow.worker == worker
        is_open = and_(ImportPortionRow.worker == "", ImportPortionRow.was_taken.is_(False))
        with self._database.read() as session:  # usually there is none, so don't lock the ledger
            places = select(ImportPortionRow.number).where(or_(is_open, is_own))
            if session.scalar(places.limit(1)) is None:
                return None
        with self._database.write() as session:
            session.execute(update(ImportPortionRow).where(is_own).values(worker=""))
            query = select(ImportPortionRow).where(is_open)
            first = query.order_by(ImportPortionRow.import_id, ImportPortionRow.number).limit(1)
            return _take(session.scalar(first), worker)

    def take(self, import_id: str, worker: str) -> Portion | None:
        """Take a portion of the worker's own import that nobody reads, or whose reader is dead.

        None if there is none; others may still read portions.
        """
        with self._database.read() as session:  # workers wait for each other's portions
            if _first_free(session, import_id, worker) is None:
                return None
        with self._database.write() as session:
            number = _first_free(session, import_id, worker)
            row = None if number is None else session.get(ImportPortionRow, (import_id, number))
            return _take(row, worker)

    def numbers(self, import_id: str) -> set[int]:
        """The portions that have not been read completely."""
        query = select(ImportPortionRow.number)
        return set(self._all(query.where(ImportPortionRow.import_id == import_id)))

    def finish(self, portion: Portion, worker: str) -> None:
        """Delete a portion whose documents have been stored or recorded as failures."""
        self._execute(delete(ImportPortionRow).where(_is_held(portion, worker)))

    def give_back(self, portion: Portion, worker: str) -> None:
        """Leave the rest to the worker of the import."""
        held = update(ImportPortionRow).where(_is_held(portion, worker))
        self._execute(held.values(worker=""))

    def is_held(self, portion: Portion, worker: str) -> bool:
        """Whether the worker should go on; the import may have been stopped."""
        return bool(self._all(select(ImportPortionRow.number).where(_is_held(portion, worker))))


def with_portion(database: Database, portion: Portion, worker: str) -> Database:
    """The ledger for what the reader of a portion writes: it raises LeaseLostError without it."""
    return database.with_guard(partial(_require_portion, portion, worker))


def _require_portion(portion: Portion, worker: str, session: Session) -> None:
    held = select(ImportPortionRow.number).where(_is_held(portion, worker))
    if session.scalar(held) is None:
        raise LeaseLostError(f"{worker} has lost portion {portion.number} of {portion.import_id}")


def _is_held(portion: Portion, worker: str) -> ColumnElement[bool]:
    return and_(
        ImportPortionRow.import_id == portion.import_id,
        ImportPortionRow.number == portion.number,
        ImportPortionRow.worker == worker,
    )


def _first_free(session: Session, import_id: str, worker: str) -> int | None:
    """The number of the first portion without a living reader; reads no documents."""
    columns = select(ImportPortionRow.number, ImportPortionRow.worker)
    query = columns.where(
        ImportPortionRow.import_id == import_id, ImportPortionRow.worker != worker
    )
    rows = session.execute(query.order_by(ImportPortionRow.number))
    return next((number for number, reader in rows if _is_free(session, reader)), None)


def _is_free(session: Session, reader: str) -> bool:
    if not reader:
        return True
    row = session.get(WorkerRow, reader)
    return is_dead(session, reader, None if row is None else row.lease_until)


def _take(row: ImportPortionRow | None, worker: str) -> Portion | None:
    if row is None:
        return None
    is_retry, row.worker, row.was_taken = row.was_taken, worker, True
    new_keys = frozenset(one["key"] for one in row.documents if one["is_new"])
    documents = tuple(map(_from_json, row.documents))
    return Portion(row.import_id, row.number, documents, new_keys, is_retry)


def _as_json(ref: DocumentRef, new_keys: Collection[str]) -> dict[str, Any]:
    restrictions = None if ref.restrictions is None else [sorted(one) for one in ref.restrictions]
    return {**asdict(ref), "restrictions": restrictions, "is_new": ref.key in new_keys}


def _from_json(stored: dict[str, Any]) -> DocumentRef:
    values = {name: value for name, value in stored.items() if name != "is_new"}
    if values["restrictions"] is not None:
        values["restrictions"] = tuple(map(frozenset, values["restrictions"]))
    return DocumentRef(**values)
