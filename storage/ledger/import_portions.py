"""Portions of the documents of a running import, which several workers read.

Whatever ends the run also deletes its portions (`import_queue_store.end`), in the same transaction.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from sqlalchemy import Select, delete, insert, select
from sqlalchemy.orm import Session

from domain import DocumentRef
from storage.ledger.database import Database, Store
from storage.ledger.guarded_run import LeaseLostError
from storage.ledger.import_queue_store import is_dead
from storage.ledger.ledger_tables import ImportPortionRow, WorkerRow


@dataclass(frozen=True, slots=True)
class Portion:
    """Documents that a worker has taken.

    Those with `new_keys` were not in the library when the import began. If `is_retry`, another
    worker may have read some of them.
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
        """Take a portion of an import of another worker; None if there is none."""
        with self._database.read() as session:  # usually there is none, so don't lock the ledger
            if session.scalar(_untaken().limit(1)) is None:
                return None
        with self._database.write() as session:
            return _take(session.scalar(_untaken().limit(1)), worker)

    def take(self, import_id: str, worker: str) -> Portion | None:
        """Take a portion of the worker's own import that nobody reads, or whose reader is dead.

        None if there is none; others may still read portions.
        """
        query = select(ImportPortionRow).where(ImportPortionRow.import_id == import_id)
        with self._database.write() as session:
            rows = session.scalars(query.order_by(ImportPortionRow.number))
            free = (row for row in rows if row.worker != worker and _is_free(session, row))
            return _take(next(free, None), worker)

    def numbers(self, import_id: str) -> set[int]:
        """The portions that have not been read completely."""
        query = select(ImportPortionRow.number)
        return set(self._all(query.where(ImportPortionRow.import_id == import_id)))

    def finish(self, portion: Portion, worker: str) -> None:
        """Delete a portion whose documents have been stored or recorded as failures."""
        with self._database.write() as session:
            session.execute(
                delete(ImportPortionRow).where(
                    ImportPortionRow.import_id == portion.import_id,
                    ImportPortionRow.number == portion.number,
                    ImportPortionRow.worker == worker,
                )
            )

    def give_back(self, portion: Portion, worker: str) -> None:
        """Leave the rest to the worker of the import."""
        with self._database.write() as session:
            row = _held(session, portion, worker)
            if row is not None:
                row.worker = ""

    def is_held(self, portion: Portion, worker: str) -> bool:
        """Whether the worker should go on; the import may have been stopped."""
        with self._database.read() as session:
            return _held(session, portion, worker) is not None


def guarded_portion(database: Database, portion: Portion, worker: str) -> Database:
    """The ledger for what the reader of a portion writes: it raises LeaseLostError without it."""
    return database.guarded(partial(_require_held, portion, worker))


def _require_held(portion: Portion, worker: str, session: Session) -> None:
    if _held(session, portion, worker) is None:
        raise LeaseLostError(f"{worker} has lost portion {portion.number} of {portion.import_id}")


def _untaken() -> Select[ImportPortionRow]:
    return (
        select(ImportPortionRow)
        .where(ImportPortionRow.worker == "", ImportPortionRow.was_taken.is_(False))
        .order_by(ImportPortionRow.import_id, ImportPortionRow.number)
    )


def _held(session: Session, portion: Portion, worker: str) -> ImportPortionRow | None:
    row = session.get(ImportPortionRow, (portion.import_id, portion.number))
    return row if row is not None and row.worker == worker else None


def _is_free(session: Session, portion: ImportPortionRow) -> bool:
    if not portion.worker:
        return True
    row = session.get(WorkerRow, portion.worker)
    return is_dead(session, portion.worker, None if row is None else row.lease_until)


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
