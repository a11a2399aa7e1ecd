"""Shapes of vectors that every embedding shares."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from errors import ModelError


def unit_vectors(vectors: Iterable[ArrayLike]) -> list[list[float]]:
    """The vectors brought to length one; a zero vector stays zero.

    Raises:
        ModelError: One holds NaN or an infinity; such a vector is near to nothing.
    """
    rows = np.array([np.asarray(vector, dtype=np.float32) for vector in vectors])
    if rows.size == 0:
        return []
    if not np.isfinite(rows).all():
        raise ModelError(
            "The embedding model gave a vector that is not made of finite numbers. Try again; "
            "if it stays so, choose another with FOOTNOTE_EMBEDDING_MODEL."
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: list[list[float]] = (rows / np.where(lengths > 0, lengths, 1)).tolist()
    return unit
