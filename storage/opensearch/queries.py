"""Bodies of searches: by vector, by words, counts of words, and filters of any index."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from itertools import islice
from typing import Any

from domain import Filter
from storage.filters import FieldCheck, checks_of
from storage.keywords.keyword_index import utf8
from storage.opensearch.mapping import Body, Fields, words_of
from storage.opensearch.terms import (
    RANGES,
    Query,
    any_of,
    combined_query,
    filter_query,
    operands_of,
    value_query,
)

CANDIDATES = 200
"""The minimum number of neighbors that the HNSW graph is searched for.

Measured on a million passages, a search for 100 finds .981 of the nearest 20; one for 200, .998.
"""
MAX_CLAUSES = 1_000
"""Distinct tokens of a query; the server allows 1,024 clauses including those of the filter."""
MAX_HITS = 10_000
"""The server's default limit of hits (`index.max_result_window`) and of neighbors."""


def vector_body(
    fields: Fields,
    vector: Sequence[float],
    k: int,
    condition: Filter | None,
    source: Collection[str] = (),
) -> Body:
    """A search for the `k` nearest vectors; the filter is applied during the search."""
    nearest: Body = {"vector": list(vector), "k": min(max(k, CANDIDATES), MAX_HITS)}
    if condition:
        nearest["filter"] = condition_query(fields, condition)
    return _body({"knn": {fields.vector: nearest}}, k, source)


def words_body(
    fields: Fields,
    query: Query,
    k: int,
    condition: Filter | None,
    source: Collection[str] = (),
) -> Body:
    """A search for the `k` best passages by BM25; the filter does not change scores."""
    if condition:
        query = {"bool": {"must": [query], "filter": [condition_query(fields, condition)]}}
    return _body(query, k, source)


def ids_body(fields: Fields, ids: Collection[str], condition: Filter) -> Body:
    """A search for those of the passages, at most `MAX_HITS`, that match a filter."""
    conditions = [{"ids": {"values": list(ids)}}, condition_query(fields, condition)]
    return _body({"bool": {"filter": conditions}}, len(ids), ())


def tokens_query(
    fields: Fields, tokens: Sequence[str], minimum_should_match: int | str = 1
) -> Query:
    """A query for passages with enough of the tokens; a repeated token counts repeatedly.

    Of more than `MAX_CLAUSES` distinct tokens, the first are used.
    """
    counts = Counter(utf8(tokens))
    clauses = [
        {"term": {fields.tokens: {"value": token, "boost": float(count)}}}
        for token, count in islice(counts.items(), MAX_CLAUSES)
    ]
    return {"bool": {"should": clauses, "minimum_should_match": minimum_should_match}}


def text_query(fields: Fields, text: str, minimum_should_match: int | str = 1) -> Query:
    """A query for the words of a text, as the analyzer of the text field splits it."""
    return {
        "match": {fields.text: {"query": text, "minimum_should_match": str(minimum_should_match)}}
    }


def count_body(fields: Fields, token: str) -> Body:
    """A search that only counts the passages with a token.

    Lucene has this number in its dictionary unless a segment has deleted passages. An aggregation
    of `words_of` would read the tokens of all passages: on 100,000, counts of 10 tokens took 45
    times as long.
    """
    return {"size": 0, "track_total_hits": True, "query": {"term": {fields.tokens: token}}}


def prefix_body(fields: Fields, prefix: str) -> Body:
    """The tokens with this prefix and their numbers of passages, as the aggregation `words`.

    The query excludes other passages, whose tokens would be read in vain.
    """
    pattern = "".join(char if char.isalnum() else f"\\{char}" for char in prefix) + ".*"
    terms = {"field": words_of(fields), "include": pattern, "size": MAX_HITS}
    return {
        "size": 0,
        "track_total_hits": False,
        "query": {"prefix": {fields.tokens: prefix}},
        "aggs": {"words": {"terms": terms}},
    }


def condition_query(fields: Fields, condition: Filter) -> Query:
    """The query for a filter."""
    if fields.terms:
        return filter_query(condition, fields.terms)
    return plain_filter_query(fields, condition)


def _body(query: Query, k: int, source: Collection[str]) -> Body:
    return {
        "size": min(k, MAX_HITS),
        "_source": list(source) or False,
        "track_total_hits": False,
        "query": query,
    }


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
