"""Passages about to be written, checked: what is kept must come back exactly."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from domain import Metadata
from errors import StorageError


class DimensionError(StorageError, ValueError):
    """Vectors of another length than the stored ones: they are of another model."""


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows to append, as parallel columns; `metadata` is JSON."""

    ids: Sequence[str]
    texts: Sequence[str]
    vectors: npt.NDArray[np.float32]
    metadata: Sequence[str]


def new_rows(
    ids: Sequence[str],
    texts: Sequence[str],
    vectors: npt.NDArray[Any],
    metadatas: Sequence[Metadata],
) -> NewRows:
    """The columns to append; where an id comes twice, its last passage counts.

    Raises:
        ValueError: The four don't fit together, or a value can't be kept exactly.
    """
    if not len(ids) == len(texts) == len(vectors) == len(metadatas):
        sizes = f"{len(ids)}, {len(texts)}, {len(vectors)} and {len(metadatas)}"
        message = f"As many ids, texts, vectors and metadatas are needed, got {sizes}"
        raise ValueError(message)
    last = list({id_: place for place, id_ in enumerate(ids)}.values())
    return NewRows(
        [_checked_id(ids[place]) for place in last],
        [_checked_text(ids[place], texts[place]) for place in last],
        _checked_vectors(vectors)[last],
        [_as_json(ids[place], metadatas[place]) for place in last],
    )


def check_dimension(given: int, kept: int, what: str) -> None:
    """Refuse vectors of another length.

    Raises:
        DimensionError: The lengths differ; the message names both.
    """
    if given != kept:
        raise DimensionError(
            f"{what} of length {given} can't be compared with the stored ones of length {kept}: "
            "set the embedding model that the index was made with, or rebuild it with "
            "`python cli.py reindex`."
        )


def _checked_id(id_: str) -> str:
    if not id_:
        message = "A passage's id must not be empty"
        raise ValueError(message)
    return _checked_text(id_, id_)


def _checked_text(id_: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"Passage {id_!r} holds half of a surrogate pair, which UTF-8 can't keep"
        raise ValueError(message) from error
    return text


def _checked_vectors(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what overflows is infinite, and refused right here
        kept = np.asarray(vectors, dtype=np.float32)
    if kept.ndim != 2 or not np.isfinite(kept).all():
        message = "Each passage needs one vector of finite numbers (no NaN, no infinity)"
        raise ValueError(message)
    return kept


def _as_json(id_: str, metadata: Metadata) -> str:
    try:
        written = json.dumps(metadata)
    except (TypeError, ValueError) as error:
        message = f"The metadata of passage {id_!r} can't be kept as JSON: {error}"
        raise ValueError(message) from error
    if not _has_text_keys(metadata):
        message = f"The metadata of passage {id_!r} has keys that aren't texts"
        raise ValueError(message)
    return written


def _has_text_keys(value: Any) -> bool:
    """JSON would turn other keys into texts without a word."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_text_keys(part) for key, part in value.items())
    return not isinstance(value, list | tuple) or all(map(_has_text_keys, value))
