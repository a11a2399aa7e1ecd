from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.filters import EITHER, checks_of, matches
from storage.opensearch.mapping import LANGCHAIN_FIELDS
from storage.opensearch.queries import plain_filter_query
from storage.opensearch.terms import filter_query, metadata_terms
from tests.storage.test_filters import filters, metadata

FIELD = "terms"


def satisfies(query, terms):
    """Whether a document with these terms matches, as OpenSearch defines the queries."""
    [(kind, body)] = query.items()
    if kind in ("match_all", "match_none"):
        return kind == "match_all"
    if kind == "terms":
        return not set(body[FIELD]).isdisjoint(terms)
    if kind == "range":
        return any(in_range(term.encode(), body[FIELD]) for term in terms)
    assert kind == "bool"
    assert body.keys() <= {
        "filter",
        "must_not",
        "should",
        "minimum_should_match",
    }
    return (
        all(satisfies(one, terms) for one in body.get("filter", ()))
        and not any(satisfies(one, terms) for one in body.get("must_not", ()))
        and ("should" not in body or any(satisfies(one, terms) for one in body["should"]))
    )


def in_range(term, limits):
    tests = {"gt": term.__gt__, "gte": term.__ge__, "lt": term.__lt__, "lte": term.__le__}
    return all(tests[name](limit.encode()) for name, limit in limits.items())


@given(condition=filters, row=metadata)
def test_a_query_matches_exactly_the_metadata_that_satisfies_the_filter(condition, row):
    query = filter_query(condition, FIELD)
    assert satisfies(query, metadata_terms(row)) == matches(checks_of(condition), row)


@given(alternatives=st.lists(filters, max_size=3), row=metadata)
def test_any_of_several_filters_suffices(alternatives, row):
    condition = {EITHER: alternatives}
    query = filter_query(condition, FIELD)
    assert satisfies(query, metadata_terms(row)) == matches(checks_of(condition), row)


@given(
    st.one_of(st.integers(), st.floats(allow_nan=False)),
    st.one_of(st.integers(), st.floats(allow_nan=False)),
)
def test_numbers_are_ordered_as_64_bit_floats(value, limit):
    query = filter_query({"page": {"$lt": limit}}, FIELD)
    assert satisfies(query, metadata_terms({"page": value})) == (float(value) < float(limit))


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text())
def test_texts_are_ordered_by_code_points(value, limit):
    limit = limit.encode(errors="backslashreplace").decode()
    query = filter_query({"title": {"$gte": limit}}, FIELD)
    assert satisfies(query, metadata_terms({"title": value})) == (value >= limit)


def test_an_integer_beyond_the_largest_float_is_larger_than_all_floats():
    terms = metadata_terms({"page": 10**400})
    assert satisfies(filter_query({"page": {"$gt": 1e308}}, FIELD), terms)
    assert not satisfies(filter_query({"page": {"$lt": -1e308}}, FIELD), terms)


def test_long_values_are_equal_only_to_themselves():
    terms = metadata_terms({"title": "a" * 40_000})
    assert max(len(term.encode()) for term in terms) < 32_766
    assert satisfies(filter_query({"title": "a" * 40_000}, FIELD), terms)
    assert not satisfies(filter_query({"title": "a" * 39_999}, FIELD), terms)


def test_names_with_separators_are_distinct():
    assert not satisfies(filter_query({"a\x00=\x00s:b": "c"}, FIELD), metadata_terms({"a": "b"}))
    assert not satisfies(filter_query({"a\\0b": "c"}, FIELD), metadata_terms({"a\x00b": "c"}))


def test_unpaired_surrogates_can_be_sent():
    terms = metadata_terms({"title\ud800": ["\udfff"], "key": "\ud800"})
    assert "".join(terms).encode()
    assert satisfies(filter_query({"key": "\ud800"}, FIELD), terms)


def test_thousands_of_values_are_split_into_clauses_below_the_limit_of_the_server():
    values = [str(number) for number in range(25_000)]
    query = filter_query({"source_id": {"$in": values}}, FIELD)
    assert [len(one["terms"][FIELD]) for one in query["bool"]["should"]] == [10_000, 10_000, 5_000]
    assert satisfies(query, metadata_terms({"source_id": "24999"}))


@pytest.mark.parametrize("condition", [{"page": {"$near": 1}}, {"page": {"$in": "ab"}}])
def test_invalid_filters_are_rejected(condition):
    with pytest.raises(ValueError, match="Filter on 'page'"):
        filter_query(condition, FIELD)


NAN, OTHER = float("nan"), Decimal(1)


@pytest.mark.parametrize(
    "condition",
    [
        {"page": NAN},
        {"page": [NAN]},
        {"page": {"$in": [1, NAN]}},
        {"page": {"$contains": NAN}},
        {"page": {"$gt": NAN}},
        {"page": OTHER},
        {"page": {"x": OTHER}},
        {"page": {1: "x"}},
        {"page": {"a"}},
        {"$or": [{"page": {"$nin": [OTHER]}}]},
    ],
)
def test_values_that_json_does_not_have_are_rejected(condition):
    with pytest.raises(ValueError, match="Filter on 'page': .* is not a JSON value"):
        filter_query(condition, FIELD)


@pytest.mark.parametrize(
    "condition",
    [
        {"page": (1, 2)},
        {"page": [(1, 2)]},
        {"page": {"$in": [(1, 2), 3]}},
        {"page": {"$nin": [(1, 2)]}},
        {"page": {"$in": (3, 4)}},
        {"page": {"$in": {3, 4}}},
    ],
)
@pytest.mark.parametrize("value", [3, [1, 2], [[1, 2]]])
def test_tuples_are_compared_as_in_the_embedded_store(condition, value):
    row = {"page": value}
    query = filter_query(condition, FIELD)
    assert satisfies(query, metadata_terms(row)) == matches(checks_of(condition), row)


@pytest.mark.parametrize("condition", [{"page": {}}, {"page": {"x": 1}}, {"page": NAN}])
def test_another_program_s_index_rejects_values_that_it_cannot_compare(condition):
    with pytest.raises(ValueError, match="Filter on 'page'"):
        plain_filter_query(LANGCHAIN_FIELDS, condition)
