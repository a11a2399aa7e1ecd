import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.filters import MISSING, Column, checks_of, fields_of, mask, matches

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
wanted = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["a", "b", "1"]))
contents = st.one_of(
    st.fixed_dictionaries({"$contains": wanted}),
    st.fixed_dictionaries({"$contains_any": st.lists(wanted, max_size=3)}),
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


def holds(found, condition):
    """What domain.Filter promises, spelt out for one value."""
    if isinstance(condition, dict) and "$in" in condition:
        return any(same(found, wanted) for wanted in condition["$in"])
    if isinstance(condition, dict) and "$nin" in condition:
        return not any(same(found, unwanted) for unwanted in condition["$nin"])
    if isinstance(condition, dict) and (condition.keys() & {"$contains", "$contains_any"}):
        [(name, looked_for)] = condition.items()
        any_of = [looked_for] if name == "$contains" else looked_for
        return type(found) is list and any(same(part, one) for part in found for one in any_of)
    if isinstance(condition, dict) and condition:
        return all(in_order(found, name, limit) for name, limit in condition.items())
    return same(found, condition)


def same(left, right):
    return (type(left) is bool) == (type(right) is bool) and left == right


def in_order(found, name, limit):
    if type(found) is bool or isinstance(found, str) != isinstance(limit, str):
        return False
    if not isinstance(found, int | float | str):
        return False
    answers = {"$gt": found > limit, "$gte": found >= limit}
    return {**answers, "$lt": found < limit, "$lte": found <= limit}[name]


@given(conditions=filters, rows=st.lists(metadata, max_size=6))
def test_exactly_the_rows_that_satisfy_every_condition_pass(conditions, rows):
    expected = [
        all(field in row and holds(row[field], one) for field, one in conditions.items())
        for row in rows
    ]
    checks = checks_of(conditions)
    columns = {field: Column(row.get(field, MISSING) for row in rows) for field in conditions}
    assert [matches(checks, row) for row in rows] == expected
    assert np.array_equal(mask(checks, columns, len(rows)), np.array(expected, bool))


def test_a_field_that_is_none_is_not_a_field_that_is_missing():
    checks = checks_of({"page": None})
    assert matches(checks, {"page": None})
    assert not matches(checks, {})


def test_what_is_kept_out_does_not_come_in_without_the_field():
    checks = checks_of({"source_id": {"$nin": ["private"]}})
    assert matches(checks, {"source_id": "open"})
    assert matches(checks, {"source_id": None})
    assert not matches(checks, {"source_id": "private"})
    assert not matches(checks, {})


def test_operators_of_one_field_hold_together():
    checks = checks_of({"source_id": {"$in": ["a", "b"], "$nin": ["b"]}})
    assert [matches(checks, {"source_id": one}) for one in "abc"] == [True, False, False]


def test_any_of_several_filters_will_do():
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


def test_fields_beside_several_filters_are_refused():
    with pytest.raises(ValueError, match="alone.*format"):
        checks_of({"$or": [], "format": "md"})


def test_true_is_not_one():
    assert not matches(checks_of({"page": 1}), {"page": True})
    assert not matches(checks_of({"page": {"$in": [1]}}), {"page": True})
    assert not matches(checks_of({"page": {"$gte": 0}}), {"page": True})


@pytest.mark.parametrize(
    ("condition", "named"),
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
def test_a_condition_that_makes_no_sense_is_named(condition, named):
    with pytest.raises(ValueError, match=named) as caught:
        checks_of({"format": condition})
    assert "format" in str(caught.value)
