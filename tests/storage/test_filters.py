import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.filters import MISSING, checks_of, fields_of, matches
from storage.vectors.metadata_columns import Column, mask

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 2.5]),
    st.sampled_from(["", "a", "b", "1"]),
)  # fmt: skip
values = st.one_of(scalars, st.lists(scalars, max_size=2), st.just({}))
ranges = st.dictionaries(
    st.sampled_from(["$gt", "$gte", "$lt", "$lte"]),
    st.one_of(st.integers(-2, 2), st.just(1.5), st.sampled_from(["a", "b"])),
    min_size=1,
)
items = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["a", "b", "1"]))
contents = st.one_of(
    st.fixed_dictionaries({"$contains": items}),
    st.fixed_dictionaries({"$contains_any": st.lists(items, max_size=3)}),
)
conditions = st.one_of(
    values,
    st.fixed_dictionaries({"$in": st.lists(values, max_size=3)}),
    st.fixed_dictionaries({"$nin": st.lists(values, max_size=3)}),
    ranges,
    contents,
)
fields = st.sampled_from(["page", "format", "lang"])
filters = st.dictionaries(fields, conditions, max_size=3)
metadata = st.dictionaries(fields, values, max_size=3)


def holds(value, condition):
    """The definition of domain.Filter for one value."""
    if isinstance(condition, dict) and "$in" in condition:
        return any(same(value, item) for item in condition["$in"])
    if isinstance(condition, dict) and "$nin" in condition:
        return not any(same(value, item) for item in condition["$nin"])
    if isinstance(condition, dict) and (condition.keys() & {"$contains", "$contains_any"}):
        [(name, operand)] = condition.items()
        operands = [operand] if name == "$contains" else operand
        return type(value) is list and any(same(part, item) for part in value for item in operands)
    if isinstance(condition, dict) and condition:
        return all(in_order(value, name, limit) for name, limit in condition.items())
    return same(value, condition)


def same(left, right):
    return (type(left) is bool) == (type(right) is bool) and left == right


def in_order(value, name, limit):
    if type(value) is bool or isinstance(value, str) != isinstance(limit, str):
        return False
    if not isinstance(value, int | float | str):
        return False
    comparisons = {"$gt": value > limit, "$gte": value >= limit}
    return {**comparisons, "$lt": value < limit, "$lte": value <= limit}[name]


@given(conditions=filters, rows=st.lists(metadata, max_size=6))
def test_exactly_the_rows_that_satisfy_all_conditions_match(conditions, rows):
    expected = [
        all(field in row and holds(row[field], check) for field, check in conditions.items())
        for row in rows
    ]
    checks = checks_of(conditions)
    columns = {field: Column(row.get(field, MISSING) for row in rows) for field in conditions}
    assert [matches(checks, row) for row in rows] == expected
    assert np.array_equal(mask(checks, columns, len(rows)), np.array(expected, bool))


def test_none_does_not_match_missing_fields():
    checks = checks_of({"page": None})
    assert matches(checks, {"page": None})
    assert not matches(checks, {})


def test_nin_does_not_match_missing_fields():
    checks = checks_of({"source_id": {"$nin": ["private"]}})
    assert matches(checks, {"source_id": "open"})
    assert matches(checks, {"source_id": None})
    assert not matches(checks, {"source_id": "private"})
    assert not matches(checks, {})


def test_operators_of_one_field_are_combined_with_and():
    checks = checks_of({"source_id": {"$in": ["a", "b"], "$nin": ["b"]}})
    assert [matches(checks, {"source_id": id_}) for id_ in "abc"] == [True, False, False]


def test_or_matches_any_of_several_filters():
    either = checks_of({"$or": [{"format": "md", "page": 1}, {"source_id": {"$in": ["own"]}}]})
    rows = [
        {"format": "md", "page": 1},
        {"format": "md", "page": 2},
        {"format": "pdf", "source_id": "own"},
        {"format": "pdf", "source_id": "other"},
    ]
    columns = {name: Column(row.get(name, MISSING) for row in rows) for name in fields_of(either)}
    expected = [True, False, True, False]
    assert [matches(either, row) for row in rows] == expected
    assert mask(either, columns, len(rows)).tolist() == expected


def test_fields_next_to_or_are_rejected():
    with pytest.raises(ValueError, match="combined.*format"):
        checks_of({"$or": [], "format": "md"})


def test_true_does_not_match_one():
    assert not matches(checks_of({"page": 1}), {"page": True})
    assert not matches(checks_of({"page": {"$in": [1]}}), {"page": True})
    assert not matches(checks_of({"page": {"$gte": 0}}), {"page": True})


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"$regex": "x"}, r"\$regex"),
        ({"$gt": 1, "plain": 2}, "plain"),
        ({"$in": "pdf"}, r"\$in"),
        ({"$in": 3}, r"\$in"),
        ({"$nin": "pdf"}, r"\$nin"),
        ({"$contains": ["a"]}, r"\$contains"),
        ({"$contains": None}, r"\$contains"),
        ({"$contains_any": "a"}, r"\$contains_any"),
        ({"$gt": None}, r"\$gt"),
        ({"$lt": True}, r"\$lt"),
    ],
)
def test_errors_for_invalid_conditions_name_the_operator_and_field(condition, message):
    with pytest.raises(ValueError, match=message) as caught:
        checks_of({"format": condition})
    assert "format" in str(caught.value)
