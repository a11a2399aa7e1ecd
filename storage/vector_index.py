"""Exact cosine search over vectors held in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

BLOCK_ROWS = 8192
"""Rows read at once: a whole second matrix would double the memory while loading."""

SPARSE = 4
"""Below one row in four allowed, gathering these rows is cheaper than multiplying them all."""


class VectorIndex:
    """The vectors of one state of a store, scaled to length 1, in row order.

    Zero vectors have no direction and so no cosine: they are left out and never found.
    """

    def __init__(self, rows: Rows, matrix: Matrix) -> None:
        self._rows = rows
        self._matrix = matrix

    @classmethod
    def load(
        cls,
        read: Callable[[int, int], npt.NDArray[Any]],
        dimension: int,
        wanted: npt.NDArray[np.bool_],
    ) -> "VectorIndex":
        """Read the wanted rows block by block.

        Args:
            read: Gives the vectors of the rows from `start` up to `stop`.
            dimension: Length of each vector.
            wanted: For each row of the store, whether it can be found at all.
        """
        matrix = np.empty((int(wanted.sum()), dimension), dtype=np.float32)
        rows: list[Rows] = []
        filled = 0
        for start in range(0, len(wanted), BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, len(wanted))
            block, directed = unit_length(read(start, stop))
            keep = np.flatnonzero(wanted[start:stop] & directed)
            matrix[filled : filled + len(keep)] = block[keep]
            rows.append(keep + start)
            filled += len(keep)
        return cls(np.concatenate(rows or [np.empty(0, np.intp)]), _fitted(matrix, filled))

    def search(
        self, query: Matrix, k: int, allowed: npt.NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The `k` nearest rows as `(row, cosine)`, best first; equal ones in row order.

        Args:
            query: A vector of length 1.
            k: At most this many are returned; at least 1.
            allowed: For each row of the store whether it may be returned; None allows all.
        """
        places = None if allowed is None else np.flatnonzero(allowed[self._rows])
        scores = self._scores(query, places)
        best = _largest(scores, k)
        found = self._rows[best if places is None else places[best]]
        cosines = np.clip(scores[best], -1.0, 1.0)
        return list(zip(found.tolist(), cosines.tolist(), strict=True))

    def vectors(self, rows: list[int]) -> Matrix:
        """The scaled vectors of rows that a search returned, in the order asked."""
        return self._matrix[np.searchsorted(self._rows, rows)]

    def _scores(self, query: Matrix, places: Rows | None) -> Matrix:
        if places is not None and len(places) * SPARSE < len(self._matrix):
            return self._matrix[places] @ query
        # On 100,000 rows it takes half the time of `@`, which is made for matrices on both sides.
        scores: Matrix = np.vecdot(self._matrix, query)
        return scores if places is None else scores[places]


def unit_length(vectors: npt.NDArray[Any]) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    """The vectors scaled to length 1, and for each whether it has a direction at all."""
    exact = vectors.astype(np.float64)  # the square of a large float32 overflows
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    directed = lengths > 0
    exact /= np.where(directed, lengths, 1.0)[:, np.newaxis]
    return exact.astype(np.float32), directed


def _fitted(matrix: Matrix, rows: int) -> Matrix:
    """Give memory back where many rows were left out."""
    return matrix if rows == len(matrix) else matrix[:rows].copy()


def _largest(scores: Matrix, k: int) -> Rows:
    """Places of the `k` largest scores, best first, the earlier place first among equals."""
    if k < len(scores):
        limit = np.partition(scores, len(scores) - k)[len(scores) - k]
        above = np.flatnonzero(scores > limit)
        equal = np.flatnonzero(scores == limit)[: k - len(above)]
        places = np.concatenate([above, equal])
    else:
        places = np.arange(len(scores))
    return places[np.lexsort((places, -scores[places]))]
