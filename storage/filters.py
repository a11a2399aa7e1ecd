"""Metadata filters (`domain.Filter`) as trees of checks, always exact.

Values are compared as in Python, except that True and False do not equal any number, and after
conversion to the form in which they are stored (`stored_value`). Lists are compared as a whole,
except by `$contains` and `$contains_any`, which match only elements of lists. Ranges compare
numbers with numbers and strings with strings, and match nothing else. A passage without the field
matches no condition on it except `{"$exists": False}`, not even `$ne` and `$nin`, because missing
metadata must not bypass an exclusion. `$not` matches exactly what its condition does not match.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from math import isnan
from typing import Any

from domain import Filter

Check = Callable[[Any], bool]

ALL, EITHER, NOT = "$and", "$or", "$not"
"""The operators that combine filters."""

LISTS = ("$in", "$nin", "$contains_any")
"""The operators whose operand is a list of values."""

EXCLUSIONS = ("$ne", "$nin")
"""The operators that match values other than their operands."""

MISSING: Any = object()
"""The value of a field that a passage lacks."""


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """A condition on one field; the operand consists of JSON values, or of tuples of them."""

    field: str
    operator: str
    operand: Any
    passes: Check


@dataclass(frozen=True, slots=True)
class Compound:
    """Matches if all (`$and`), any (`$or`), or none (`$not`) of its parts match."""

    operator: str
    parts: tuple["Checks", ...]


Checks = FieldCheck | Compound


def checks_of(conditions: Filter | None) -> Checks:
    """Compile a filter; None matches everything.

    Raises:
        ValueError: It is not a mapping, an operator is unknown or its operand has the wrong type,
            or a value is not a JSON value.
    """
    return _all_of(()) if conditions is None else _compile(conditions)


def fields_of(checks: Checks) -> set[str]:
    """The names of all fields in these checks."""
    if isinstance(checks, FieldCheck):
        return {checks.field}
    return set[str]().union(*map(fields_of, checks.parts))


def matches(checks: Checks, metadata: Mapping[str, Any]) -> bool:
    """Whether the metadata of a passage passes the checks."""
    if isinstance(checks, FieldCheck):
        return checks.passes(metadata.get(checks.field, MISSING))
    outcomes = (matches(part, metadata) for part in checks.parts)
    return all(outcomes) if checks.operator == ALL else any(outcomes) is (checks.operator == EITHER)


def _all_of(parts: Iterable[Checks]) -> Checks:
    several = tuple(parts)
    return several[0] if len(several) == 1 else Compound(ALL, several)


def _compile(conditions: Any) -> Checks:
    if not isinstance(conditions, Mapping):
        raise ValueError(  # noqa: TRY004 - every bad filter is the same error
            f"Filter: {conditions!r} is not a filter; write conditions on fields, such as"
            ' {"page": {"$gte": 2}}'
        )
    return _all_of(_entry(name, condition) for name, condition in conditions.items())


def _entry(name: Any, condition: Any) -> Checks:
    if name == NOT:
        return Compound(NOT, (_compile(condition),))
    if name in (ALL, EITHER):
        return Compound(name, tuple(map(_compile, _filters(name, condition))))
    if not isinstance(name, str) or name.startswith("$"):
        raise ValueError(
            f"Filter: {name!r} is neither a field nor an operator that combines filters; these are"
            f" {ALL}, {EITHER}, and {NOT}"
        )
    return _on_field(name, condition)


def _filters(name: str, operand: Any) -> Sequence[Any]:
    if not isinstance(operand, list | tuple):
        raise ValueError(f"Filter: {name} takes a list of filters, got {operand!r}")  # noqa: TRY004
    return operand


def _on_field(field: str, condition: Any) -> Checks:
    if not _has_operators(condition):
        return _field_check(field, "$eq", condition)
    return _all_of(_with_operator(field, name, operand) for name, operand in condition.items())


def _has_operators(condition: Any) -> bool:
    """Whether a condition has operators; otherwise it is a value to compare with."""
    return isinstance(condition, Mapping) and any(
        isinstance(key, str) and key.startswith("$") for key in condition
    )


def _with_operator(field: str, name: Any, operand: Any) -> Checks:
    if name == NOT:
        return Compound(NOT, (_on_field(field, operand),))
    if name not in _CHECKS:
        raise ValueError(
            f"Filter on {field!r}: unknown operator {name!r}; operators are"
            f" {', '.join((*_CHECKS, NOT))}"
        )
    return _field_check(field, name, operand)


def _field_check(field: str, name: str, operand: Any) -> FieldCheck:
    value = _several(field, name, operand) if name in LISTS else _comparable(field, operand)
    operands = value if name in LISTS else [value]
    _require_kind(field, name, operands)
    return FieldCheck(field, name, value, _CHECKS[name](operands))


def _several(field: str, name: str, operand: Any) -> list[Any]:
    values = stored_value(operand)
    if isinstance(values, str) or not isinstance(values, Sequence | set | frozenset):
        raise ValueError(f"Filter on {field!r}: {name} takes a list of values, got {operand!r}")  # noqa: TRY004
    # There may be thousands of strings, as each conversation with attached files has a source.
    return [one if isinstance(one, str) else _comparable(field, one) for one in values]


def _comparable(field: str, value: Any) -> Any:
    """The value as it is stored; tuples stay tuples, which equal nothing."""
    stored = stored_value(value)
    if isinstance(stored, list | tuple):
        parts = [_comparable(field, part) for part in stored]
        return parts if isinstance(stored, list) else tuple(parts)
    if isinstance(stored, Mapping) and all(isinstance(key, str) for key in stored):
        return {key: _comparable(field, part) for key, part in stored.items()}
    if isinstance(stored, str | int | None) or (isinstance(stored, float) and not isnan(stored)):
        return stored
    raise ValueError(f"Filter on {field!r}: {value!r} is not a JSON value")


def _require_kind(field: str, name: str, operands: list[Any]) -> None:
    if name in _ORDERS and _ordered_kind(operands[0]) is None:
        raise ValueError(
            f"Filter on {field!r}: {name} takes a number or a string, got {operands[0]!r}"
        )
    if name == "$exists" and not isinstance(operands[0], bool):
        raise ValueError(f"Filter on {field!r}: {name} takes True or False, got {operands[0]!r}")
    is_containment = name in ("$contains", "$contains_any")
    if is_containment and not all(isinstance(one, str | int | float) for one in operands):
        raise ValueError(
            f"Filter on {field!r}: {name} takes a string or a number, got {operands!r}"
        )


def _ordered_kind(value: Any) -> type | None:
    if isinstance(value, str):
        return str
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float
    return None


def _equal(value: Any, other: Any) -> bool:
    return isinstance(value, bool) is isinstance(other, bool) and bool(value == other)


def _membership(operands: list[Any]) -> Check:
    texts = frozenset(one for one in operands if isinstance(one, str))
    others = [one for one in operands if not isinstance(one, str)]
    return lambda value: (
        value in texts if isinstance(value, str) else any(_equal(value, other) for other in others)
    )


def _exclusion(operands: list[Any]) -> Check:
    among = _membership(operands)
    return lambda value: value is not MISSING and not among(value)


def _containment(operands: list[Any]) -> Check:
    return lambda value: (
        isinstance(value, list) and any(_equal(part, one) for part in value for one in operands)
    )


def _existence(operands: list[Any]) -> Check:
    return lambda value: [value is not MISSING] == operands


def _order(compare: Callable[[Any, Any], bool], operands: list[Any]) -> Check:
    operand, kind = operands[0], _ordered_kind(operands[0])
    return lambda value: _ordered_kind(value) is kind and compare(value, operand)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_CHECKS: dict[str, Callable[[list[Any]], Check]] = {
    "$eq": _membership,
    "$ne": _exclusion,
    "$in": _membership,
    "$nin": _exclusion,
    "$contains": _containment,
    "$contains_any": _containment,
    "$exists": _existence,
    **{name: partial(_order, compare) for name, compare in _ORDERS.items()},
}


def stored_value(value: Any) -> Any:
    """A date or time as ISO 8601 text, a value of numpy as a plain one; other values unchanged.

    A time with a zone becomes one in UTC, so that the order of the texts is chronological; one
    without a zone keeps its digits.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):  # a datetime is a date
        return value.isoformat()
    dtype = getattr(value, "dtype", None)
    if dtype is None or not hasattr(value, "tolist"):
        return value
    return _stored_times(value) if getattr(dtype, "kind", "") == "M" else value.tolist()


def _stored_times(value: Any) -> Any:
    """The texts of dates or times of numpy; None for those that are missing (NaT)."""
    has_dates = value.dtype == "datetime64[D]"
    # Nanoseconds would become plain numbers.
    plain = value.tolist() if has_dates else value.astype("datetime64[us]").tolist()
    return list(map(stored_value, plain)) if isinstance(plain, list) else stored_value(plain)
