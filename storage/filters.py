"""Metadata filters (`domain.Filter`) as predicates, always exact.

Values are compared as in Python, except that True and False do not equal any number. Lists are
compared as a whole, except by `$contains` and `$contains_any`, which match only elements of lists.
Ranges compare numbers with numbers and strings with strings, and match nothing else. A passage
without the field matches no condition, not even `$nin`, because missing metadata must not bypass an
exclusion.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from domain import Filter

Check = Callable[[Any], bool]
Checks = Sequence[Mapping[str, Check]]
"""Alternatives: a passage matches if all checks of at least one of them pass."""

EITHER = "$or"
"""The only key of a filter that is a list of alternative filters."""

MISSING: Any = object()
"""The value of a field that a passage lacks; it matches no condition."""

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$in", "$nin", "$contains", "$contains_any", *_ORDERS)


def checks_of(conditions: Filter) -> Checks:
    """Compile a filter to checks.

    Raises:
        ValueError: An operator is unknown or its operand has the wrong type.
    """
    if EITHER not in conditions:
        return [{field: _check(field, condition) for field, condition in conditions.items()}]
    if len(conditions) > 1:
        raise ValueError(
            f"Filter: {EITHER} can't be combined with other conditions, got {sorted(conditions)}"
        )
    return [checks for one in conditions[EITHER] for checks in checks_of(one)]


def fields_of(checks: Checks) -> set[str]:
    """The names of all fields in these checks."""
    return {field for one in checks for field in one}


def matches(checks: Checks, metadata: Mapping[str, Any]) -> bool:
    """Whether the metadata of a passage passes the checks."""
    return any(
        all(check(metadata.get(field, MISSING)) for field, check in one.items()) for one in checks
    )


def _check(field: str, condition: Any) -> Check:
    if not has_operators(condition):
        return lambda value: _equal(value, condition)
    parts = [_operator_check(field, name, operand) for name, operand in condition.items()]
    if len(parts) == 1:  # faster, as this may be called for thousands of documents
        return parts[0]
    return lambda value: all(part(value) for part in parts)


def has_operators(condition: Any) -> bool:
    """Whether a condition has operators; otherwise it is a value to compare with."""
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
    raise ValueError(
        f"Filter on {field!r}: unknown operator {name!r}; operators are {', '.join(_OPERATORS)}"
    )


def _membership(operands: list[Any]) -> Check:
    # There may be thousands of strings, as each conversation with attached files has a source.
    texts = frozenset(one for one in operands if isinstance(one, str))
    others = [one for one in operands if not isinstance(one, str)]
    return lambda value: (
        value in texts if isinstance(value, str) else any(_equal(value, other) for other in others)
    )


def _containment(field: str, name: str, operands: list[Any]) -> Check:
    if not all(isinstance(one, str | int | float) for one in operands):
        raise ValueError(
            f"Filter on {field!r}: {name} takes a string or a number, got {operands!r}"
        )
    return lambda value: (
        isinstance(value, list) and any(_equal(part, one) for part in value for one in operands)
    )


def _several(field: str, name: str, operand: Any) -> list[Any]:
    if isinstance(operand, str) or not isinstance(operand, Sequence | set | frozenset):
        raise ValueError(f"Filter on {field!r}: {name} takes a list of values, got {operand!r}")  # noqa: TRY004 - every bad filter is the same error
    return list(operand)


def _order(field: str, name: str, operand: Any) -> Check:
    kind = _ordered_kind(operand)
    if kind is None:
        raise ValueError(f"Filter on {field!r}: {name} takes a number or a string, got {operand!r}")
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
