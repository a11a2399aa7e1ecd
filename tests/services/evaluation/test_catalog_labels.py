import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ASPECTS, CatalogFilters, Place
from services.evaluation.catalog_figures import CatalogQuestion, acceptable_places, fits, merit

BOROUGHS, TYPES = ("Queens", "Bronx"), ("cafe", "bar", "bakery")


def place(id_, borough="Queens", types=("cafe",), rating=4.0):
    fields = {"borough_en": borough}
    return Place(f"d-{id_}", "c", id_, id_, types, fields, rating=rating)


def asking(aspects=None, unwanted=(), **filters):
    return CatalogQuestion("q", "en", "?", CatalogFilters(**filters), aspects or {}, unwanted)


def as_good_as(value):
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
    asking,
    st.dictionaries(st.sampled_from(ASPECTS), st.sampled_from(["wanted", "hedged"])),
    st.lists(st.sampled_from(BOROUGHS + TYPES), max_size=1).map(tuple),
    fields=st.dictionaries(st.just("borough_en"), st.sampled_from(BOROUGHS)),
    desired_types=st.none() | st.lists(st.sampled_from(TYPES), min_size=1).map(tuple),
    min_rating=st.none() | st.floats(0, 5),
)


def test_places_are_ordered_by_what_is_cared_for_and_by_how_much():
    good = {"a": {"food": 0.9, "price": 0.1}, "b": {"food": 0.5, "price": 0.8}}
    places = [place("b"), place("a")]
    food_first = asking({"food": "wanted", "price": "hedged"})
    assert merit(food_first, good["a"]) == pytest.approx(0.9 * 0.9 + 0.6 * 0.1)
    assert acceptable_places(food_first, places, good) == ("b", "a")
    assert acceptable_places(asking({"food": "wanted"}), places, good) == ("a", "b")


def test_an_aspect_one_is_indifferent_to_does_not_count():
    good = {"a": {"price": 1.0, "food": 0.2}, "b": {"price": 0.0, "food": 0.3}}
    asked = asking({"price": "indifferent", "food": "wanted"})
    assert acceptable_places(asked, [place("a"), place("b")], good) == ("b", "a")


def test_among_equals_the_better_rated_place_goes_first_and_an_unrated_one_last():
    places = [place("a", rating=None), place("b", rating=3.0), place("c", rating=4.5)]
    good = {one.place_id: as_good_as(0.5) for one in places}
    assert acceptable_places(asking(), places, good) == ("c", "b", "a")


@pytest.mark.parametrize(
    "filters",
    [{"fields": {"borough_en": "Bronx"}}, {"desired_types": ("bar",)}, {"min_rating": 4.1}],
)
def test_a_place_that_a_filter_refuses_does_not_fit(filters):
    assert fits(asking(), place("a"))
    assert not fits(asking(**filters), place("a"))


@pytest.mark.parametrize("unwanted", ["cafe", "Queens"])
def test_what_a_question_turns_down_does_not_fit(unwanted):
    assert not fits(asking(unwanted=(unwanted,)), place("a"))


def test_one_value_of_several_is_enough():
    asked = asking(fields={"borough_en": ("Bronx", "Queens")})
    assert fits(asked, place("a"))
    assert not fits(asked, place("a", borough="Brooklyn"))


def test_one_desired_type_of_several_is_enough():
    assert fits(asking(desired_types=("bar", "bakery")), place("a", types=("cafe", "bar")))


def test_a_place_that_nobody_rated_satisfies_no_least_rating():
    assert not fits(asking(min_rating=3), place("a", rating=None))


@given(questions, many)
def test_there_are_five_acceptable_places_or_all_that_fit(asked, places):
    good = {one.place_id: as_good_as(0.5) for one in places}
    found = acceptable_places(asked, places, good)
    assert len(found) == min(5, sum(fits(asked, one) for one in places))
    assert len(set(found)) == len(found)


@given(questions, many, st.randoms())
def test_the_order_of_the_data_changes_nothing(asked, places, random):
    good = {one.place_id: as_good_as(0.1 * n) for n, one in enumerate(places)}
    shuffled = random.sample(places, len(places))
    assert acceptable_places(asked, places, good) == acceptable_places(asked, shuffled, good)
