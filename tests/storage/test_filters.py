from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.filters import MISSING, checks_of, fields_of, matches, stored_value
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
operators = st.one_of(
    st.fixed_dictionaries({"$eq": values}),
    st.fixed_dictionaries({"$ne": values}),
    st.fixed_dictionaries({"$in": st.lists(values, max_size=3)}),
    st.fixed_dictionaries({"$nin": st.lists(values, max_size=3)}),
    st.fixed_dictionaries({"$exists": st.booleans()}),
    ranges,
    contents,
    st.fixed_dictionaries({"$gte": st.just(0), "$ne": items, "$exists": st.booleans()}),
)
conditions = st.one_of(values, operators)
negated = st.fixed_dictionaries({"$not": conditions})
fields = st.sampled_from(["page", "format", "lang"])
simple_filters = st.dictionaries(fields, st.one_of(conditions, negated), max_size=3)
filters = st.recursive(
    simple_filters,
    lambda inner: st.builds(
        dict.__or__,
        simple_filters,
        st.dictionaries(st.sampled_from(["$and", "$or"]), st.lists(inner, max_size=3))
        | st.fixed_dictionaries({"$not": inner}),
    ),
    max_leaves=6,
)
metadata = st.dictionaries(fields, values, max_size=3)


def satisfies(row, condition):
    """The definition of domain.Filter, in plain Python."""
    for name, one in condition.items():
        if name == "$and":
            passes = all(satisfies(row, each) for each in one)
        elif name == "$or":
            passes = any(satisfies(row, each) for each in one)
        elif name == "$not":
            passes = not satisfies(row, one)
        else:
            passes = field_satisfies(row, name, one)
        if not passes:
            return False
    return True


def field_satisfies(row, name, condition):
    if not (isinstance(condition, dict) and any(key.startswith("$") for key in condition)):
        return name in row and same(row[name], condition)
    for operator, operand in condition.items():
        if operator == "$exists":
            passes = operand == (name in row)
        elif operator == "$not":
            passes = not field_satisfies(row, name, operand)
        else:
            passes = name in row and holds(row[name], {operator: operand})
        if not passes:
            return False
    return True


def holds(value, condition):
    """The definition of domain.Filter for a value and its conditions other than `$not`."""
    if isinstance(condition, dict) and any(key.startswith("$") for key in condition):
        return all(holds_operator(value, *one) for one in condition.items())
    return same(value, condition)


def holds_operator(value, name, operand):
    if name in ("$eq", "$ne"):
        return same(value, operand) == (name == "$eq")
    if name in ("$in", "$nin"):
        return any(same(value, item) for item in operand) == (name == "$in")
    if name in ("$contains", "$contains_any"):
        operands = [operand] if name == "$contains" else operand
        return type(value) is list and any(same(part, item) for part in value for item in operands)
    return in_order(value, name, operand)


def same(left, right):
    return (type(left) is bool) == (type(right) is bool) and left == right


def in_order(value, name, limit):
    if type(value) is bool or isinstance(value, str) != isinstance(limit, str):
        return False
    if not isinstance(value, int | float | str):
        return False
    comparisons = {"$gt": value > limit, "$gte": value >= limit}
    return {**comparisons, "$lt": value < limit, "$lte": value <= limit}[name]


NAMES = st.sampled_from(
    ["$and", "$or", "$not", "$eq", "$in", "$gte", "$contains", "$exists", "$where", "page", "", "$"]
)
ANYTHING = st.recursive(
    scalars | st.text(max_size=3) | st.floats() | st.binary(max_size=2) | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(conditions=ANYTHING, rows=st.lists(metadata, max_size=3))
def test_anything_is_a_filter_or_rejected_with_a_value_error(conditions, rows):
    try:
        checks = checks_of(conditions)
    except ValueError:
        return
    assert {matches(checks, row) for row in rows} <= {True, False}


@given(conditions=filters, rows=st.lists(metadata, max_size=6))
def test_exactly_the_rows_that_satisfy_all_conditions_match(conditions, rows):
    expected = [satisfies(row, conditions) for row in rows]
    checks = checks_of(conditions)
    columns = {
        field: Column(row.get(field, MISSING) for row in rows) for field in fields_of(checks)
    }
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


def test_fields_next_to_or_must_match_too():
    checks = checks_of({"$or": [{"page": 1}, {"page": 2}], "format": "md"})
    assert matches(checks, {"page": 2, "format": "md"})
    assert not matches(checks, {"page": 2, "format": "pdf"})
    assert not matches(checks, {"page": 3, "format": "md"})
    assert not matches(checks_of({"$or": [], "format": "md"}), {"format": "md"})


def test_ne_does_not_match_missing_fields_but_not_and_exists_do():
    rows = [{"page": 1}, {"page": 2}, {"page": None}, {}]
    expected = {
        "ne": ({"page": {"$ne": 1}}, [False, True, True, False]),
        "not on the field": ({"page": {"$not": {"$eq": 1}}}, [False, True, True, True]),
        "not": ({"$not": {"page": 1}}, [False, True, True, True]),
        "exists": ({"page": {"$exists": True}}, [True, True, True, False]),
        "does not exist": ({"page": {"$exists": False}}, [False, False, False, True]),
    }
    for condition, outcomes in expected.values():
        assert [matches(checks_of(condition), row) for row in rows] == outcomes


def test_no_filter_matches_everything():
    assert matches(checks_of(None), {})
    assert matches(checks_of({}), {"page": 1})


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
        ({"$exists": 1}, r"\$exists"),
        ({"$and": [1]}, r"\$and"),
        ({"$not": {"$like": "x"}}, r"\$like"),
        (len, "len.* is not a JSON value"),
        ({"$eq": len}, "len.* is not a JSON value"),
        ({"$in": [len]}, "len.* is not a JSON value"),
        (float("nan"), "nan is not a JSON value"),
    ],
)
def test_errors_for_invalid_conditions_name_the_operator_and_field(condition, message):
    with pytest.raises(ValueError, match=message) as caught:
        checks_of({"format": condition})
    assert "format" in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (len, "<built-in function len> is not a filter"),
        ([], r"\[\] is not a filter"),
        ("page", "'page' is not a filter"),
        ({"$nor": [{"page": 1}]}, r"\$nor"),
        ({"$in": [1]}, r"\$in"),
        ({1: "x"}, "1 is neither a field"),
        ({"$and": {"page": 1}}, r"\$and takes a list of filters"),
        ({"$or": "page"}, r"\$or takes a list of filters"),
        ({"$or": [{"page": 1}, None]}, "None is not a filter"),
        ({"$not": [{"page": 1}]}, "is not a filter"),
    ],
)
def test_errors_for_what_is_not_a_filter_name_it(condition, message):
    with pytest.raises(ValueError, match=f"Filter: .*{message}"):
        checks_of(condition)


SEOUL = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("operand", "stored", "other"),
    [
        (date(2026, 1, 2), "2026-01-02", "2026-01-03"),
        (datetime(2026, 1, 2, 3), "2026-01-02T03:00:00", "2026-01-02T03:00:01"),
        (datetime(2026, 1, 2, 3, tzinfo=SEOUL), "2026-01-01T18:00:00+00:00", "2026-01-02T03:00:00"),
        (np.datetime64("2026-01-02"), "2026-01-02", "2026-01-03"),
        (np.datetime64("2026-01-02T03", "ns"), "2026-01-02T03:00:00", "2026-01-02"),
        (np.array(["2026-01-02", "2026-01-03"], "M8[D]"), ["2026-01-02", "2026-01-03"], []),
        (np.int64(3), 3, 4),
        (np.float32(0.5), 0.5, 0.25),
        (np.bool_(True), True, 1),
        (np.str_("a"), "a", "b"),
        (np.array([1, 2]), [1, 2], [2, 1]),
    ],
)
def test_operands_are_compared_as_they_are_stored(operand, stored, other):
    for condition in (operand, {"$eq": operand}, {"$in": [operand]}, {"$not": {"$ne": operand}}):
        checks = checks_of({"page": condition})
        assert matches(checks, {"page": stored})
        assert not matches(checks, {"page": other})


def test_times_in_several_zones_are_in_chronological_order():
    since = checks_of({"at": {"$gte": datetime(2026, 1, 1, 9, tzinfo=SEOUL)}})
    times = [datetime(2026, 1, 1, 0, 0, 0, 1, UTC), datetime(2025, 12, 31, 23, 59, tzinfo=UTC)]
    assert [matches(since, {"at": stored_value(one)}) for one in times] == [True, False]


def test_a_missing_time_of_numpy_matches_no_range():
    metadata = {"at": stored_value(np.datetime64("NaT"))}
    assert metadata == {"at": None}
    assert not matches(checks_of({"at": {"$gte": date(2026, 1, 1)}}), metadata)
