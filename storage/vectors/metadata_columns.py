"""Evaluates filters (`storage.filters`) for all rows at once.

Separate from `storage.filters`, which every process imports, because numpy is slow to load.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from storage.filters import ALL, EITHER, Check, Checks, FieldCheck


class Column:
    """The values of one field in all rows; each distinct value is stored and checked once."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._numbers_by_value: dict[tuple[type, Any], int] = {}
        self._values: list[Any] = []
        self._numbers = np.fromiter(map(self._number, values), np.intp)

    def change(self, removed_rows: Sequence[int], added: Iterable[Any]) -> None:
        """Remove rows and append new values."""
        remaining = np.delete(self._numbers, removed_rows)
        self._numbers = np.append(remaining, np.fromiter(map(self._number, added), np.intp))

    def _number(self, value: Any) -> int:
        """The index of an equal value of the same type, added if it is new."""
        key = (type(value), _hashable(value, len(self._values)))
        number = self._numbers_by_value.setdefault(key, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number

    def passing(self, check: Check) -> npt.NDArray[np.bool_]:
        """For each row, whether its value passes the check."""
        return np.array([check(value) for value in self._values], dtype=np.bool_)[self._numbers]


def _hashable(value: Any, unlike_all: int) -> Any:
    """A hashable key for equal values, including lists: many passages have the same labels."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    return unlike_all


def mask(checks: Checks, columns: Mapping[str, Column], rows: int) -> npt.NDArray[np.bool_]:
    """Which rows pass, given the columns of all checked fields."""
    if isinstance(checks, FieldCheck):
        return columns[checks.field].passing(checks.passes)
    parts = [mask(part, columns, rows) for part in checks.parts]
    passed = np.array(parts, dtype=np.bool_).reshape(len(parts), rows)
    if checks.operator == ALL:
        return np.asarray(passed.all(axis=0), dtype=np.bool_)
    any_passed = np.asarray(passed.any(axis=0), dtype=np.bool_)
    return any_passed if checks.operator == EITHER else ~any_passed
