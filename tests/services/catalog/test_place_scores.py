import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.catalog.place_scores import (
    PRAISE_PRIOR_WEIGHT,
    PartWeights,
    confidence,
    place_parts,
    praise_priors,
    praise_share,
    total,
    type_match,
    weighted_praise,
)

value = st.floats(0, 1)
weight = st.floats(0, 10)
weights = st.builds(PartWeights, weight, weight, weight, weight, weight)
name = st.sampled_from(PartWeights._fields)
values = st.fixed_dictionaries(dict.fromkeys(PartWeights._fields, st.none() | value))
rating = st.floats(0, 5)
ratings = st.integers(0, 10_000)
prior_weight = st.floats(0, 1000)
ALL = dict.fromkeys(PartWeights._fields, 1.0)
reviews = st.integers(0, 1000)
aspect = st.sampled_from(["food", "price", "noise"])
told = st.dictionaries(aspect, st.tuples(reviews, reviews))
wishes = st.dictionaries(aspect, st.just(0.0) | st.floats(1e-6, 1), min_size=1)


def sure(rating, ratings, mean, **others):
    return confidence(rating, ratings, mean, **{"scale": 5.0, **others})


def test_all_terms_at_their_best_add_up_to_the_sum_of_the_weights():
    assert total(place_parts(ALL)) == 4.8
    assert [(part.name, part.share) for part in place_parts(ALL)] == [
        ("hybrid", 1.0),
        ("confidence", 0.3),
        ("type", 0.5),
        ("cross_encoder", 2.0),
        ("aspects", 1.0),
    ]


def test_the_terms_that_are_specified_weigh_as_specified():
    specified = {name: best for name, best in ALL.items() if name != "aspects"}
    assert total(place_parts(specified)) == 3.8


@given(values, weights)
def test_a_missing_part_is_left_out_of_the_sum(told, weighed):
    parts = place_parts(told, weighed)
    there = [each for each in PartWeights._fields if told[each] is not None]
    assert [part.name for part in parts] == [each for each in there if getattr(weighed, each)]
    by_hand = sum(told[each] * getattr(weighed, each) for each in there)
    assert total(parts) == pytest.approx(by_hand)


def test_a_value_of_nothing_is_a_part_and_a_term_without_weight_is_none():
    assert [part.name for part in place_parts({"hybrid": 0.0})] == ["hybrid"]
    assert place_parts({"hybrid": 1.0}, PartWeights(hybrid=0.0)) == ()
    assert total(()) == 0.0


@given(values, weights, name, weight, weight)
def test_a_score_never_falls_when_a_weight_rises(told, weighed, changed, one, other):
    low, high = sorted((one, other))
    assert total(place_parts(told, weighed._replace(**{changed: low}))) <= total(
        place_parts(told, weighed._replace(**{changed: high}))
    )


@given(values, weights, name, value, value)
def test_a_score_never_falls_when_a_value_rises(told, weighed, changed, one, other):
    low, high = sorted((one, other))
    assert total(place_parts({**told, changed: low}, weighed)) <= total(
        place_parts({**told, changed: high}, weighed)
    )


@given(values, weights, st.permutations(PartWeights._fields))
def test_the_order_of_values_and_of_parts_does_not_matter(told, weighed, order):
    parts = place_parts(told, weighed)
    assert place_parts({each: told[each] for each in order}, weighed) == parts
    assert total(parts[::-1]) == total(parts)


def test_a_rating_is_drawn_to_the_mean_as_ten_ratings_are():
    assert sure(5.0, 10, 4.0) == pytest.approx(0.9)
    assert sure(5.0, 30, 4.0) == pytest.approx(0.95)
    assert sure(5.0, 10, 3.0, prior_weight=30) == pytest.approx(0.7)


def test_a_place_without_a_rating_is_as_good_as_the_mean():
    assert sure(None, 0, 4.0) == 0.8
    assert sure(None, 3, 4.0) == 0.8


def test_in_a_catalog_without_any_rating_nothing_is_said():
    assert sure(None, 0, None) is None


def test_without_a_mean_the_rating_alone_counts():
    assert sure(4.0, 1, None) == 0.8


def test_a_rating_that_nobody_counted_rests_on_one():
    assert sure(5.0, 0, 4.0) == sure(5.0, 1, 4.0) > sure(None, 0, 4.0)


@given(rating, rating, ratings, rating, prior_weight)
def test_a_better_rating_gives_no_less_confidence(one, other, count, mean, prior):
    low, high = sorted((one, other))
    assert sure(low, count, mean, prior_weight=prior) <= sure(high, count, mean, prior_weight=prior)


@given(rating, ratings, rating, rating, prior_weight)
def test_a_better_catalog_gives_no_less_confidence(own, count, one, other, prior):
    low, high = sorted((one, other))
    assert sure(own, count, low, prior_weight=prior) <= sure(own, count, high, prior_weight=prior)


@given(rating, ratings, ratings, rating)
def test_more_ratings_bring_it_no_further_from_the_rating(own, one, other, mean):
    few, many = sorted((one, other))
    distance = [abs(sure(own, count, mean) - own / 5) for count in (few, many)]
    assert distance[1] <= distance[0] + 1e-12


@given(rating, ratings, rating, prior_weight)
def test_confidence_lies_between_the_rating_and_the_mean(own, count, mean, prior):
    low, high = sorted((own / 5, mean / 5))
    assert low - 1e-12 <= sure(own, count, mean, prior_weight=prior) <= high + 1e-12
    assert 0 <= sure(own, count, mean, prior_weight=prior) <= 1


@given(rating, ratings, rating, st.floats(0.1, 100))
def test_a_catalog_on_another_scale_gives_the_same_confidence(own, count, mean, times):
    scaled = confidence(own * times, count, mean * times, scale=5.0 * times)
    assert scaled == pytest.approx(sure(own, count, mean), abs=1e-12)


def test_a_place_of_one_of_the_desired_types_matches():
    assert type_match(["cafe", "bakery"], ("bar", "bakery")) == 1.0
    assert type_match(["cafe"], ("bar", "bakery")) == 0.0
    assert type_match([], ("bar",)) == 0.0


def test_where_no_type_is_desired_the_part_is_missing():
    assert type_match(["cafe"], None) is None
    assert type_match(["cafe"], ()) is None


@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd"), min_size=1))
def test_types_match_where_they_have_one_in_common(types, desired):
    assert type_match(sorted(types), sorted(desired)) == float(bool(types & desired))
    assert type_match(sorted(types)[::-1], sorted(desired)[::-1]) == float(bool(types & desired))


def test_praise_is_drawn_to_the_catalog_s_share_as_three_reviews_are():
    assert praise_share(3, 0, 0.5) == 0.75
    assert praise_share(0, 3, 0.5) == 0.25
    assert praise_share(7, 0, 0.9, prior_weight=7) == pytest.approx(0.95)


@given(value)
def test_an_aspect_that_nobody_speaks_of_is_as_good_as_in_the_whole_catalog(prior):
    assert praise_share(0, 0, prior) == pytest.approx(prior)


@given(reviews, reviews, reviews, value)
def test_more_praise_is_never_worse_and_more_blame_never_better(praise, blame, more, prior):
    before = praise_share(praise, blame, prior)
    assert 0 <= before <= 1
    assert praise_share(praise + more, blame, prior) >= before
    assert praise_share(praise, blame + more, prior) <= before


@given(reviews, reviews, value, value)
def test_a_catalog_with_more_praise_gives_no_smaller_share(praise, blame, one, other):
    low, high = sorted((one, other))
    assert praise_share(praise, blame, low) <= praise_share(praise, blame, high)


@given(reviews, reviews, st.integers(2, 100), value)
def test_the_more_reviews_agree_the_nearer_is_the_share_to_theirs(praise, blame, times, prior):
    own = praise / (praise + blame) if praise + blame else prior
    few = abs(praise_share(praise, blame, prior) - own)
    assert abs(praise_share(times * praise, times * blame, prior) - own) <= few + 1e-12


def test_the_prior_is_the_share_of_praise_and_a_half_where_nobody_says_anything():
    counts = {"food": (3, 1), "price": (0, 2), "other": (5, 5)}
    shares = praise_priors(counts, ("food", "price", "noise"))
    assert shares == {"food": 0.75, "price": 0.0, "noise": 0.5}


def praised(counts, weights, known=None):
    return weighted_praise(counts, praise_priors(known or {}, weights), weights)


def test_what_matters_more_counts_more():
    counts = {"food": (3, 0), "price": (0, 3)}  # 0.75 and 0.25
    assert PRAISE_PRIOR_WEIGHT == 3
    assert praised(counts, {"food": 1.0, "price": 1.0}) == 0.5
    assert praised(counts, {"food": 0.9, "price": 0.3}) == pytest.approx(0.625)
    assert praised(counts, {"food": 0.0, "price": 0.5}) == 0.25
    assert praised({**counts, "noise": (9, 0)}, {"food": 1.0}) == 0.75


def test_where_nothing_matters_nothing_is_said_of_praise():
    assert praised({"food": (3, 0)}, {"food": 0.0, "price": 0.0}) is None
    assert praised({"food": (3, 0)}, {}) is None


@given(told, told, wishes, aspect, reviews)
def test_a_place_is_no_worse_for_praise_and_no_better_for_blame(counts, known, weighed, of, more):
    before = praised(counts, weighed, known)
    if before is None:
        return
    praise, blame = counts.get(of, (0, 0))
    assert 0 <= before <= 1 + 1e-12
    assert praised({**counts, of: (praise + more, blame)}, weighed, known) >= before - 1e-12
    assert praised({**counts, of: (praise, blame + more)}, weighed, known) <= before + 1e-12


@given(told, told, wishes, st.floats(0.01, 100))
def test_weights_that_are_all_as_many_times_as_high_give_the_same(counts, known, weighed, times):
    more = {name: times * weight for name, weight in weighed.items()}
    before = praised(counts, weighed, known)
    assert praised(counts, more, known) == (before if before is None else pytest.approx(before))


@given(told, told, wishes, st.floats(0, 1))
def test_the_better_an_aspect_is_the_more_its_weight_helps(counts, known, weighed, more):
    """An aspect at which the place is best can only help when it matters more."""
    priors = praise_priors(known, weighed)
    best = max(weighed, key=lambda name: praise_share(*counts.get(name, (0, 0)), priors[name]))
    before = praised(counts, weighed, known)
    after = praised(counts, {**weighed, best: weighed[best] + more}, known)
    assert before is None or after >= before - 1e-12
