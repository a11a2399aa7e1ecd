"""Filters (`domain.Filter`) over the metadata fields of an index that another program wrote.

Lists are indexed by their elements there, so that equality with a value and `$contains` are the
same, and a list as a whole can't be compared. `None` can't be searched for, and neither can texts
longer than `MAX_CHARS`.
"""

from functools import partial
from typing import Any

from domain import Filter
from storage.filters import FieldCheck, checks_of
from storage.opensearch.mapping import Fields
from storage.opensearch.terms import (
    RANGES,
    Query,
    any_of,
    combined_query,
    operands_of,
    value_query,
)

MAX_CHARS = 256
"""Dynamic mappings of OpenSearch index no longer texts as keywords (`ignore_above`)."""


def plain_filter_query(fields: Fields, condition: Filter) -> Query:
    """The query for a filter; matches everything if it is empty.

    Raises:
        ValueError: The filter is invalid (see `checks_of`), or a value is not a short text, a
            number, True, or False.
    """
    return combined_query(checks_of(condition), partial(_field_query, fields))


def _field_query(fields: Fields, check: FieldCheck) -> Query:
    if check.operator in RANGES:
        path = _path(fields, check.field, check.operand)
        return {"range": {path: {RANGES[check.operator]: check.operand}}}
    among = any_of(_equals(fields, check.field, value) for value in operands_of(check))
    return value_query(check, {"exists": {"field": f"{fields.metadata}.{check.field}"}}, among)


def _equals(fields: Fields, name: str, value: Any) -> Query:
    if not isinstance(value, str | int | float):
        raise ValueError(f"Filter on {name!r}: this index can't compare with {value!r}")  # noqa: TRY004 - every bad filter is the same error
    if isinstance(value, str) and fields.exact_suffix and len(value) > MAX_CHARS:
        raise ValueError(
            f"Filter on {name!r}: this index can't compare with texts of more than {MAX_CHARS}"
            " characters"
        )
    return {"term": {_path(fields, name, value): {"value": value}}}


def _path(fields: Fields, name: str, value: Any) -> str:
    suffix = fields.exact_suffix if isinstance(value, str) else ""
    return f"{fields.metadata}.{name}{suffix}"
