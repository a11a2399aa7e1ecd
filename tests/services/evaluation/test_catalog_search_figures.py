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
def test_a_weight_belongs_to_the_bucket_whose_bound_it_reaches(weight, how):
    assert bucket(weight) == how


@given(weights, weights)
def test_a_greater_weight_never_has_a_lower_bucket(one, other):
    lower, greater = sorted([one, other])
    assert BUCKETS.index(bucket(greater)) <= BUCKETS.index(bucket(lower))


def test_each_filter_counts_once_and_the_order_of_types_does_not_matter():
    expected_filters = CatalogFilters({"borough_en": "Queens"}, ("a", "b"), 4)
    assert filters_right(expected_filters, CatalogFilters({}, ("b", "a"), 4.0), FIELDS) == [
        False,
        True,
        True,
    ]


def test_an_unrequested_filter_is_wrong():
    understood_filters = CatalogFilters({"borough_en": "Queens"}, ("a",), 0.0)
    assert filters_right(CatalogFilters(), understood_filters, FIELDS) == [False, False, False]


def test_an_additional_value_is_wrong():
    requested, result = (CatalogFilters({"borough_en": value}) for value in ("x", ("x", "y")))
    assert filters_right(requested, result, FIELDS) == [False, True, True]


def test_the_order_of_values_does_not_matter():
    requested, result = (
        CatalogFilters({"borough_en": value}) for value in (("x", "y"), ("y", "x"))
    )
    assert filters_right(requested, result, FIELDS) == [True, True, True]


def test_an_additional_type_is_wrong():
    requested, result = CatalogFilters({}, ("a",)), CatalogFilters({}, ("a", "b"))
    assert filters_right(requested, result, FIELDS) == [True, False, True]


@given(filters)
def test_identical_filters_are_all_right(expected_filters):
    assert filters_right(expected_filters, expected_filters, FIELDS) == [True, True, True]


@given(filters, filters)
def test_comparing_filters_is_symmetric(one, other):
    assert filters_right(one, other, FIELDS) == filters_right(other, one, FIELDS)


def test_an_aspect_is_right_only_in_the_same_bucket():
    buckets = {"price": "indifferent", "ambience": "wanted", "food": "wanted"}
    weights_found = {"price": 0.0, "ambience": 0.6, "food": None, "service": 0.9}
    assert count_aspects(buckets, weights_found) == (1, 3, 3)


@given(expected, understood)
def test_right_aspects_are_both_mentioned_and_understood(buckets, weights_found):
    count = count_aspects(buckets, weights_found)
    assert 0 <= count.right <= min(count.mentioned, count.understood)


@given(expected)
def test_aspects_in_the_expected_buckets_are_all_right(buckets):
    typical_weights = {"wanted": 0.9, "hedged": 0.6, "indifferent": 0.1}
    result = dict.fromkeys(ASPECTS) | {name: typical_weights[how] for name, how in buckets.items()}
    assert count_aspects(buckets, result) == (len(buckets),) * 3


def test_the_best_place_has_grade_5_and_the_fifth_grade_1():
    assert grades(["a", "b", "c", "d", "e"]) == {"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}


@given(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1, max_size=5))
def test_the_order_of_the_acceptable_places_has_the_best_ndcg(places):
    assert ndcg(places, grades(places), 10) == pytest.approx(1)
    assert ndcg(places[::-1], grades(places), 10) <= 1 + 1e-9


pairs = st.lists(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))


@given(pairs.filter(len))
def test_a_ratio_and_its_interval_are_shares_and_deterministic(parts):
    first = estimate_ratio(parts, resamples=50)
    assert first.mean == sum(a for a, _ in parts) / sum(b for _, b in parts)
    assert 0 <= first.low <= first.high <= 1
    assert estimate_ratio(parts, resamples=50) == first


def test_a_ratio_over_questions_with_one_aspect_is_a_mean():
    values = [1.0, 0.0, 1.0, 1.0] * 25
    ratio, mean = estimate_ratio([(value, 1) for value in values]), estimate(values)
    assert ratio.mean == mean.mean
    assert ratio.low == pytest.approx(mean.low, abs=0.02)
    assert ratio.high == pytest.approx(mean.high, abs=0.02)


def test_questions_without_aspects_do_not_change_a_ratio():
    assert estimate_ratio([(1, 2), (0, 0), (0, 0)]).mean == 0.5


@pytest.mark.parametrize("parts", [[], [(0, 0)]])
def test_a_ratio_without_any_aspect_is_an_error(parts):
    with pytest.raises(ValueError, match="nothing to have a share of"):
        estimate_ratio(parts)
