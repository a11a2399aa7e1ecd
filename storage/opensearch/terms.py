r"""Metadata and filters (`domain.Filter`) as terms of one keyword field, so that filters are exact.

Every value of the metadata becomes a few terms such as `format\0=\0s:pdf`. One field suffices for
all metadata: the mapping never grows, and two documents with values of different types under the
same name don't conflict. Terms sort by their UTF-8 bytes, which is the order of code points, as in
Python; numbers are written so that their order as text is their order as numbers.

The semantics are those of `storage.filters`; for example, a tuple equals nothing, because stored
sequences are lists. There are two limits: numbers are compared as 64-bit floats in ranges, and of
texts longer than 8,000 bytes, ranges compare only the beginning.
"""

import hashlib
import json
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from domain import Filter, Metadata
from storage.filters import (
    ALL,
    EITHER,
    EXCLUSIONS,
    LISTS,
    Checks,
    FieldCheck,
    checks_of,
)

Query = dict[str, Any]
"""A query in OpenSearch's query language."""

TERMS_PER_CLAUSE = 10_000
"""Below the default limit of 65,536 values of a `terms` query (`index.max_terms_count`)."""

_MAX_BYTES = 8_000  # Lucene rejects terms of more than 32,766 bytes
_SEPARATOR = "\x00"
_PRESENT, _EQUAL, _ELEMENT, _ORDERED = "?", "=", "[", "<"
RANGES = {"$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
NOTHING: Query = {"match_none": {}}


def metadata_terms(metadata: Metadata) -> list[str]:
    """The terms of a passage's metadata, sorted, without duplicates."""
    return sorted({term for name, value in metadata.items() for term in _terms(name, value)})


def filter_query(condition: Filter, field: str) -> Query:
    """The query for a filter over the terms in `field`; matches everything if it is empty.

    Raises:
        ValueError: The filter is invalid; see `checks_of`.
    """
    return combined_query(checks_of(condition), partial(_field_query, field))


def combined_query(checks: Checks, field_query: Callable[[FieldCheck], Query]) -> Query:
    """The query for checks, given a function that returns the query for a condition on a field."""
    if isinstance(checks, FieldCheck):
        return field_query(checks)
    parts = [combined_query(part, field_query) for part in checks.parts]
    if checks.operator == ALL:
        return all_of(parts)
    return any_of(parts) if checks.operator == EITHER else none_of(parts)


def value_query(check: FieldCheck, present: Query, among: Query) -> Query:
    """The query for a condition other than a range.

    Args:
        check: The condition.
        present: Matches passages that have the field.
        among: Matches passages whose value, or an element of it, is among the operands.
    """
    if check.operator == "$exists":
        return present if check.operand else none_of([present])
    if check.operator in EXCLUSIONS:
        return {"bool": {"filter": [present], "must_not": [among]}}
    return among


def operands_of(check: FieldCheck) -> list[Any]:
    """The values with which a condition other than a range compares."""
    if check.operator == "$exists":
        return []
    return list(check.operand) if check.operator in LISTS else [check.operand]


def _has_tuple(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_tuple, value.values()))
    return isinstance(value, tuple) or (isinstance(value, list) and any(map(_has_tuple, value)))


def _terms(name: str, value: Any) -> Iterator[str]:
    yield _term(name, _PRESENT, "")
    yield _term(name, _EQUAL, _exact(value))
    if isinstance(value, list):
        scalars = (part for part in value if isinstance(part, str | int | float))
        yield from (_term(name, _ELEMENT, _exact(part)) for part in scalars)
    elif (ordered := _sort_text(value)) is not None:
        yield _term(name, _ORDERED, ordered)


def _term(name: str, kind: str, value: str) -> str:
    escaped = name.replace("\\", "\\\\").replace(_SEPARATOR, "\\0")
    return f"{_encodable(escaped)}{_SEPARATOR}{kind}{_SEPARATOR}{value}"


def _exact(value: Any) -> str:
    """A text that is the same for equal values only; a hash if the value is long."""
    if isinstance(value, bool):
        return f"b:{value}"
    if isinstance(value, str):
        text = _encodable(f"s:{value}")
    else:  # equal values are written alike: 1 and 1.0, and True and 1 inside of lists
        text = f"j:{json.dumps(_plain(value), sort_keys=True)}"
    data = text.encode()
    return text if len(data) <= _MAX_BYTES else f"h:{hashlib.sha256(data).hexdigest()}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, bool) else value


def _sort_text(value: Any) -> str | None:
    """A text that sorts like the value among values of its type; None if it has no order."""
    if isinstance(value, str):
        return "s:" + _encodable(value).encode()[:_MAX_BYTES].decode(errors="ignore")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "n:" + _sortable(_as_float(value))
    return None


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond the largest float
        return math.inf if number > 0 else -math.inf


def _sortable(number: float) -> str:
    """The bits of the number in hexadecimal, transformed so that they sort like numbers.

    IEEE 754 floats of the same sign sort like their bits: the sign bit of positive numbers and all
    bits of negative numbers are inverted.
    """
    (bits,) = struct.unpack(">Q", struct.pack(">d", number + 0.0))  # -0.0 becomes 0.0
    return f"{bits ^ (2**64 - 1 if bits >> 63 else 2**63):016x}"


def _encodable(text: str) -> str:
    """The text with unpaired surrogates as escapes, because they can't be sent."""
    return text.encode(errors="backslashreplace").decode()


def _field_query(field: str, check: FieldCheck) -> Query:
    if check.operator in RANGES:
        return _range(check.field, RANGES[check.operator], check.operand, field)
    kind = _ELEMENT if check.operator.startswith("$contains") else _EQUAL
    operands = (one for one in operands_of(check) if not _has_tuple(one))
    among = _one_of(field, [_term(check.field, kind, _exact(one)) for one in operands])
    return value_query(check, _one_of(field, [_term(check.field, _PRESENT, "")]), among)


def _range(name: str, bound: str, operand: Any, field: str) -> Query:
    """Values of the operand's type only: the other end of the range is the end of that type."""
    ordered = _sort_text(operand)
    if ordered is None:  # `checks_of` rejects such operands
        raise TypeError(f"{operand!r} has no order")
    other, end = ("gte", ":") if bound in ("lt", "lte") else ("lt", ";")
    limits = {other: _term(name, _ORDERED, ordered[0] + end)}
    return {"range": {field: {**limits, bound: _term(name, _ORDERED, ordered)}}}


def _one_of(field: str, terms: list[str]) -> Query:
    groups = [
        {"terms": {field: terms[start : start + TERMS_PER_CLAUSE]}}
        for start in range(0, len(terms), TERMS_PER_CLAUSE)
    ]
    return any_of(groups)


def any_of(queries: Iterable[Query]) -> Query:
    """The query that matches what any of these matches."""
    alternatives = list(queries)
    if len(alternatives) == 1:
        return alternatives[0]
    if not alternatives:
        return NOTHING
    return {"bool": {"should": alternatives, "minimum_should_match": 1}}


def none_of(queries: Iterable[Query]) -> Query:
    """The query that matches what none of these matches."""
    return {"bool": {"must_not": list(queries)}}


def all_of(queries: Iterable[Query]) -> Query:
    """The query that matches what all of these match."""
    parts = list(queries)
    if len(parts) == 1:
        return parts[0]
    return {"bool": {"filter": parts}} if parts else {"match_all": {}}
