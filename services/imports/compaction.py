"""Copies the active index without the history of its commits.

Deep Lake keeps 60 to 80 KiB of memory per commit in every process that has a store open
(`python -m benchmarks.commit_memory`), however few passages the commit changed, and can't discard
old commits. So a long history is left behind: the passages and their vectors are copied to a new
index, which replaces the old one as after a reindex, but nothing is split or embedded again.
"""

import time
from functools import partial

from domain import CancelledError, Principal, Role
from domain.logs import elapsed_ms, get_logger
from services.access import require_role
from services.imports.index_copy import copy_passages
from services.imports.index_writer import ActiveIndex
from services.long_work import Cancelled, never, stop_if
from storage.index_stores import IndexStores, open_store
from storage.ledger.database import Database
from storage.ledger.document_store import Documents
from storage.ledger.index_store import Index

COMMITS = 50
"""The length of a history that any index may have."""

PASSAGES_PER_COMMIT = 200
"""Each further commit is allowed for this many passages, whose vectors of 384 numbers take 300 KiB
of memory, so a history takes at most about a quarter more."""

_LOCK_TIMEOUT_S = 5.0
"""Longer than a step of an import, or the compaction would never run while others import."""

_log = get_logger("imports")


class Compaction:
    """Replaces an active index that has a long history."""

    def __init__(self, database: Database, stores: IndexStores) -> None:
        self._documents = Documents(database)
        self._active = ActiveIndex(database, stores)

    def run_if_due(self, principal: Principal, cancelled: Cancelled = never) -> bool:
        """Compact the active index if its history is long; return whether it was compacted.

        The old index stays in use until the copy is complete. If the work is canceled, or the
        process is killed, the next call resumes it.

        Raises:
            ForbiddenError: The principal is not an administrator.
            BusyError: An import or a reindex is running.
            StorageError: The index is damaged, or the data folder can't be written.
        """
        require_role(principal, Role.ADMIN)
        if self._due_index() is None:  # the usual case, without the lock
            return False
        started = time.perf_counter()
        try:
            with self._active.lock.hold(_LOCK_TIMEOUT_S, partial(stop_if, cancelled)):
                index = self._due_index()  # another process may have compacted it
                if index is None:
                    return False
                copied = self._compact(index, cancelled)
        except CancelledError:
            return False
        _log.info("index compacted", passages=copied, total_ms=elapsed_ms(started))
        return True

    def _due_index(self) -> Index | None:
        """The active index if its history is long, and no reindex will replace it anyway."""
        index = self._active.indexes.active()
        if index is None or index.fingerprint != index.spec.fingerprint:
            return None
        building = self._active.indexes.building()
        if building is not None and building.fingerprint != index.fingerprint:
            return None
        passages = self._active.indexes.passages(index.id)
        allowed = COMMITS + passages // PASSAGES_PER_COMMIT
        return index if self._active.stores.open(index).commits > allowed else None

    def _compact(self, index: Index, cancelled: Cancelled) -> int:
        source = open_store(self._active.indexes, self._active.stores, index)
        source.load()  # vectors of damaged files must not be copied
        writer = self._active.writer_of(self._active.resume_or_create(index.spec))
        copied = copy_passages(self._documents, source, writer, cancelled=cancelled)
        self._active.activate(writer.index)
        return copied
