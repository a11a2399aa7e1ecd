"""Searches vectors of any length by Euclidean distance or inner product."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from storage.vectors.distance_metrics import DistanceMetric
from storage.vectors.vector_index import BLOCK_ROWS, Matrix, largest, unit_length


class ExactIndex:
    """The vectors of one state of a store as they are stored, in row order; see `VectorIndex`.

    Every search compares all rows, so it is exact, and the vectors stay in memory. An index is
    immutable.
    """

    def __init__(
        self, vectors: Matrix, included: npt.NDArray[np.bool_], metric: DistanceMetric
    ) -> None:
        self._vectors = vectors
        self._included = included
        self._metric = metric

    @classmethod
    def load(
        cls,
        read: Callable[[int, int], npt.NDArray[Any]],
        dimension: int,
        included: npt.NDArray[np.bool_],
        metric: DistanceMetric,
    ) -> "ExactIndex":
        """Read all vectors; `included` says for each row whether it may be found."""
        vectors = np.empty((len(included), dimension), np.float32)
        for start in range(0, len(included), BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, len(included))
            vectors[start:stop] = read(start, stop)
        return cls(vectors, included, metric)

    def search(
        self, query: Matrix, k: int, allowed: npt.NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The `k` nearest rows as `(row, distance or inner product)`, best first."""
        rows = np.flatnonzero(self._included if allowed is None else self._included & allowed)
        scores = np.concatenate([np.empty(0, np.float32), *self._scores(query, rows)])
        is_distance = self._metric is DistanceMetric.EUCLIDEAN
        best = largest(-scores if is_distance else scores, k)
        return list(zip(rows[best].tolist(), scores[best].tolist(), strict=True))

    def _scores(self, query: Matrix, rows: npt.NDArray[np.intp]) -> list[Matrix]:
        blocks = (
            self._vectors[rows[at : at + BLOCK_ROWS]] for at in range(0, len(rows), BLOCK_ROWS)
        )
        if self._metric is DistanceMetric.EUCLIDEAN:
            return [np.linalg.norm(block - query, axis=1) for block in blocks]
        return [block @ query for block in blocks]

    def vectors(self, rows: list[int]) -> Matrix:
        """The vectors of rows that a search returned, scaled to length 1, in this order."""
        return unit_length(self._vectors[rows])[0]

    def after(
        self,
        deleted: Sequence[int],
        first: int,  # noqa: ARG002 - the interface of `VectorIndex`
        added: npt.NDArray[Any],
    ) -> "ExactIndex":
        """The index of the next state; see `VectorIndex.after`."""
        remaining = np.delete(self._vectors, deleted, axis=0) if len(deleted) else self._vectors
        included = np.delete(self._included, deleted)
        return ExactIndex(
            np.concatenate([remaining, added.astype(np.float32)]),
            np.append(included, np.ones(len(added), np.bool_)),
            self._metric,
        )
