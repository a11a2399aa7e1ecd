"""The documents of a large import, which several workers read.

The worker of the import publishes them in portions. It reads portions itself, and so does every
worker without a run (`services.import_worker`). The import continues when none is left.
"""

from collections.abc import Collection, Sequence

from domain import DocumentRef
from storage.ledger.database import Database, in_groups
from storage.ledger.import_leases import Workers
from storage.ledger.import_portions import ImportPortions, Portion

BATCH_DOCUMENTS = 64
"""The most documents that are written at once, and a portion, so one of small ones is one batch."""


class SharedReading:
    """The portions of one import, for the worker that performs it."""

    def __init__(self, database: Database, import_id: str, worker: str) -> None:
        self._portions = ImportPortions(database)
        self._workers = Workers(database)
        self._import_id, self._worker = import_id, worker
        self._others: dict[int, Sequence[DocumentRef]] = {}
        """The portions that this worker has not taken, until they have been read."""

    def publish(self, refs: Sequence[DocumentRef], new_keys: Collection[str]) -> bool:
        """Publish the documents, unless they are few, or there is no other worker."""
        is_shared = len(refs) > BATCH_DOCUMENTS and self._workers.any_alive(self._worker)
        if is_shared:
            groups = list(in_groups(refs, BATCH_DOCUMENTS))
            self._portions.publish(self._import_id, groups, new_keys)
            self._others = dict(enumerate(groups))
        return is_shared

    def take(self) -> Portion | None:
        """A portion for this worker; None if others read all that are left."""
        portion = self._portions.take(self._import_id, self._worker)
        if portion is not None:
            self._others.pop(portion.number, None)
        return portion

    def finish(self, portion: Portion) -> None:
        """Note that this worker has read a portion."""
        self._portions.finish(portion, self._worker)

    def read_by_others(self) -> list[DocumentRef]:
        """The documents that other workers have read since the last call."""
        left = self._portions.numbers(self._import_id)
        done = [number for number in self._others if number not in left]
        return [ref for number in done for ref in self._others.pop(number)]

    @property
    def is_complete(self) -> bool:
        """Whether all portions have been read, as of the last call of `read_by_others`."""
        return not self._others
