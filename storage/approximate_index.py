"""Candidates for an exact comparison, found by comparing short codes of all vectors.

The codes are FAISS's product quantisation with 4 bits for 4 dimensions, a thirty-second of the
vectors' memory (Jegou et al., 2011; the comparison in registers is that of Andre et al., 2015).
All codes are compared: lists of which only the nearest are looked into would be faster yet, and
miss whatever lies in the others.
"""

import threading
from typing import Any

import numpy as np

from storage.vector_room import Matrix, Rows, VectorRoom

APPROXIMATE_FROM = 50_000
"""Rows from which codes are made. Below, the exact product takes less than 5 ms on one core."""

UNCODED = 0.05
"""The share of rows without a code at which all are coded again: each costs an exact product."""

TRAINING_ROWS = 20_000
"""Rows from which the 16 centres of each subspace are learnt: more changed no recall."""

THREAD = "codes of vectors"

_CODED_AT_ONCE = 20_000
_SUBSPACE = 4


class Codes:
    """The codes of the rows of a matrix, in the same places."""

    def __init__(self, dimension: int) -> None:
        import faiss  # slow to import

        metric = faiss.METRIC_INNER_PRODUCT
        self._index: Any = faiss.IndexPQFastScan(dimension, dimension // _SUBSPACE, 4, metric)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def train(self, room: VectorRoom, rows: int) -> None:
        """Learn the centers from a sample of the first rows, always the same one for the same."""
        sample = np.random.default_rng(0).choice(rows, TRAINING_ROWS, replace=False)
        self._index.train(room.rows(np.sort(sample)))

    def add(self, block: Matrix) -> None:
        """Code further rows."""
        self._index.add(block)

    def nearest(self, query: Matrix, count: int) -> Rows:
        """The places of the `count` rows that seem nearest to the query, in ascending order."""
        found = self._index.search(query[np.newaxis], count)[1][0]
        return np.sort(found[found >= 0]).astype(np.intp)


class BackgroundCodes:
    """The codes of a matrix that grows, made in a thread of their own."""

    def __init__(self) -> None:
        self._codes: Codes | None = None
        self._begun_with = 0
        self._lock = threading.Lock()

    def of(self, room: VectorRoom, rows: int) -> Codes | None:
        """The codes of the first rows; None while there are none.

        Where they are missing or leave too many rows out, new ones are begun. The rows may only
        ever have grown in number since the last call.
        """
        with self._lock:
            if self._worthwhile(rows, room.matrix.shape[1]):
                self._begun_with = rows
                threading.Thread(target=self._make, args=(room, rows), name=THREAD).start()
        return self._codes

    def _worthwhile(self, rows: int, dimension: int) -> bool:
        if rows < APPROXIMATE_FROM or dimension % _SUBSPACE:
            return False
        return self._begun_with < (1 - UNCODED) * rows

    def _make(self, room: VectorRoom, rows: int) -> None:
        codes = Codes(room.matrix.shape[1])
        codes.train(room, rows)
        for start in range(0, rows, _CODED_AT_ONCE):
            if not threading.main_thread().is_alive():
                return  # the program ends, and would wait for this thread
            codes.add(room.matrix[start : min(start + _CODED_AT_ONCE, rows)])
            room.release()
        self._codes = codes
