import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ASPECTS, CatalogFilters
from services.evaluation.catalog_figures import (
    BUCKETS,
    bucket,
    count_aspects,
    estimate_ratio,
    filters_right,
    grades,
)
from services.evaluation.metrics import estimate, ndcg

FIELDS = ("borough_en",)
weights = st.floats(0, 1)
expected = st.dictionaries(st.sampled_from(ASPECTS), st.sampled_from(BUCKETS))
understood = st.dictionaries(st.sampled_from(ASPECTS), st.none() | weights)
types = st.none() | st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)
filters = st.builds(
    CatalogFilters,
    fields=st.dictionaries(st.just("borough_en"), st.sampled_from("xy")),
    desired_types=types,
    min_rating=st.none() | st.sampled_from([3.5, 4, 4.0]),
)


@pytest.mark.parametrize(
    ("weight", "how"),
    [
        (1, "wanted"),
        (0.75, "wanted"),
        (0.74, "hedged"),
        (0.4, "hedged"),
        (0.39, "indifferent"),
        (0, "indifferent"),
    ],
)
def test_a_weight_falls_into_the_bucket_of_its_bound(weight, how):
    assert bucket(weight) == how


@given(weights, weights)
def test_a_greater_weight_never_falls_into_a_lower_bucket(one, other):
    lower, greater = sorted([one, other])
    assert BUCKETS.index(bucket(greater)) <= BUCKETS.index(bucket(lower))


def test_each_filter_counts_one_and_types_have_no_order():
    asked = CatalogFilters({"borough_en": "Queens"}, ("a", "b"), 4)
    assert filters_right(asked, CatalogFilters({}, ("b", "a"), 4.0), FIELDS) == [
        False,
        True,
        True,
    ]


def test_a_filter_that_nobody_asked_for_is_wrong():
    found = CatalogFilters({"borough_en": "Queens"}, ("a",), 0.0)
    assert filters_right(CatalogFilters(), found, FIELDS) == [False, False, False]


def test_one_value_too_many_is_wrong():
    asked, found = (CatalogFilters({"borough_en": told}) for told in ("x", ("x", "y")))
    assert filters_right(asked, found, FIELDS) == [False, True, True]


def test_several_values_have_no_order():
    asked, found = (CatalogFilters({"borough_en": told}) for told in (("x", "y"), ("y", "x")))
    assert filters_right(asked, found, FIELDS) == [True, True, True]


def test_one_type_too_many_is_wrong():
    asked, found = CatalogFilters({}, ("a",)), CatalogFilters({}, ("a", "b"))
    assert filters_right(asked, found, FIELDS) == [True, False, True]


@given(filters)
def test_what_is_understood_as_it_is_meant_is_all_right(asked):
    assert filters_right(asked, asked, FIELDS) == [True, True, True]


@given(filters, filters)
def test_being_right_does_not_depend_on_which_side_is_which(one, other):
    assert filters_right(one, other, FIELDS) == filters_right(other, one, FIELDS)


def test_an_aspect_is_right_in_the_same_bucket_only():
    meant = {"price": "indifferent", "ambience": "wanted", "food": "wanted"}
    found = {"price": 0.0, "ambience": 0.6, "food": None, "service": 0.9}
    assert count_aspects(meant, found) == (1, 3, 3)


@given(expected, understood)
def test_no_more_aspects_are_right_than_are_mentioned_or_understood(meant, found):
    count = count_aspects(meant, found)
    assert 0 <= count.right <= min(count.mentioned, count.understood)


@given(expected)
def test_aspects_understood_as_meant_are_all_right(meant):
    told = {"wanted": 0.9, "hedged": 0.6, "indifferent": 0.1}
    found = dict.fromkeys(ASPECTS) | {name: told[how] for name, how in meant.items()}
    assert count_aspects(meant, found) == (len(meant),) * 3


def test_the_best_place_gains_5_and_the_fifth_1():
    assert grades(["a", "b", "c", "d", "e"]) == {"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}


@given(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1, max_size=5))
def test_no_order_is_better_than_that_of_the_acceptable_places(places):
    assert ndcg(places, grades(places), 10) == pytest.approx(1)
    assert ndcg(places[::-1], grades(places), 10) <= 1 + 1e-9


pairs = st.lists(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))


@given(pairs.filter(len))
def test_a_ratio_and_its_interval_are_shares_and_the_same_each_time(parts):
    first = estimate_ratio(parts, resamples=50)
    assert first.mean == sum(a for a, _ in parts) / sum(b for _, b in parts)
    assert 0 <= first.low <= first.high <= 1
    assert estimate_ratio(parts, resamples=50) == first


def test_over_questions_of_one_aspect_a_ratio_is_a_mean():
    values = [1.0, 0.0, 1.0, 1.0] * 25
    found, known = estimate_ratio([(value, 1) for value in values]), estimate(values)
    assert found.mean == known.mean
    assert found.low == pytest.approx(known.low, abs=0.02)
    assert found.high == pytest.approx(known.high, abs=0.02)


def test_questions_that_mention_nothing_do_not_change_a_share():
    assert estimate_ratio([(1, 2), (0, 0), (0, 0)]).mean == 0.5


@pytest.mark.parametrize("parts", [[], [(0, 0)]])
def test_a_share_of_nothing_is_refused(parts):
    with pytest.raises(ValueError, match="nothing to have a share of"):
        estimate_ratio(parts)
