"""Cosine search over vectors: exact, or among candidates where they are many."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from storage.approximate_index import BackgroundCodes
from storage.vector_room import Matrix, Rows, VectorRoom

BLOCK_ROWS = 1024
"""Rows read at once: what they take on the way, in float64 too, is left behind as free memory."""

SPARSE = 4
"""Below one row in four allowed, gathering these rows is cheaper than multiplying them all."""

CANDIDATES = 500
"""At least so many of the rows that seem nearest by their codes are compared exactly."""

CANDIDATES_PER_HIT = 20
"""And at least so many for each row asked for."""

SPARE = 0.1
"""The room for more rows when the matrix has to grow, and how much of it deleted ones may take,
as a share of it: beyond, it is copied."""

GONE = -1
"""Stands for the row at a place in the matrix whose row is deleted."""


class VectorIndex:
    """The vectors of one state of a store, scaled to length 1, in row order.

    Zero vectors have no direction and so no cosine: they are left out and never found. An index
    never changes, so that threads may search it while `after` makes the next one.

    A search without a filter is approximate from `APPROXIMATE_FROM` rows on, as soon as codes
    have been made in the background: the rows are those that an exact comparison of the
    candidates puts first. One with a filter is always exact.
    """

    def __init__(self, rows: Rows, room: VectorRoom, codes: BackgroundCodes | None = None) -> None:
        """Args are kept.

        Args:
            rows: For each place in the matrix its row, ascending but for some that are `GONE`.
            room: The matrix, perhaps with unused places at its end.
            codes: Those of an earlier index with the same rows in the same places.
        """
        self._rows = rows
        self._room = room
        self._codes = codes or BackgroundCodes()
        self._living = None if rows.min(initial=0) >= 0 else np.flatnonzero(rows != GONE)

    @classmethod
    def load(
        cls,
        read: Callable[[int, int], npt.NDArray[Any]],
        dimension: int,
        wanted: npt.NDArray[np.bool_],
        folder: Path | None = None,
    ) -> "VectorIndex":
        """Read the wanted rows block by block.

        Args:
            read: Gives the vectors of the rows from `start` up to `stop`.
            dimension: Length of each vector.
            wanted: For each row of the store, whether it can be found at all.
            folder: Where many vectors are kept in a file; None keeps them in memory.
        """
        room = VectorRoom(int(wanted.sum()), dimension, folder)
        rows: list[Rows] = []
        filled = 0
        for start in range(0, len(wanted), BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, len(wanted))
            block, directed = unit_length(read(start, stop))
            keep = np.flatnonzero(wanted[start:stop] & directed)
            room.matrix[filled : filled + len(keep)] = block[keep]
            room.release()
            rows.append(keep + start)
            filled += len(keep)
        return cls(np.concatenate(rows or [np.empty(0, np.intp)]), room)

    def search(
        self, query: Matrix, k: int, allowed: npt.NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """The `k` nearest rows as `(row, cosine)`, best first; equal ones in row order.

        Args:
            query: A vector of length 1.
            k: At most this many are returned; at least 1.
            allowed: For each row of the store whether it may be returned; None allows all.
        """
        places, scores = self._candidates(query, k, allowed) or self._all(query, allowed)
        best = _largest(scores, k)
        found = self._rows[best if places is None else places[best]]
        cosines = np.clip(scores[best], -1.0, 1.0)
        return list(zip(found.tolist(), cosines.tolist(), strict=True))

    def vectors(self, rows: list[int]) -> Matrix:
        """The scaled vectors of rows that a search returned, in the order asked."""
        living = self._living
        if living is None:
            return self._room.rows(np.searchsorted(self._rows, rows))
        return self._room.rows(living[np.searchsorted(self._rows[living], rows)])

    def after(self, gone: Sequence[int], first: int, added: npt.NDArray[Any]) -> "VectorIndex":
        """The index of the next state; this one may still be searched, but has no other next.

        Args:
            gone: Rows that are deleted, ascending; those behind them move up.
            first: The row that the first of the added ones gets.
            added: Their vectors.
        """
        block, directed = unit_length(added)
        kept = _without(self._rows, gone)
        rows = np.concatenate([kept, np.flatnonzero(directed) + first])
        new = block[directed]
        if np.count_nonzero(rows == GONE) > SPARE * len(rows):
            living = np.flatnonzero(kept != GONE)
            return VectorIndex(rows[rows != GONE], self._grown(living, new))
        room = self._room
        if len(rows) > len(room.matrix):
            room = self._grown(np.arange(len(kept)), new)
        else:
            room.matrix[len(kept) : len(rows)] = new
        return VectorIndex(rows, room, self._codes)

    def _grown(self, places: Rows, new: Matrix) -> VectorRoom:
        """A copy of these places with new rows at its end, and room for more behind them."""
        rows = len(places) + len(new)
        room = self._room.another(rows + int(SPARE * rows))
        for start in range(0, len(places), BLOCK_ROWS):
            block = places[start : start + BLOCK_ROWS]
            room.matrix[start : start + len(block)] = self._room.rows(block)
            room.release()
        room.matrix[len(places) : rows] = new
        return room

    def _candidates(
        self, query: Matrix, k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows, Matrix] | None:
        """Places that may be the nearest and their cosines; None if all are to be compared."""
        codes = self._codes.of(self._room, len(self._rows)) if allowed is None else None
        count = max(CANDIDATES, CANDIDATES_PER_HIT * k)
        while codes is not None and count * SPARSE < len(codes):
            near = codes.nearest(query, count)
            near = near[near < len(self._rows)]  # the codes may be those of a later index
            near = near[self._rows[near] != GONE]
            if len(near) * 2 >= max(CANDIDATES, CANDIDATES_PER_HIT * k):
                return self._with_uncoded(query, near, len(codes))
            count *= 4  # those deleted since the codes were made stood in the way
        return None

    def _with_uncoded(self, query: Matrix, near: Rows, coded: int) -> tuple[Rows, Matrix]:
        """The same with every row that was added after the codes were made."""
        late = np.flatnonzero(self._rows[coded:] != GONE)
        uncoded = self._room.products(query, coded, len(self._rows))
        scores = [self._room.rows(near) @ query, uncoded[late]]
        return np.concatenate([near, late + coded]), np.concatenate(scores)

    def _all(
        self, query: Matrix, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows | None, Matrix]:
        """The places that may be found, None for all of them, and their cosines."""
        places = self._living
        if allowed is not None:
            within = self._rows if places is None else self._rows[places]
            chosen = np.flatnonzero(allowed[within])
            places = chosen if places is None else places[chosen]
        return places, self._scores(query, places)

    def _scores(self, query: Matrix, places: Rows | None) -> Matrix:
        if places is not None and len(places) * SPARSE < len(self._rows):
            return self._room.rows(places) @ query
        scores = self._room.products(query, 0, len(self._rows))
        return scores if places is None else scores[places]


def unit_length(vectors: npt.NDArray[Any]) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    """The vectors scaled to length 1, and for each whether it has a direction at all."""
    exact = vectors.astype(np.float64)  # the square of a large float32 overflows
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    directed = lengths > 0
    exact /= np.where(directed, lengths, 1.0)[:, np.newaxis]
    return exact.astype(np.float32), directed


def _without(rows: Rows, gone: Sequence[int]) -> Rows:
    """The rows after some are deleted, in the same places."""
    left = rows - np.searchsorted(gone, rows)
    left[(rows == GONE) | np.isin(rows, gone)] = GONE
    return left


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
