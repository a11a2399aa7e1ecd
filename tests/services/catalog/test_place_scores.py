import pytest
from hypothesis import example, given
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
aspect_counts = st.dictionaries(aspect, st.tuples(reviews, reviews))
wishes = st.dictionaries(aspect, st.just(0.0) | st.floats(1e-6, 1), min_size=1)


def rating_confidence(rating, ratings, mean, **others):
    return confidence(rating, ratings, mean, **{"scale": 5.0, **others})


def test_the_best_values_add_up_to_the_sum_of_the_weights():
    assert total(place_parts(ALL)) == 4.8
    assert [(part.name, part.share) for part in place_parts(ALL)] == [
        ("hybrid", 1.0),
        ("confidence", 0.3),
        ("type", 0.5),
        ("cross_encoder", 2.0),
        ("aspects", 1.0),
    ]


def test_the_specified_terms_have_the_specified_weights():
    values = {name: best for name, best in ALL.items() if name != "aspects"}
    assert total(place_parts(values)) == 3.8


@given(values, weights)
def test_a_missing_part_is_omitted_from_the_sum(part_values, part_weights):
    parts = place_parts(part_values, part_weights)
    present = [part_name for part_name in PartWeights._fields if part_values[part_name] is not None]
    assert [part.name for part in parts] == [
        part_name for part_name in present if getattr(part_weights, part_name)
    ]
    expected = sum(
        part_values[part_name] * getattr(part_weights, part_name) for part_name in present
    )
    assert total(parts) == pytest.approx(expected)


def test_a_value_of_zero_is_a_part_but_a_weight_of_zero_is_not():
    assert [part.name for part in place_parts({"hybrid": 0.0})] == ["hybrid"]
    assert place_parts({"hybrid": 1.0}, PartWeights(hybrid=0.0)) == ()
    assert total(()) == 0.0


@given(values, weights, name, weight, weight)
def test_a_score_never_falls_when_a_weight_rises(
    part_values, part_weights, part_name, first, second
):
    low, high = sorted((first, second))
    assert total(place_parts(part_values, part_weights._replace(**{part_name: low}))) <= total(
        place_parts(part_values, part_weights._replace(**{part_name: high}))
    )


@given(values, weights, name, value, value)
def test_a_score_never_falls_when_a_value_rises(
    part_values, part_weights, part_name, first, second
):
    low, high = sorted((first, second))
    assert total(place_parts({**part_values, part_name: low}, part_weights)) <= total(
        place_parts({**part_values, part_name: high}, part_weights)
    )


@given(values, weights, st.permutations(PartWeights._fields))
def test_the_order_of_values_and_of_parts_does_not_matter(part_values, part_weights, order):
    parts = place_parts(part_values, part_weights)
    assert (
        place_parts({part_name: part_values[part_name] for part_name in order}, part_weights)
        == parts
    )
    assert total(parts[::-1]) == total(parts)


def test_the_prior_counts_as_ten_mean_ratings():
    assert rating_confidence(5.0, 10, 4.0) == pytest.approx(0.9)
    assert rating_confidence(5.0, 30, 4.0) == pytest.approx(0.95)
    assert rating_confidence(5.0, 10, 3.0, prior_weight=30) == pytest.approx(0.7)


def test_a_place_without_a_rating_is_as_good_as_the_mean():
    assert rating_confidence(None, 0, 4.0) == 0.8
    assert rating_confidence(None, 3, 4.0) == 0.8


def test_a_catalog_without_ratings_has_no_confidence():
    assert rating_confidence(None, 0, None) is None


def test_without_a_mean_the_rating_alone_counts():
    assert rating_confidence(4.0, 1, None) == 0.8


def test_a_rating_without_a_count_counts_as_one_rating():
    assert (
        rating_confidence(5.0, 0, 4.0)
        == rating_confidence(5.0, 1, 4.0)
        > rating_confidence(None, 0, 4.0)
    )


@given(rating, rating, ratings, rating, prior_weight)
def test_a_better_rating_gives_no_less_confidence(first, second, count, mean, prior):
    low, high = sorted((first, second))
    assert rating_confidence(low, count, mean, prior_weight=prior) <= rating_confidence(
        high, count, mean, prior_weight=prior
    )


@given(rating, ratings, rating, rating, prior_weight)
def test_a_better_catalog_gives_no_less_confidence(own, count, first, second, prior):
    low, high = sorted((first, second))
    assert rating_confidence(own, count, low, prior_weight=prior) <= rating_confidence(
        own, count, high, prior_weight=prior
    )


@given(rating, ratings, ratings, rating)
def test_more_ratings_bring_confidence_closer_to_the_rating(own, first, second, mean):
    few, many = sorted((first, second))
    distance = [abs(rating_confidence(own, count, mean) - own / 5) for count in (few, many)]
    assert distance[1] <= distance[0] + 1e-12


@given(rating, ratings, rating, prior_weight)
@example(own=5.0, count=0, mean=5.0, prior=1000.0)
def test_confidence_lies_between_the_rating_and_the_mean(own, count, mean, prior):
    low, high = sorted((own / 5, mean / 5))
    assert low - 1e-12 <= rating_confidence(own, count, mean, prior_weight=prior) <= high + 1e-12
    assert 0 <= rating_confidence(own, count, mean, prior_weight=prior) <= 1


@given(rating, ratings, rating, st.floats(0.1, 100))
def test_confidence_does_not_depend_on_the_rating_scale(own, count, mean, times):
    scaled = confidence(own * times, count, mean * times, scale=5.0 * times)
    assert scaled == pytest.approx(rating_confidence(own, count, mean), abs=1e-12)


def test_a_place_of_one_of_the_desired_types_matches():
    assert type_match(["cafe", "bakery"], ("bar", "bakery")) == 1.0
    assert type_match(["cafe"], ("bar", "bakery")) == 0.0
    assert type_match([], ("bar",)) == 0.0


def test_without_desired_types_there_is_no_type_match():
    assert type_match(["cafe"], None) is None
    assert type_match(["cafe"], ()) is None


@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd"), min_size=1))
def test_types_match_where_they_have_one_in_common(types, desired):
    assert type_match(sorted(types), sorted(desired)) == float(bool(types & desired))
    assert type_match(sorted(types)[::-1], sorted(desired)[::-1]) == float(bool(types & desired))


def test_the_prior_of_praise_counts_as_three_reviews():
    assert praise_share(3, 0, 0.5) == 0.75
    assert praise_share(0, 3, 0.5) == 0.25
    assert praise_share(7, 0, 0.9, prior_weight=7) == pytest.approx(0.95)


@given(value)
def test_an_aspect_without_reviews_has_the_share_of_the_catalog(prior):
    assert praise_share(0, 0, prior) == pytest.approx(prior)


@given(reviews, reviews, reviews, value)
def test_more_praise_never_lowers_and_more_criticism_never_raises_the_share(
    praise, blame, extra, prior
):
    share = praise_share(praise, blame, prior)
    assert 0 <= share <= 1
    assert praise_share(praise + extra, blame, prior) >= share
    assert praise_share(praise, blame + extra, prior) <= share


@given(reviews, reviews, value, value)
def test_a_catalog_with_more_praise_gives_no_smaller_share(praise, blame, first, second):
    low, high = sorted((first, second))
    assert praise_share(praise, blame, low) <= praise_share(praise, blame, high)


@given(reviews, reviews, st.integers(2, 100), value)
def test_more_reviews_bring_the_share_closer_to_their_own(praise, blame, times, prior):
    own = praise / (praise + blame) if praise + blame else prior
    few = abs(praise_share(praise, blame, prior) - own)
    assert abs(praise_share(times * praise, times * blame, prior) - own) <= few + 1e-12


def test_the_prior_is_the_share_of_praise_or_a_half_without_reviews():
    counts = {"food": (3, 1), "price": (0, 2), "other": (5, 5)}
    shares = praise_priors(counts, ("food", "price", "noise"))
    assert shares == {"food": 0.75, "price": 0.0, "noise": 0.5}


def praise_score(counts, weights, catalog_counts=None):
    return weighted_praise(counts, praise_priors(catalog_counts or {}, weights), weights)


def test_more_important_aspects_count_more():
    counts = {"food": (3, 0), "price": (0, 3)}  # 0.75 and 0.25
    assert PRAISE_PRIOR_WEIGHT == 3
    assert praise_score(counts, {"food": 1.0, "price": 1.0}) == 0.5
    assert praise_score(counts, {"food": 0.9, "price": 0.3}) == pytest.approx(0.625)
    assert praise_score(counts, {"food": 0.0, "price": 0.5}) == 0.25
    assert praise_score({**counts, "noise": (9, 0)}, {"food": 1.0}) == 0.75


def test_without_important_aspects_there_is_no_praise_score():
    assert praise_score({"food": (3, 0)}, {"food": 0.0, "price": 0.0}) is None
    assert praise_score({"food": (3, 0)}, {}) is None


@given(aspect_counts, aspect_counts, wishes, aspect, reviews)
def test_praise_never_lowers_and_criticism_never_raises_the_score(
    counts, catalog_counts, importance, aspect_name, extra
):
    score = praise_score(counts, importance, catalog_counts)
    if score is None:
        return
    praise, blame = counts.get(aspect_name, (0, 0))
    assert 0 <= score <= 1 + 1e-12
    assert (
        praise_score({**counts, aspect_name: (praise + extra, blame)}, importance, catalog_counts)
        >= score - 1e-12
    )
    assert (
        praise_score({**counts, aspect_name: (praise, blame + extra)}, importance, catalog_counts)
        <= score + 1e-12
    )


@given(aspect_counts, aspect_counts, wishes, st.floats(0.01, 100))
def test_scaling_all_weights_does_not_change_the_score(counts, catalog_counts, importance, times):
    scaled = {name: times * weight for name, weight in importance.items()}
    score = praise_score(counts, importance, catalog_counts)
    assert praise_score(counts, scaled, catalog_counts) == (
        score if score is None else pytest.approx(score)
    )


@given(aspect_counts, aspect_counts, wishes, st.floats(0, 1))
def test_more_weight_on_the_best_aspect_never_lowers_the_score(
    counts, catalog_counts, importance, extra
):
    """More weight on the best aspect of a place never lowers its score."""
    priors = praise_priors(catalog_counts, importance)
    best = max(importance, key=lambda name: praise_share(*counts.get(name, (0, 0)), priors[name]))
    before = praise_score(counts, importance, catalog_counts)
    after = praise_score(counts, {**importance, best: importance[best] + extra}, catalog_counts)
    assert before is None or after >= before - 1e-12
