"""Moves the index between the data folder and an OpenSearch cluster, without embedding again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain import Principal, Progress, Role, Stage
from domain.errors import ConflictError, StorageError
from domain.logs import elapsed_ms, get_logger
from domain.messages import _
from services.access import require_role
from services.imports.index_copy import copy_passages
from services.imports.index_writer import ActiveIndex
from services.long_work import OnProgress, ignore
from storage.base_store import IndexStore
from storage.index_stores import IndexStores, open_store
from storage.ledger.database import Database, in_groups
from storage.ledger.document_store import Documents
from storage.ledger.index_store import Engine, Index, IndexSpec

_LOCK_TIMEOUT_S = 2.0
_PASSAGES_PER_STEP = 1000
_PRECISION = 1e-6
"""The greatest difference of a number in a vector that was read back: float32 in JSON and back."""

_log = get_logger("imports")


@dataclass(frozen=True, slots=True)
class IndexMove:
    """How a move of the index ended.

    `passages` is their number in the index, of which `copied` were copied in this call. `problem`
    is the reason why the alias on the cluster could not be moved, or "".
    """

    passages: int
    copied: int
    problem: str


class IndexMigration:
    """Copies the active index to the other engine, and activates the copy."""

    def __init__(self, database: Database, stores: IndexStores) -> None:
        self._documents = Documents(database)
        self._active = ActiveIndex(database, stores)

    def run(
        self, principal: Principal, engine: str, on_progress: OnProgress = ignore
    ) -> IndexMove | None:
        """Move the index; None if there is no index, or if it uses this engine already.

        The old index stays in use until the copy is complete and compared with it. If the process
        is killed, the next call resumes the copy.

        Raises:
            ForbiddenError: The principal is not an administrator.
            ConflictError: The index must be built again anyway, or a reindex is not finished.
            BusyError: An import or a reindex is running.
            StorageError: An index is damaged or can't be read or written.
        """
        require_role(principal, Role.ADMIN)
        started = time.perf_counter()
        with self._active.lock.hold(_LOCK_TIMEOUT_S):
            index = self._active.indexes.active()
            if index is None or index.spec.engine == engine:
                return None
            _require_current(index)
            move = self._move(index, Engine(engine), on_progress)
        _log.info("index moved", passages=move.copied, total_ms=elapsed_ms(started))
        return move

    def _move(self, index: Index, engine: Engine, on_progress: OnProgress) -> IndexMove:
        original = open_store(self._active.indexes, self._active.stores, index)
        original.load()  # vectors of damaged files must not be copied
        spec = replace(index.spec, engine=engine)
        _require_finished(self._active.indexes.building(), spec)
        copy = self._active.resume_or_create(spec)
        writer = self._active.writer_of(copy)
        copied = copy_passages(self._documents, original, writer, on_progress)
        try:
            passages = self._require_equal(original, copy, on_progress)
        except StorageError as error:
            if not error.retryable:  # the next call must not resume it
                self._active.indexes.retire(copy.index.id)
                self._active.delete_retired()
            raise
        return IndexMove(passages, copied, self._active.activate(copy.index))

    def _require_equal(
        self, original: IndexStore, copy: IndexStore, on_progress: OnProgress
    ) -> int:
        """Compare ids and vectors, and return the number of passages.

        Raises:
            StorageError: The copy differs.
        """
        expected = self._documents.passage_ids(original.index.id)
        for part in copy.inspect():
            if part.damage or sorted(part.ids) != sorted(expected):
                raise _difference(part.name, len(expected), len(part.ids))
        done = 0
        for ids in in_groups(sorted(expected), _PASSAGES_PER_STEP):
            if not _are_equal(original, copy, ids):
                raise _difference("vectors", len(expected), len(expected))
            done += len(ids)
            on_progress(Progress(Stage.READING, done, len(expected)))
        return len(expected)


def _require_current(index: Index) -> None:
    if index.fingerprint != index.spec.fingerprint:
        raise ConflictError(
            _(
                "The index was built by an earlier version of Footnote: run `python cli.py reindex`"
                " instead, which embeds all passages again."
            )
        )


def _require_finished(building: Index | None, spec: IndexSpec) -> None:
    if building is not None and building.fingerprint != spec.fingerprint:
        raise ConflictError(
            _(
                "A reindex is not finished, and moving the index would delete what it has embedded:"
                " finish `python cli.py reindex` first."
            )
        )


def _are_equal(original: IndexStore, copy: IndexStore, ids: Sequence[str]) -> bool:
    import numpy as np  # slow to import, and rarely needed

    one, other = (store.passages.vectors_of(ids) for store in (original, copy))
    return len(one) == len(other) == len(ids) and np.allclose(
        np.stack([one[id_] for id_ in ids]),
        np.stack([other[id_] for id_ in ids]),
        rtol=_PRECISION,
        atol=_PRECISION,
    )


def _difference(part: str, expected: int, found: int) -> StorageError:
    return StorageError(
        _(
            "The copied index differs from the original ({part}: {found} of {expected} passages)."
            " The original stays in use: run the same command again."
        ).format(part=part, found=found, expected=expected)
    )
