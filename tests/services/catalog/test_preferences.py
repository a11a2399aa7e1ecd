import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ASPECTS
from errors import InputError
from services.catalog.preferences import (
    all_weights,
    as_weights,
    mentioned_weights,
    preference_text,
    validated,
)

aspect = st.sampled_from(ASPECTS)
preferences = st.dictionaries(aspect, st.floats(0, 5))
weights = st.dictionaries(aspect, st.floats(0, 1))
analyzed = st.dictionaries(aspect, st.none() | st.floats(0, 1))


def turned(mapping):
    return dict(reversed(mapping.items()))


def test_the_question_goes_before_the_person_and_the_person_before_neutral():
    person = as_weights(validated({"food": 3.0, "price": 5.0, "service": 2.0}, ASPECTS))
    said = dict.fromkeys(ASPECTS) | {"price": 0.1, "ambience": 0.9}
    assert all_weights(said, person, ASPECTS) == {
        "food": 0.6,
        "service": 0.4,
        "ambience": 0.9,
        "price": 0.1,
        "hygiene": 0.5,
        "waiting": 0.5,
        "accessibility": 0.5,
    }


def test_nothing_at_all_is_a_value():
    assert all_weights({"food": 0.0}, {"food": 1.0}, ["food"]) == {"food": 0.0}
    assert all_weights({"food": None}, {"food": 0.0}, ["food"]) == {"food": 0.0}


@given(analyzed, weights)
def test_each_aspect_has_one_weight_and_it_is_one_of_those_given(said, person):
    found = all_weights(said, person, ASPECTS)
    assert tuple(found) == ASPECTS
    for name, weight in found.items():
        assert weight in (said.get(name), person.get(name), 0.5)
        assert 0 <= weight <= 1


@given(analyzed, weights)
def test_the_order_in_which_preferences_come_does_not_matter(said, person):
    assert all_weights(turned(said), turned(person), ASPECTS) == all_weights(said, person, ASPECTS)


@given(weights, aspect, st.floats(0, 1))
def test_a_person_who_prefers_an_aspect_more_gets_no_less_of_it(person, name, more):
    before = all_weights({}, person | {name: 0.0}, ASPECTS)
    after = all_weights({}, person | {name: more}, ASPECTS)
    assert after[name] >= before[name]
    assert after | {name: 0} == before | {name: 0}


def test_preferences_for_another_catalog_are_left_out():
    assert all_weights({"battery": 1.0}, {"noise": 1.0}, ["food"]) == {"food": 0.5}


@given(st.floats(0, 5), st.floats(0, 5))
def test_a_higher_preference_weighs_no_less(one, other):
    low, high = sorted((one, other))
    found = as_weights({"food": low, "price": high})
    assert 0 <= found["food"] <= found["price"] <= 1


def test_five_is_a_weight_of_one():
    assert as_weights({"food": 5.0, "price": 0.0}) == {"food": 1.0, "price": 0.0}


@given(preferences)
def test_good_preferences_are_kept_as_they_are_in_the_order_of_the_aspects(told):
    found = validated(turned(told), ASPECTS)
    assert found == told
    assert list(found) == [name for name in ASPECTS if name in told]


def test_whole_numbers_are_preferences_too():
    found = validated({"food": 3}, ASPECTS)
    assert found == {"food": 3.0}
    assert isinstance(found["food"], float)


@pytest.mark.parametrize(
    "value",
    [7, -0.5, 5.000001, float("nan"), float("inf"), "high", "3", True, None, [3], 10**400],
)
def test_what_is_no_preference_is_refused_with_the_aspect_named(value):
    with pytest.raises(InputError, match="preference for price must be a number from 0 to 5"):
        validated({"food": 3.0, "price": value}, ASPECTS)


def test_an_unknown_aspect_is_named_with_the_nearest_one_and_all_of_them():
    with pytest.raises(InputError, match="no aspect 'foods'.*mean 'food'.*hygiene, waiting"):
        validated({"foods": 3.0}, ASPECTS)
    with pytest.raises(InputError, match="no aspect 'battery'. The aspects are food,"):
        validated({"battery": 3.0}, ASPECTS)


def test_the_most_important_wishes_come_first():
    weighed = {"food": 0.6, "ambience": 0.9, "price": 0.1, "service": 0.5, "waiting": 0.8}
    assert preference_text(weighed) == (
        "very important: pleasant ambience, short waiting time; important: delicious food"
    )


def test_who_wishes_nothing_in_particular_says_nothing():
    assert preference_text(dict.fromkeys(ASPECTS, 0.5)) == ""
    assert preference_text({}) == ""


def test_an_aspect_of_another_catalog_is_called_by_its_name():
    assert preference_text({"battery_life": 1.0}) == "very important: good battery life"


@given(weights)
def test_the_text_does_not_depend_on_the_order_of_the_aspects(weighed):
    assert preference_text(turned(weighed)) == preference_text(weighed)


def test_only_what_somebody_speaks_of_is_spoken_of():
    said, person = {"price": 0.0, "food": None}, {"price": 0.8, "service": 0.4, "noise": 1.0}
    assert mentioned_weights(said, person, ASPECTS) == {"service": 0.4, "price": 0.0}


@given(analyzed, weights)
def test_what_is_spoken_of_weighs_as_in_the_whole(said, person):
    found = mentioned_weights(said, person, ASPECTS)
    assert found.items() <= all_weights(said, person, ASPECTS).items()
    assert set(found) == {a for a in ASPECTS if said.get(a) is not None or a in person}
