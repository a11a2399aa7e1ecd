"""Validates passages before they are written, so that they can be read back exactly."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from domain import Metadata
from storage.filters import stored_value


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
    """The columns to append; of passages with the same id, the last one wins.

    Raises:
        TypeError: An id is not a string.
        ValueError: The lengths differ, or a value can't be stored exactly.
    """
    require_text_ids(ids)
    if not len(ids) == len(texts) == len(vectors) == len(metadatas):
        sizes = f"{len(ids)}, {len(texts)}, {len(vectors)} and {len(metadatas)}"
        raise ValueError(f"ids, texts, vectors, and metadatas must have equal lengths: {sizes}")
    last = list({id_: position for position, id_ in enumerate(ids)}.values())
    return NewRows(
        [_checked_id(ids[position]) for position in last],
        [_checked_text(ids[position], texts[position]) for position in last],
        _checked_vectors(vectors)[last],
        [_as_json(ids[position], metadatas[position]) for position in last],
    )


def require_text_ids(ids: Iterable[Any]) -> None:
    """Make sure that these are ids: one of another type would be stored but never found.

    Raises:
        TypeError: One of them is not a string, or they are a single string.
    """
    if isinstance(ids, str):
        raise TypeError(f"Ids must be a list of strings, got {ids!r}")
    for id_ in ids:
        if not isinstance(id_, str):
            raise TypeError(f"A passage's id must be a string, got {id_!r}: convert it with str()")


def _checked_id(id_: str) -> str:
    if not id_:
        raise ValueError("A passage's id must not be empty")
    return _checked_text(id_, id_)


def _checked_text(id_: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Passage {id_!r} contains an unpaired surrogate, which UTF-8 can't encode"
        ) from error
    return text


def _checked_vectors(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):  # overflows become infinite and are rejected below
        converted = np.asarray(vectors, dtype=np.float32)
    if converted.ndim != 2 or not np.isfinite(converted).all():
        raise ValueError("Each passage needs one vector of finite numbers (no NaN, no infinity)")
    return converted


def _as_json(id_: str, metadata: Metadata) -> str:
    try:
        encoded = json.dumps(metadata, default=_json_value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The metadata of passage {id_!r} can't be stored as JSON: {error}"
        ) from error
    if not _has_text_keys(metadata):
        raise ValueError(f"The metadata of passage {id_!r} has keys that aren't strings")
    return encoded


def _json_value(value: Any) -> Any:
    stored = stored_value(value)
    if stored is value:
        raise TypeError(f"{value!r} is not a JSON value")
    return stored


def _has_text_keys(value: Any) -> bool:
    """Whether all keys are strings; JSON would silently convert others to strings."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_text_keys(part) for key, part in value.items())
    return not isinstance(value, list | tuple) or all(map(_has_text_keys, value))
