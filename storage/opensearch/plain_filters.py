"""Filters (`domain.Filter`) over the metadata fields of an index that another program wrote.

Lists are indexed by their elements there, so that equality with a value and `$contains` are the
same, and a list as a whole can't be compared. `None` can't be searched for.
"""

from collections.abc import Iterator
from typing import Any

from domain import Filter
from storage.filters import EITHER, checks_of, has_operators
from storage.opensearch.mapping import Fields
from storage.opensearch.terms import RANGES, Query, all_of, any_of, require_json


def plain_filter_query(fields: Fields, condition: Filter) -> Query:
    """The query for a filter; matches everything if it is empty.

    Raises:
        ValueError: An operator is unknown, or a value is not a text, a number, True, or False.
    """
    checks_of(condition)
    if EITHER in condition:
        return any_of(plain_filter_query(fields, one) for one in condition[EITHER])
    return all_of(
        query for name, value in condition.items() for query in _queries(fields, name, value)
    )


def _queries(fields: Fields, name: str, condition: Any) -> Iterator[Query]:
    require_json(name, condition)
    if not has_operators(condition):
        yield _equals(fields, name, condition)
        return
    for operator, operand in condition.items():
        if operator in RANGES:
            yield {"range": {_path(fields, name, operand): {RANGES[operator]: operand}}}
            continue
        values = [operand] if operator == "$contains" else list(operand)
        among = any_of(_equals(fields, name, value) for value in values)
        if operator == "$nin":
            present = {"exists": {"field": f"{fields.metadata}.{name}"}}
            among = {"bool": {"filter": [present], "must_not": [among]}}
        yield among


def _equals(fields: Fields, name: str, value: Any) -> Query:
    if not isinstance(value, str | int | float):
        raise ValueError(f"Filter on {name!r}: this index can't compare with {value!r}")  # noqa: TRY004 - every bad filter is the same error
    return {"term": {_path(fields, name, value): {"value": value}}}


def _path(fields: Fields, name: str, value: Any) -> str:
    suffix = fields.exact_suffix if isinstance(value, str) else ""
    return f"{fields.metadata}.{name}{suffix}"
