"""The passages of one folder for all threads of this process: rows, filters, nearest rows."""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from domain import Filter
from errors import StorageError
from storage.disk import require_free_space
from storage.filters import MISSING, Checks, Column, checks_of, fields_of, mask, matches
from storage.found_rows import Near, Row
from storage.lock import writer_lock
from storage.new_rows import NewRows, check_dimension
from storage.passage_dataset import PassageDataset
from storage.passage_files import PassageFiles
from storage.passage_state import State
from storage.vector_index import VectorIndex, unit_length
from storage.vector_reader import VectorReader
from storage.vector_room import Matrix

REFRESH_S = 0.5
"""How old the last look for other processes' commits may be when a search begins."""


class PassageRows:
    """A dataset that may not exist yet, shared by threads and with other processes.

    One lock covers every use of the handle up to the values being read: without it, threads see
    rows move under them. Writers also hold the folder's file lock, so that the offsets of the
    rows to delete can't move between looking them up and the commit. An upsert is one commit,
    so that no reader misses the passage; were an id ever there twice, its last row counts.
    """

    def __init__(self, files: PassageFiles, *, read_only: bool, timeout_s: float) -> None:
        self.folder = files.folder
        self._files = files
        self._read_only = read_only
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._dataset: PassageDataset | None = None
        self._state: State | None = None
        self._looked_at = -REFRESH_S

    def ids(self) -> list[str]:
        """The ids, oldest row first."""
        with self._lock:
            state = self._current()
            return list(state.row_of) if state else []

    def __len__(self) -> int:
        """The number of passages."""
        with self._lock:
            state = self._current()
            return len(state.row_of) if state else 0

    def get(self, ids: Sequence[str]) -> list[Row]:
        """The rows with these ids in the order asked; unknown ids are left out."""
        with self._lock:
            state = self._current()
            if state is None:
                return []
            return self._read(state, [state.row_of[id_] for id_ in ids if id_ in state.row_of])

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """The vectors of these ids as they were given; unknown ids are left out."""
        with self._lock:
            state = self._current()
            known = [id_ for id_ in dict.fromkeys(ids) if state and id_ in state.row_of]
            if state is None or not known:
                return {}
            found = self._open().vectors_at([state.row_of[id_] for id_ in known])
            return dict(zip(known, found, strict=True))

    def allowed(self, conditions: Filter) -> Callable[[str], bool]:
        """Whether the passage with an id is there and matches, as of this call.

        Raises:
            ValueError: The filter can't be understood.
        """
        checks = checks_of(conditions)
        with self._lock:
            state = self._current()
            if state is None:
                return lambda _id: False
            passing = mask(checks, self._columns(state, checks), len(state.ids))
        row_of, unknown = state.row_of, len(passing)
        # A later commit of this process adds ids to `row_of`: rows that the mask doesn't have.
        return lambda id_: (row := row_of.get(id_, unknown)) < unknown and bool(passing[row])

    def nearest(self, query: npt.NDArray[Any], k: int, conditions: Filter | None) -> list[Near]:
        """The `k` passages nearest to the query among those that match, best first.

        Nothing is read from the disk, and other threads may search meanwhile.

        Raises:
            ValueError: The query has the wrong length, or the filter can't be understood.
        """
        checks = checks_of(conditions or {})
        unit, directed = unit_length(query[np.newaxis])
        with self._lock:
            state = self._current()
            if state is None:
                return []
            check_dimension(len(query), self._open().dimension, "A vector")
            if not directed[0]:
                return []
            columns = self._columns(state, checks)
            allowed = mask(checks, columns, len(state.ids)) if conditions else None
            index, ids = self._index(state), state.ids
        best = index.search(unit[0], k, allowed)
        vectors = index.vectors([row for row, _ in best])
        return [Near(ids[row], cosine, v) for (row, cosine), v in zip(best, vectors, strict=True)]

    def nearest_rows(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[Row, Near]]:
        """The same with their texts and metadata."""
        checks = checks_of(conditions or {})
        with self._lock:
            near = self.nearest(query, k, conditions)
            kept = {row.id: row for row in self.get([each.id for each in near])}
        found = [(kept[each.id], each) for each in near if each.id in kept]
        # The mask has decided this already. What is shown to a person is looked at itself.
        return [(row, each) for row, each in found if matches(checks, row.metadata)]

    def upsert(self, new: NewRows) -> None:
        """Add rows, in place of those with the same ids, in one commit.

        Raises:
            BusyError: Another process went on writing for too long.
            StorageError: The disk is too full, or writing failed; nothing was kept.
            ValueError: The vectors' length is not that of the vectors already there.
        """
        size = new.vectors.nbytes + sum(len(text.encode()) for text in (*new.texts, *new.metadata))
        self._refuse_if_read_only()
        with writer_lock(self.folder, self._timeout_s), self._lock:
            require_free_space(self.folder, size)
            dimension = new.vectors.shape[1]
            if not self._exist():
                self._dataset = PassageDataset.create(self.folder, dimension)
            self._write(new, dimension)

    def delete(self, ids: Collection[str] | None) -> None:
        """Delete these ids, or all of them for None, in one commit; unknown ones don't matter.

        Raises:
            BusyError: Another process went on writing for too long.
            StorageError: The disk is too full, or writing failed; nothing was deleted.
        """
        self._refuse_if_read_only()
        if not self._exist():
            return
        with writer_lock(self.folder, self._timeout_s), self._lock:
            require_free_space(self.folder, 0)
            state = self._look_again()
            gone = state.rows_of(state.row_of if ids is None else ids)
            if gone:
                self._commit(state, gone, None)

    def _write(self, new: NewRows, dimension: int) -> None:
        state = self._look_again()
        check_dimension(dimension, self._open().dimension, "Vectors")
        self._commit(state, state.rows_of(new.ids), new)

    def _commit(self, state: State, gone: list[int], new: NewRows | None) -> None:
        """Write, and know the new state without reading it back."""
        dataset = self._open()
        self._dataset, self._state = None, None  # were it to fail, everything is read afresh
        dataset.write(gone, new)
        self._files.record()
        self._dataset, self._state = dataset, state.after(dataset.version, gone, new)

    def _refuse_if_read_only(self) -> None:
        if self._read_only:
            message = f"The passages in {self.folder} are open for reading only; import instead"
            raise StorageError(message)

    def _open(self) -> PassageDataset:
        if self._dataset is None:
            self._dataset = PassageDataset.open(self.folder, read_only=self._read_only)
            self._looked_at = time.monotonic()
        return self._dataset

    def _current(self) -> State | None:
        """The state to read from, at most `REFRESH_S` old; None before anything was written."""
        if self._dataset is None and not self._exist():
            return None
        if time.monotonic() - self._looked_at >= REFRESH_S or self._state is None:
            return self._look_again()
        return self._state

    def _exist(self) -> bool:
        """Whether there is anything to read.

        Raises:
            DamagedIndexError: There was, and it is gone.
        """
        if PassageDataset.exists(self.folder):
            return True
        self._files.require_sound()
        return False

    def _look_again(self) -> State:
        self._files.require_sound()
        dataset = self._open()
        dataset.refresh()
        self._looked_at = time.monotonic()
        if self._state is None or self._state.version != dataset.version:
            self._state = self._followed(dataset) or State.of(dataset.version, dataset.ids())
        return self._state

    def _followed(self, dataset: PassageDataset) -> State | None:
        """The state of now, made from the one before where it is known what others changed."""
        state, self._state = self._state, None  # were it to fail, everything is read afresh
        if state is None:
            return None
        changed = dataset.changed_since(state.version, len(state.ids))
        return None if changed is None else state.after(dataset.version, *changed)

    def _index(self, state: State) -> VectorIndex:
        if state.index is None:
            dataset = self._open()
            wanted = np.zeros(len(state.ids), dtype=np.bool_)
            wanted[list(state.row_of.values())] = True
            reader = VectorReader(dataset, len(wanted))
            state.index = VectorIndex.load(reader.read, dataset.dimension, wanted, self.folder)
        return state.index

    def _columns(self, state: State, checks: Checks) -> dict[str, Column]:
        """The metadata of all rows, field by field, read once for each field and state."""
        unread = [name for name in fields_of(checks) if name not in state.columns]
        if unread:
            values: dict[str, list[Any]] = {name: [] for name in unread}
            for metadata in self._open().metadata():
                for name, column in values.items():
                    column.append(metadata.get(name, MISSING))
            state.columns.update((name, Column(column)) for name, column in values.items())
        return state.columns

    def _read(self, state: State, rows: list[int]) -> list[Row]:
        found = self._open().texts_and_metadata(rows)
        return [
            Row(state.ids[row], text, metadata)
            for row, (text, metadata) in zip(rows, found, strict=True)
        ]
