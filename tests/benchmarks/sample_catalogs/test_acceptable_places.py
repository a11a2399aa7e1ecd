import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.sample_catalogs.label_questions import acceptable_places, fits, merit
from domain import ASPECTS, CatalogFilters, Place
from services.evaluation.catalog_figures import CatalogQuestion

BOROUGHS, TYPES = ("Queens", "Bronx"), ("cafe", "bar", "bakery")


def place(id_, borough="Queens", types=("cafe",), rating=4.0):
    fields = {"borough_en": borough}
    return Place(f"d-{id_}", "c", id_, id_, types, fields, rating=rating)


def ask_for(aspects=None, unwanted=(), **filters):
    return CatalogQuestion("q", "en", "?", CatalogFilters(**filters), aspects or {}, unwanted)


def uniform_quality(value):
    return dict.fromkeys(ASPECTS, value)


many = st.lists(
    st.builds(
        place,
        st.uuids().map(str),
        st.sampled_from(BOROUGHS),
        st.lists(st.sampled_from(TYPES), min_size=1, unique=True).map(tuple),
        st.none() | st.floats(0, 5),
    ),
    unique_by=lambda one: one.place_id,
    max_size=12,
)
questions = st.builds(
    ask_for,
    st.dictionaries(st.sampled_from(ASPECTS), st.sampled_from(["wanted", "hedged"])),
    st.lists(st.sampled_from(BOROUGHS + TYPES), max_size=1).map(tuple),
    fields=st.dictionaries(st.just("borough_en"), st.sampled_from(BOROUGHS)),
    desired_types=st.none() | st.lists(st.sampled_from(TYPES), min_size=1).map(tuple),
    min_rating=st.none() | st.floats(0, 5),
)


def test_places_are_ordered_by_quality_weighted_by_importance():
    good = {"a": {"food": 0.9, "price": 0.1}, "b": {"food": 0.5, "price": 0.8}}
    places = [place("b"), place("a")]
    food_first = ask_for({"food": "wanted", "price": "hedged"})
    assert merit(food_first, good["a"]) == pytest.approx(0.9 * 0.9 + 0.6 * 0.1)
    assert acceptable_places(food_first, places, good) == ("b", "a")
    assert acceptable_places(ask_for({"food": "wanted"}), places, good) == ("a", "b")


def test_an_indifferent_aspect_is_ignored():
    good = {"a": {"price": 1.0, "food": 0.2}, "b": {"price": 0.0, "food": 0.3}}
    question = ask_for({"price": "indifferent", "food": "wanted"})
    assert acceptable_places(question, [place("a"), place("b")], good) == ("b", "a")


def test_ties_are_broken_by_rating_with_unrated_places_last():
    places = [place("a", rating=None), place("b", rating=3.0), place("c", rating=4.5)]
    good = {one.place_id: uniform_quality(0.5) for one in places}
    assert acceptable_places(ask_for(), places, good) == ("c", "b", "a")


@pytest.mark.parametrize(
    "filters",
    [{"fields": {"borough_en": "Bronx"}}, {"desired_types": ("bar",)}, {"min_rating": 4.1}],
)
def test_a_place_that_violates_a_filter_does_not_fit(filters):
    assert fits(ask_for(), place("a"))
    assert not fits(ask_for(**filters), place("a"))


@pytest.mark.parametrize("unwanted", ["cafe", "Queens"])
def test_a_place_that_the_question_rejects_does_not_fit(unwanted):
    assert not fits(ask_for(unwanted=(unwanted,)), place("a"))


def test_one_matching_value_of_several_is_enough():
    question = ask_for(fields={"borough_en": ("Bronx", "Queens")})
    assert fits(question, place("a"))
    assert not fits(question, place("a", borough="Brooklyn"))


def test_one_matching_type_of_several_is_enough():
    assert fits(ask_for(desired_types=("bar", "bakery")), place("a", types=("cafe", "bar")))


def test_an_unrated_place_never_meets_a_minimum_rating():
    assert not fits(ask_for(min_rating=3), place("a", rating=None))


@given(questions, many)
def test_at_most_five_fitting_places_are_acceptable(question, places):
    good = {one.place_id: uniform_quality(0.5) for one in places}
    acceptable = acceptable_places(question, places, good)
    assert len(acceptable) == min(5, sum(fits(question, one) for one in places))
    assert len(set(acceptable)) == len(acceptable)


@given(questions, many, st.randoms())
def test_the_order_of_the_data_does_not_matter(question, places, random):
    good = {one.place_id: uniform_quality(0.1 * n) for n, one in enumerate(places)}
    shuffled = random.sample(places, len(places))
    assert acceptable_places(question, places, good) == acceptable_places(question, shuffled, good)
