"""Cosine search over vectors in memory or in a mapped file: exact, or among candidates if many."""

import mmap
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from domain.logs import get_logger
from storage.safe_writes import SPARE_BYTES
from storage.vectors.distance_metrics import DistanceMetric

logger = get_logger("storage")

Matrix = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

MAPPED_FROM = 50_000
"""Minimum number of rows for a file; with fewer rows, every search reads all of them."""

_SCANNED_AT_ONCE = 16_384
"""Consecutive rows read before their memory is released: 24 MiB of vectors."""

_GATHERED_AT_ONCE = 64
"""The same for scattered rows; the system maps up to 1 MiB for each."""


class VectorMatrix:
    """A matrix that one process fills and reads.

    Its file, if any, is memory-mapped, has no name, and is deleted when the process ends. Its pages
    count as memory of the process only until `release`, and the system may write them to disk when
    it needs memory.
    """

    def __init__(self, rows: int, dimension: int, folder: Path | None = None) -> None:
        """Create an uninitialized matrix.

        Args:
            rows: The number of rows.
            dimension: The number of columns.
            folder: The folder for the file; None keeps everything in memory.
        """
        self._folder = folder
        self._map: mmap.mmap | None = None
        if folder is not None and rows >= MAPPED_FROM:
            self._map = _map_file(folder, rows * dimension * np.dtype(np.float32).itemsize)
        self.values: Matrix = np.ndarray((rows, dimension), np.float32, self._map)

    def with_rows(self, rows: int) -> "VectorMatrix":
        """A new matrix with another number of rows in the same folder."""
        return VectorMatrix(rows, self.values.shape[1], self._folder)

    def rows(self, positions: Rows) -> Matrix:
        """A copy of the rows at these positions, in this order."""
        copy = np.empty((len(positions), self.values.shape[1]), np.float32)
        for start in range(0, len(positions), _GATHERED_AT_ONCE):
            part = slice(start, start + _GATHERED_AT_ONCE)
            copy[part] = self.values[positions[part]]
            self.release()
        return copy

    def products(self, query: Matrix, start: int, stop: int) -> Matrix:
        """The inner products of a range of rows with the query."""
        result = np.empty(max(0, stop - start), np.float32)
        for first in range(start, stop, _SCANNED_AT_ONCE):
            last = min(first + _SCANNED_AT_ONCE, stop)
            # Twice as fast as `@`, which is optimized for matrices on both sides.
            np.vecdot(self.values[first:last], query, out=result[first - start : last - start])
            self.release()
        return result

    def release(self) -> None:
        """Release the memory of pages that were read or written; they are reloaded on demand.

        Thread-safe.
        """
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def _map_file(folder: Path, size: int) -> mmap.mmap | None:
    """A memory-mapped file of this size in the folder; None if it can't be created."""
    if not hasattr(os, "posix_fallocate") or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    try:
        if shutil.disk_usage(folder).free < size + SPARE_BYTES:
            return None
        with tempfile.TemporaryFile(dir=folder) as file:
            # Reserve the space, because writing to a mapped file on a full disk would crash.
            os.posix_fallocate(file.fileno(), 0, size)
            return mmap.mmap(file.fileno(), size)
    except OSError as error:
        logger.info("Vectors are kept in memory, because %s can't hold a file: %s", folder, error)
        return None


APPROXIMATE_FROM = 50_000
"""Minimum number of rows for codes; with fewer, an exact search takes under 5 ms on one core."""

UNCODED = 0.05
"""The share of rows without codes that triggers recoding, as each costs an exact product."""

TRAINING_ROWS = 20_000
"""Sample size to learn the 16 centers of each subspace; a larger one did not raise recall."""

THREAD = "codes of vectors"

_CODED_AT_ONCE = 20_000
_SUBSPACE = 4


class Codes:
    """Product quantization codes of a matrix's rows, at the same positions."""

    def __init__(self, dimension: int) -> None:
        import faiss  # slow to import

        metric = faiss.METRIC_INNER_PRODUCT
        self._index: Any = faiss.IndexPQFastScan(dimension, dimension // _SUBSPACE, 4, metric)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def train(self, matrix: VectorMatrix, rows: int) -> None:
        """Learn the centers from a deterministic sample of the first rows."""
        sample = np.random.default_rng(0).choice(rows, TRAINING_ROWS, replace=False)
        self._index.train(matrix.rows(np.sort(sample)))

    def add(self, block: Matrix) -> None:
        """Encode more rows."""
        self._index.add(block)

    def nearest(self, query: Matrix, count: int) -> Rows:
        """The positions of the `count` rows nearest to the query by their codes, ascending."""
        positions = self._index.search(query[np.newaxis], count)[1][0]
        return np.sort(positions[positions >= 0]).astype(np.intp)


class BackgroundCodes:
    """The codes of a growing matrix, computed in a background thread."""

    def __init__(self) -> None:
        self._codes: Codes | None = None
        self._built_for = 0
        self._lock = threading.Lock()

    def of(self, matrix: VectorMatrix, rows: int) -> Codes | None:
        """The codes of the first rows; None if there are none yet.

        Starts computing new codes if they are missing or cover too few rows. The number of rows
        must not have decreased since the last call.
        """
        with self._lock:
            if self._needs_rebuild(rows, matrix.values.shape[1]):
                self._built_for = rows
                threading.Thread(target=self._build, args=(matrix, rows), name=THREAD).start()
        return self._codes

    def _needs_rebuild(self, rows: int, dimension: int) -> bool:
        if rows < APPROXIMATE_FROM or dimension % _SUBSPACE:
            return False
        return self._built_for < (1 - UNCODED) * rows

    def _build(self, matrix: VectorMatrix, rows: int) -> None:
        codes = Codes(matrix.values.shape[1])
        codes.train(matrix, rows)
        for start in range(0, rows, _CODED_AT_ONCE):
            if not threading.main_thread().is_alive():
                return  # the program is exiting and waits for this thread
            codes.add(matrix.values[start : min(start + _CODED_AT_ONCE, rows)])
            matrix.release()
        self._codes = codes


BLOCK_ROWS = 1024
"""Rows read at a time, which limits the temporary memory of their float64 copies."""

SPARSE = 4
"""If fewer than one in four rows is allowed, gathering those is cheaper than multiplying all."""

CANDIDATES = 500
"""Minimum number of rows nearest by their codes that are compared exactly."""

CANDIDATES_PER_HIT = 20
"""Minimum number of these candidates per requested row."""

SPARE = 0.1
"""The share of spare rows when the matrix grows, and the maximum share of deleted rows.

If more rows are deleted, the matrix is copied.
"""

DELETED = -1
"""The row number at the matrix positions of deleted rows."""


class VectorIndex:
    """The vectors of one state of a store, scaled to length 1, in row order.

    Zero vectors have no cosine, so they are omitted and never found. An index is immutable, so
    threads may search it while `after` builds the next one.

    With at least `APPROXIMATE_FROM` rows, a search without a filter is approximate once codes have
    been computed in the background: it compares exactly only the candidates that are nearest by
    their codes. A search with a filter is always exact.
    """

    def __init__(
        self, rows: Rows, matrix: VectorMatrix, codes: BackgroundCodes | None = None
    ) -> None:
        """Create an index over a filled matrix.

        Args:
            rows: The row number at each matrix position, ascending except for `DELETED`.
            matrix: The matrix, possibly with unused positions at its end.
            codes: Codes of an earlier index with the same rows at the same positions.
        """
        self._rows = rows
        self._matrix = matrix
        self._codes = codes or BackgroundCodes()
        self._live_positions = None if rows.min(initial=0) >= 0 else np.flatnonzero(rows != DELETED)

    @classmethod
    def load(
        cls,
        read: Callable[[int, int], npt.NDArray[Any]],
        dimension: int,
        included: npt.NDArray[np.bool_],
        folder: Path | None = None,
    ) -> "VectorIndex":
        """Read the vectors block by block.

        Args:
            read: Returns the vectors of the rows from `start` up to `stop`.
            dimension: Length of each vector.
            included: For each row of the store, whether searches can find it.
            folder: The folder for a file if there are many vectors; None keeps them in memory.
        """
        matrix = VectorMatrix(int(included.sum()), dimension, folder)
        rows: list[Rows] = []
        filled = 0
        for start in range(0, len(included), BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, len(included))
            block, has_direction = unit_length(read(start, stop))
            keep = np.flatnonzero(included[start:stop] & has_direction)
            matrix.values[filled : filled + len(keep)] = block[keep]
            matrix.release()
            rows.append(keep + start)
            filled += len(keep)
        return cls(np.concatenate(rows or [np.empty(0, np.intp)]), matrix)

    def search(
        self, query: Matrix, k: int, allowed: npt.NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The `k` nearest rows as `(row, cosine)`, best first; ties are in row order.

        Args:
            query: A vector of length 1.
            k: The maximum number of results; at least 1.
            allowed: For each row of the store, whether it may be returned; None allows all.
        """
        positions, scores = self._candidates(query, k, allowed) or self._all(query, allowed)
        best = largest(scores, k)
        rows = self._rows[best if positions is None else positions[best]]
        cosines = np.clip(scores[best], -1.0, 1.0)
        return list(zip(rows.tolist(), cosines.tolist(), strict=True))

    def vectors(self, rows: list[int]) -> Matrix:
        """The scaled vectors of rows that a search returned, in this order."""
        live = self._live_positions
        if live is None:
            return self._matrix.rows(np.searchsorted(self._rows, rows))
        return self._matrix.rows(live[np.searchsorted(self._rows[live], rows)])

    def after(self, deleted: Sequence[int], first: int, added: npt.NDArray[Any]) -> "VectorIndex":
        """The index of the next state; call it only once. This index may still be searched.

        Args:
            deleted: Row numbers to delete, ascending; later rows move up.
            first: The row number of the first added vector.
            added: The vectors to append.
        """
        block, has_direction = unit_length(added)
        remaining = _without(self._rows, deleted)
        rows = np.concatenate([remaining, np.flatnonzero(has_direction) + first])
        new = block[has_direction]
        if np.count_nonzero(rows == DELETED) > SPARE * len(rows):
            live = np.flatnonzero(remaining != DELETED)
            return VectorIndex(rows[rows != DELETED], self._grown(live, new))
        matrix = self._matrix
        if len(rows) > len(matrix.values):
            matrix = self._grown(np.arange(len(remaining)), new)
        else:
            matrix.values[len(remaining) : len(rows)] = new
        return VectorIndex(rows, matrix, self._codes)

    def _grown(self, positions: Rows, new: Matrix) -> VectorMatrix:
        """A copy of these positions followed by new rows and spare ones."""
        rows = len(positions) + len(new)
        matrix = self._matrix.with_rows(rows + int(SPARE * rows))
        for start in range(0, len(positions), BLOCK_ROWS):
            block = positions[start : start + BLOCK_ROWS]
            matrix.values[start : start + len(block)] = self._matrix.rows(block)
            matrix.release()
        matrix.values[len(positions) : rows] = new
        return matrix

    def _candidates(
        self, query: Matrix, k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows, Matrix] | None:
        """Candidate positions and their cosines; None if all rows must be compared."""
        codes = self._codes.of(self._matrix, len(self._rows)) if allowed is None else None
        count = max(CANDIDATES, CANDIDATES_PER_HIT * k)
        while codes is not None and count * SPARSE < len(codes):
            near = codes.nearest(query, count)
            near = near[near < len(self._rows)]  # the codes may be those of a later index
            near = near[self._rows[near] != DELETED]
            if len(near) * 2 >= max(CANDIDATES, CANDIDATES_PER_HIT * k):
                return self._with_uncoded(query, near, len(codes))
            count *= 4  # too many were deleted since the codes were computed
        return None

    def _with_uncoded(self, query: Matrix, near: Rows, coded: int) -> tuple[Rows, Matrix]:
        """The candidates, including all rows added after the codes were computed."""
        late = np.flatnonzero(self._rows[coded:] != DELETED)
        uncoded = self._matrix.products(query, coded, len(self._rows))
        scores = [self._matrix.rows(near) @ query, uncoded[late]]
        return np.concatenate([near, late + coded]), np.concatenate(scores)

    def _all(
        self, query: Matrix, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows | None, Matrix]:
        """The allowed positions, None for all, and their cosines."""
        positions = self._live_positions
        if allowed is not None:
            within = self._rows if positions is None else self._rows[positions]
            selected = np.flatnonzero(allowed[within])
            positions = selected if positions is None else positions[selected]
        return positions, self._scores(query, positions)

    def _scores(self, query: Matrix, positions: Rows | None) -> Matrix:
        if positions is not None and len(positions) * SPARSE < len(self._rows):
            return self._matrix.rows(positions) @ query
        scores = self._matrix.products(query, 0, len(self._rows))
        return scores if positions is None else scores[positions]


def unit_length(vectors: npt.NDArray[Any]) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    """The vectors scaled to length 1, and for each, whether it is not zero."""
    exact = vectors.astype(np.float64)  # the square of a large float32 overflows
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    has_direction = lengths > 0
    exact /= np.where(has_direction, lengths, 1.0)[:, np.newaxis]
    return exact.astype(np.float32), has_direction


def query_vector(metric: DistanceMetric, query: npt.NDArray[Any]) -> Matrix | None:
    """The query as it is compared with passages; None if no passage can be near it."""
    if metric is not DistanceMetric.COSINE:
        return query.astype(np.float32)
    unit, has_direction = unit_length(query[np.newaxis])
    return unit[0] if has_direction[0] else None


def _without(rows: Rows, deleted: Sequence[int]) -> Rows:
    """The row numbers after a deletion, at the same positions."""
    shifted = rows - np.searchsorted(deleted, rows)
    shifted[(rows == DELETED) | np.isin(rows, deleted)] = DELETED
    return shifted


def largest(scores: Matrix, k: int) -> Rows:
    """Positions of the `k` largest scores, best first; ties are in order of position."""
    if k < len(scores):
        limit = np.partition(scores, len(scores) - k)[len(scores) - k]
        above = np.flatnonzero(scores > limit)
        equal = np.flatnonzero(scores == limit)[: k - len(above)]
        positions = np.concatenate([above, equal])
    else:
        positions = np.arange(len(scores))
    return positions[np.lexsort((positions, -scores[positions]))]
