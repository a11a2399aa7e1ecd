"""The passages of one folder, shared by the threads of this process."""

import json
import threading
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from domain import Filter, Metadata
from domain.errors import StorageError
from domain.messages import _
from storage.allowed_ids import AllowedIds
from storage.filters import MISSING, Checks, checks_of, fields_of, matches
from storage.safe_writes import require_free_space, writer_lock
from storage.vectors.deep_lake import PassageFiles
from storage.vectors.distance_metrics import DistanceMetric
from storage.vectors.exact_index import ExactIndex
from storage.vectors.metadata_columns import Column, mask
from storage.vectors.new_rows import NewRows
from storage.vectors.passage_dataset import PassageDataset
from storage.vectors.vector_index import Matrix, VectorIndex, query_vector


@dataclass(slots=True)
class State:
    """The ids of all rows in row order; vectors and metadata are read when first needed.

    If an id ever occurred twice, `row_of` would contain its last row, the only visible one.
    """

    version: str
    ids: list[str]
    row_of: dict[str, int]
    index: VectorIndex | ExactIndex | None = None
    columns: dict[str, Column] = field(default_factory=dict)

    @classmethod
    def of(cls, version: str, ids: list[str]) -> "State":
        """The state of a dataset whose rows have these ids, in row order."""
        return cls(version, ids, {id_: row for row, id_ in enumerate(ids)})

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """All rows with one of these ids, ascending."""
        present = {id_ for id_ in ids if id_ in self.row_of}
        if not present:
            return []
        return [row for row, id_ in enumerate(self.ids) if id_ in present]

    def after(self, version: str, deleted: Sequence[int], new: NewRows | None) -> "State":
        """The state after deleting and appending rows; this state must not be used afterwards.

        Keeps vectors and metadata that have already been read.
        """
        added = new.ids if new else ()
        if deleted:
            dropped_rows = set(deleted)
            remaining = [id_ for row, id_ in enumerate(self.ids) if row not in dropped_rows]
            following = State.of(version, [*remaining, *added])
        else:
            self.row_of.update(zip(added, count(len(self.ids)), strict=False))
            self.ids.extend(added)
            following = State(version, self.ids, self.row_of)
        self._carry_over(following, deleted, new)
        return following

    def _carry_over(self, following: "State", deleted: Sequence[int], new: NewRows | None) -> None:
        metadata = [json.loads(each) for each in new.metadata] if new and self.columns else []
        for name, column in self.columns.items():
            column.change(deleted, (each.get(name, MISSING) for each in metadata))
        following.columns = self.columns
        if self.index is not None:
            vectors = new.vectors if new else self.index.vectors([])
            following.index = self.index.after(deleted, len(following.ids) - len(vectors), vectors)


ROWS_PER_HANDLE = 16_384
"""Rows read per handle, which are 24 MiB of vectors; opening a handle takes 50 ms."""


class VectorReader:
    """Reads the vectors of a dataset's current state, starting with the first row.

    Deep Lake caches everything that a handle reads until the handle is closed and another one is
    opened. Therefore, large numbers of vectors are read with several handles.
    """

    def __init__(self, dataset: PassageDataset, rows: int) -> None:
        self._dataset = dataset
        self._handle = dataset
        self._read_until = rows if rows <= ROWS_PER_HANDLE else 0

    def read(self, start: int, stop: int) -> Matrix:
        """The stored vectors of the rows from `start` up to `stop`."""
        if start >= self._read_until:
            self._handle = self._dataset  # releases the previous handle before opening the next
            self._handle = self._open_handle()
            self._read_until = start + ROWS_PER_HANDLE
        return self._handle.vectors(start, stop)

    def _open_handle(self) -> PassageDataset:
        handle = PassageDataset.open(self._dataset.folder, read_only=True)
        # Another process may have just committed and renumbered rows.
        return handle if handle.version == self._dataset.version else self._dataset


@dataclass(frozen=True, slots=True)
class Row:
    """A stored passage."""

    id: str
    text: str
    metadata: Metadata


class Near(NamedTuple):
    """A hit of a vector search; see `DistanceMetric` about `score`, `vector` has length 1."""

    id: str
    score: float
    vector: Matrix


REFRESH_S = 0.5
"""The maximum age, at the start of a search, of the last check for other processes' commits."""


class PassageRows:
    """A dataset that may not exist yet, shared by threads and other processes.

    A lock is held during every use of the handle until the values are read; otherwise, row numbers
    could change in between. Writers also hold the folder's file lock, so row numbers don't change
    between lookup and commit. An upsert is one commit, so readers always see the passage.
    """

    def __init__(
        self,
        files: PassageFiles,
        *,
        timeout_s: float,
        metric: DistanceMetric = DistanceMetric.COSINE,
    ) -> None:
        self.folder = files.folder
        self.metric = metric
        self._files = files
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._dataset: PassageDataset | None = None
        self._state: State | None = None
        self._refreshed_at = -REFRESH_S

    def expire(self) -> None:
        """Let the next call read the current state."""
        with self._lock:
            self._refreshed_at = -REFRESH_S

    def ids(self) -> list[str]:
        """The ids in row order."""
        with self._lock:
            state = self._current()
            return list(state.row_of) if state else []

    def __len__(self) -> int:
        """The number of passages."""
        with self._lock:
            state = self._current()
            return len(state.row_of) if state else 0

    def get(self, ids: Sequence[str]) -> list[Row]:
        """The rows in the order of these ids; unknown ids are omitted."""
        with self._lock:
            state = self._current()
            if state is None:
                return []
            return self._read(state, [state.row_of[id_] for id_ in ids if id_ in state.row_of])

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """The stored vectors by id; unknown ids are omitted."""
        with self._lock:
            state = self._current()
            known_ids = [id_ for id_ in dict.fromkeys(ids) if state and id_ in state.row_of]
            if state is None or not known_ids:
                return {}
            stored = self._open().vectors_at([state.row_of[id_] for id_ in known_ids])
            return dict(zip(known_ids, stored, strict=True))

    def allowed(self, conditions: Filter | None) -> AllowedIds:
        """The ids that match the filter, as of this call.

        Raises:
            ValueError: The filter is invalid.
        """
        checks = checks_of(conditions)
        with self._lock:
            state = self._current()
            if state is None:
                return AllowedIds([], {}, np.empty(0, dtype=np.bool_))
            passing = mask(checks, self._columns(state, checks), len(state.ids))
            # Later commits of this process add ids to the state that the mask doesn't cover.
            return AllowedIds(state.ids, state.row_of, passing)

    def matching(self, ids: Collection[str], conditions: Filter) -> set[str]:
        """Those of the ids whose passages exist and match the filter."""
        return set(filter(self.allowed(conditions), ids))

    def nearest(self, query: npt.NDArray[Any], k: int, conditions: Filter | None) -> list[Near]:
        """The `k` matching passages nearest to the query, best first.

        Reads nothing from disk and does not block other searches.

        Raises:
            ValueError: The query has the wrong length, or the filter is invalid.
        """
        checks = checks_of(conditions)
        compared = query_vector(self.metric, query)
        with self._lock:
            state = self._current()
            if state is None:
                return []
            check_dimension(len(query), self._open().dimension, _("A vector"))
            if compared is None:
                return []
            columns = self._columns(state, checks)
            allowed = mask(checks, columns, len(state.ids)) if conditions else None
            index, ids = self._index(state), state.ids
        best = index.search(compared, k, allowed)
        vectors = index.vectors([row for row, _ in best])
        return [Near(ids[row], score, v) for (row, score), v in zip(best, vectors, strict=True)]

    def nearest_ids(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[str, float]]:
        """`nearest` without vectors: ids and scores."""
        return [(each.id, each.score) for each in self.nearest(query, k, conditions)]

    def nearest_rows(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[Row, Near]]:
        """`nearest` with texts and metadata."""
        checks = checks_of(conditions)
        with self._lock:
            near = self.nearest(query, k, conditions)
            rows_by_id = {row.id: row for row in self.get([each.id for each in near])}
        pairs = [(rows_by_id[each.id], each) for each in near if each.id in rows_by_id]
        # The mask has already filtered the rows; this verifies them by their own metadata.
        return [(row, each) for row, each in pairs if matches(checks, row.metadata)]

    def upsert(self, new: NewRows) -> None:
        """Add rows in one commit, replacing those with the same ids.

        Raises:
            BusyError: Another process kept writing for too long.
            StorageError: The disk is full, or writing failed; nothing was saved.
            ValueError: The vectors' length differs from that of the stored vectors.
        """
        size = new.vectors.nbytes + sum(len(text.encode()) for text in (*new.texts, *new.metadata))
        with writer_lock(self.folder, self._timeout_s), self._lock:
            require_free_space(self.folder, size)
            dimension = new.vectors.shape[1]
            if not self._exist():
                self._dataset = PassageDataset.create(self.folder, dimension)
                self._files.record()
            self._write(new, dimension)

    def delete(self, ids: Collection[str] | None) -> None:
        """Delete these ids, or all if None, in one commit; unknown ids are ignored.

        Raises:
            BusyError: Another process kept writing for too long.
            StorageError: The disk is full, or writing failed; nothing was deleted.
        """
        if not self._exist():
            return
        with writer_lock(self.folder, self._timeout_s), self._lock:
            require_free_space(self.folder, 0)
            state = self._refresh()
            deleted = state.rows_of(state.row_of if ids is None else ids)
            if deleted:
                self._commit(state, deleted, None)

    def _write(self, new: NewRows, dimension: int) -> None:
        state = self._refresh()
        check_dimension(dimension, self._open().dimension, _("Vectors"))
        self._commit(state, state.rows_of(new.ids), new)

    def _commit(self, state: State, deleted: list[int], new: NewRows | None) -> None:
        """Write, and derive the new state instead of reading it back."""
        dataset = self._open()
        self._dataset, self._state = None, None  # after a failure, everything is read again
        dataset.write(deleted, new)
        self._files.record()
        self._dataset, self._state = dataset, state.after(dataset.version, deleted, new)

    def _open(self) -> PassageDataset:
        if self._dataset is None:
            self._dataset = PassageDataset.open(self.folder, read_only=False)
            self._refreshed_at = time.monotonic()
        return self._dataset

    def _current(self) -> State | None:
        """The state to read, at most `REFRESH_S` old; None before the first write."""
        if self._dataset is None and not self._exist():
            return None
        if time.monotonic() - self._refreshed_at >= REFRESH_S or self._state is None:
            return self._refresh()
        return self._state

    def _exist(self) -> bool:
        """Whether the dataset exists.

        Raises:
            DamagedIndexError: The dataset existed but is missing now.
        """
        if PassageDataset.exists(self.folder):
            return True
        self._files.require_sound()
        return False

    def _refresh(self) -> State:
        self._files.require_sound()
        dataset = self._open()
        dataset.refresh()
        self._refreshed_at = time.monotonic()
        if self._state is None or self._state.version != dataset.version:
            self._state = self._updated_state(dataset) or State.of(dataset.version, dataset.ids())
        return self._state

    def _updated_state(self, dataset: PassageDataset) -> State | None:
        """The current state derived from the previous one, if the changes are recorded."""
        state, self._state = self._state, None  # after a failure, everything is read again
        if state is None:
            return None
        changed = dataset.changed_since(state.version, len(state.ids))
        return None if changed is None else state.after(dataset.version, *changed)

    def _index(self, state: State) -> VectorIndex | ExactIndex:
        if state.index is None:
            dataset = self._open()
            included = np.zeros(len(state.ids), dtype=np.bool_)
            included[list(state.row_of.values())] = True
            read = VectorReader(dataset, len(included)).read
            state.index = (
                VectorIndex.load(read, dataset.dimension, included, self.folder)
                if self.metric is DistanceMetric.COSINE
                else ExactIndex.load(read, dataset.dimension, included, self.metric)
            )
        return state.index

    def _columns(self, state: State, checks: Checks) -> dict[str, Column]:
        """The metadata of all rows by field, read once per field and state."""
        unread = [name for name in fields_of(checks) if name not in state.columns]
        if unread:
            values: dict[str, list[Any]] = {name: [] for name in unread}
            for metadata in self._open().metadata():
                for name, column in values.items():
                    column.append(metadata.get(name, MISSING))
            state.columns.update((name, Column(column)) for name, column in values.items())
        return state.columns

    def _read(self, state: State, rows: list[int]) -> list[Row]:
        contents = self._open().texts_and_metadata(rows)
        return [
            Row(state.ids[row], text, metadata)
            for row, (text, metadata) in zip(rows, contents, strict=True)
        ]


class DimensionError(StorageError, ValueError):
    """The length of the vectors differs from that of the stored ones, which another model made."""


def check_dimension(length: int, stored: int, what: str) -> None:
    """Reject vectors of another length.

    Raises:
        DimensionError: The lengths differ; the message names both.
    """
    if length != stored:
        raise DimensionError(
            _(
                "{what} of length {length} can't be compared with stored ones of length {stored}:"
                " set the embedding model with which the index was built, or rebuild it with"
                " `python cli.py reindex`."
            ).format(what=what, length=length, stored=stored)
        )
