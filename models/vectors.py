"""Shapes of vectors that every embedding shares."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike


def unit_vectors(vectors: Iterable[ArrayLike]) -> list[list[float]]:
    """The vectors brought to length one; a zero vector stays zero."""
    rows = np.array([np.asarray(vector, dtype=np.float32) for vector in vectors])
    if rows.size == 0:
        return []
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: list[list[float]] = (rows / np.where(lengths > 0, lengths, 1)).tolist()
    return unit
