"""Metadata filters (`domain.Filter`) as predicates, always exact.

Values compare as in Python, except that True and False equal no number. A list is compared as
a whole, save by `$contains` and `$contains_any`, which look for its elements and match lists
only. Only numbers with numbers and texts with texts have an order: a range never matches anything
else. A passage without the field matches no condition, `$nin` neither: what that is to keep out
must not come in by a gap.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from domain import Filter

Check = Callable[[Any], bool]
Checks = Sequence[Mapping[str, Check]]
"""Alternatives: of at least one of them, all fields' checks must hold."""

EITHER = "$or"
"""Stands alone in a filter, in place of fields: a list of filters, any of which will do."""

MISSING: Any = object()
"""Stands in a column for a field that the passage doesn't have; it matches no condition."""

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$in", "$nin", "$contains", "$contains_any", *_ORDERS)


def checks_of(conditions: Filter) -> Checks:
    """The checks that a passage has to pass to match the filter.

    Raises:
        ValueError: An operator is unknown, or is given something it can't compare with.
    """
    if EITHER not in conditions:
        return [{field: _check(field, condition) for field, condition in conditions.items()}]
    if len(conditions) > 1:
        raise ValueError(f"Filter: {EITHER} stands alone, got {sorted(conditions)}")
    return [checks for one in conditions[EITHER] for checks in checks_of(one)]


def fields_of(checks: Checks) -> set[str]:
    """The fields that are checked."""
    return {field for one in checks for field in one}


def matches(checks: Checks, metadata: Mapping[str, Any]) -> bool:
    """Whether one passage's metadata passes."""
    return any(
        all(check(metadata.get(field, MISSING)) for field, check in one.items()) for one in checks
    )


class Column:
    """One field of all rows, each distinct value kept (and later checked) once."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._known: dict[tuple[type, Any], int] = {}
        self._values: list[Any] = []
        self._numbers = np.fromiter(map(self._number, values), np.intp)

    def change(self, gone: Sequence[int], added: Iterable[Any]) -> None:
        """Drop the values of these rows and append those of others."""
        kept = np.delete(self._numbers, gone)
        self._numbers = np.append(kept, np.fromiter(map(self._number, added), np.intp))

    def _number(self, value: Any) -> int:
        """The place of an equal value of the same type, or of this one as a new value."""
        key = (type(value), _hashable(value, len(self._values)))
        number = self._known.setdefault(key, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number

    def passing(self, check: Check) -> npt.NDArray[np.bool_]:
        """For each row, whether its value passes."""
        return np.array([check(value) for value in self._values], dtype=np.bool_)[self._numbers]


def _hashable(value: Any, unlike_all: int) -> Any:
    """What is the same for equal values only; many passages share a list of labels."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    return unlike_all


def mask(checks: Checks, columns: Mapping[str, Column], rows: int) -> npt.NDArray[np.bool_]:
    """Which of the rows pass, given the column of each field that is checked."""
    passed = np.zeros(rows, dtype=np.bool_)
    for one in checks:
        alike = np.ones(rows, dtype=np.bool_)
        for field, check in one.items():
            alike &= columns[field].passing(check)
        passed |= alike
    return passed


def _check(field: str, condition: Any) -> Check:
    if not _has_operators(condition):
        return lambda value: _equal(value, condition)
    parts = [_operator_check(field, name, operand) for name, operand in condition.items()]
    if len(parts) == 1:  # asked for each of thousands of documents, where that is the field
        return parts[0]
    return lambda value: all(part(value) for part in parts)


def _has_operators(condition: Any) -> bool:
    return isinstance(condition, Mapping) and any(
        isinstance(key, str) and key.startswith("$") for key in condition
    )


def _operator_check(field: str, name: str, operand: Any) -> Check:
    if name == "$in":
        return _membership(_several(field, name, operand))
    if name == "$nin":
        among = _membership(_several(field, name, operand))
        return lambda value: value is not MISSING and not among(value)
    if name == "$contains":
        return _containment(field, name, [operand])
    if name == "$contains_any":
        return _containment(field, name, _several(field, name, operand))
    if name in _ORDERS:
        return _order(field, name, operand)
    message = f"Filter on {field!r}: unknown operator {name!r}, known are {', '.join(_OPERATORS)}"
    raise ValueError(message)


def _membership(wanted: list[Any]) -> Check:
    # There may be thousands of texts: a source for each conversation that was given files.
    texts = frozenset(one for one in wanted if isinstance(one, str))
    others = [one for one in wanted if not isinstance(one, str)]
    return lambda value: (
        value in texts if isinstance(value, str) else any(_equal(value, other) for other in others)
    )


def _containment(field: str, name: str, wanted: list[Any]) -> Check:
    if not all(isinstance(one, str | int | float) for one in wanted):
        message = f"Filter on {field!r}: {name} looks for a text or a number, got {wanted!r}"
        raise ValueError(message)
    return lambda value: (
        isinstance(value, list) and any(_equal(part, one) for part in value for one in wanted)
    )


def _several(field: str, name: str, operand: Any) -> list[Any]:
    if isinstance(operand, str) or not isinstance(operand, Sequence | set | frozenset):
        message = f"Filter on {field!r}: {name} takes a list of values, got {operand!r}"
        raise ValueError(message)  # noqa: TRY004 - every bad filter is the same error
    return list(operand)


def _order(field: str, name: str, operand: Any) -> Check:
    kind = _ordered_kind(operand)
    if kind is None:
        message = f"Filter on {field!r}: {name} takes a number or a text, got {operand!r}"
        raise ValueError(message)
    compare = _ORDERS[name]
    return lambda value: _ordered_kind(value) is kind and compare(value, operand)


def _ordered_kind(value: Any) -> type | None:
    if isinstance(value, str):
        return str
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float
    return None


def _equal(value: Any, other: Any) -> bool:
    return isinstance(value, bool) is isinstance(other, bool) and bool(value == other)
