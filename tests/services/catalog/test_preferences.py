import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ASPECTS
from domain.errors import InputError
from services.catalog.preferences import (
    all_weights,
    as_weights,
    mentioned_weights,
    preference_text,
    validate_preferences,
)

aspect = st.sampled_from(ASPECTS)
preferences = st.dictionaries(aspect, st.floats(0, 5))
weights = st.dictionaries(aspect, st.floats(0, 1))
analyzed = st.dictionaries(aspect, st.none() | st.floats(0, 1))


def reverse_order(mapping):
    return dict(reversed(mapping.items()))


def test_weights_of_the_question_override_the_person_and_the_neutral_default():
    person = as_weights(validate_preferences({"food": 3.0, "price": 5.0, "service": 2.0}, ASPECTS))
    question = dict.fromkeys(ASPECTS) | {"price": 0.1, "ambience": 0.9}
    assert all_weights(question, person, ASPECTS) == {
        "food": 0.6,
        "service": 0.4,
        "ambience": 0.9,
        "price": 0.1,
        "hygiene": 0.5,
        "waiting": 0.5,
        "accessibility": 0.5,
    }


def test_zero_is_a_valid_weight():
    assert all_weights({"food": 0.0}, {"food": 1.0}, ["food"]) == {"food": 0.0}
    assert all_weights({"food": None}, {"food": 0.0}, ["food"]) == {"food": 0.0}


@given(analyzed, weights)
def test_each_aspect_has_the_weight_of_the_question_the_person_or_neutral(question, person):
    merged = all_weights(question, person, ASPECTS)
    assert tuple(merged) == ASPECTS
    for name, weight in merged.items():
        assert weight in (question.get(name), person.get(name), 0.5)
        assert 0 <= weight <= 1


@given(analyzed, weights)
def test_the_order_of_preferences_does_not_matter(question, person):
    assert all_weights(reverse_order(question), reverse_order(person), ASPECTS) == all_weights(
        question, person, ASPECTS
    )


@given(weights, aspect, st.floats(0, 1))
def test_a_higher_preference_never_lowers_the_weight(person, name, preference):
    before = all_weights({}, person | {name: 0.0}, ASPECTS)
    after = all_weights({}, person | {name: preference}, ASPECTS)
    assert after[name] >= before[name]
    assert after | {name: 0} == before | {name: 0}


def test_preferences_for_other_aspects_are_ignored():
    assert all_weights({"battery": 1.0}, {"noise": 1.0}, ["food"]) == {"food": 0.5}


@given(st.floats(0, 5), st.floats(0, 5))
def test_weights_are_ordered_like_preferences(first, second):
    low, high = sorted((first, second))
    merged = as_weights({"food": low, "price": high})
    assert 0 <= merged["food"] <= merged["price"] <= 1


def test_five_is_a_weight_of_one():
    assert as_weights({"food": 5.0, "price": 0.0}) == {"food": 1.0, "price": 0.0}


@given(preferences)
def test_valid_preferences_are_returned_in_the_order_of_the_aspects(valid):
    result = validate_preferences(reverse_order(valid), ASPECTS)
    assert result == valid
    assert list(result) == [name for name in ASPECTS if name in valid]


def test_integers_are_converted_to_floats():
    result = validate_preferences({"food": 3}, ASPECTS)
    assert result == {"food": 3.0}
    assert isinstance(result["food"], float)


@pytest.mark.parametrize(
    "value",
    [7, -0.5, 5.000001, float("nan"), float("inf"), "high", "3", True, None, [3], 10**400],
)
def test_an_invalid_preference_is_rejected_with_its_aspect(value):
    with pytest.raises(InputError, match="preference for price must be a number from 0 to 5"):
        validate_preferences({"food": 3.0, "price": value}, ASPECTS)


def test_an_unknown_aspect_is_rejected_with_a_suggestion_and_a_list():
    with pytest.raises(InputError, match="no aspect 'foods'.*mean 'food'.*hygiene, waiting"):
        validate_preferences({"foods": 3.0}, ASPECTS)
    with pytest.raises(InputError, match="no aspect 'battery'. The aspects are food,"):
        validate_preferences({"battery": 3.0}, ASPECTS)


def test_the_most_important_wishes_come_first():
    wishes = {"food": 0.6, "ambience": 0.9, "price": 0.1, "service": 0.5, "waiting": 0.8}
    assert preference_text(wishes) == (
        "very important: pleasant ambience, short waiting time; important: delicious food"
    )


def test_neutral_wishes_have_no_text():
    assert preference_text(dict.fromkeys(ASPECTS, 0.5)) == ""
    assert preference_text({}) == ""


def test_a_custom_aspect_is_described_by_its_name():
    assert preference_text({"battery_life": 1.0}) == "very important: good battery life"


@given(weights)
def test_the_text_does_not_depend_on_the_order_of_the_aspects(wishes):
    assert preference_text(reverse_order(wishes)) == preference_text(wishes)


def test_only_weights_of_the_question_or_the_person_are_included():
    question, person = {"price": 0.0, "food": None}, {"price": 0.8, "service": 0.4, "noise": 1.0}
    assert mentioned_weights(question, person, ASPECTS) == {"service": 0.4, "price": 0.0}


@given(analyzed, weights)
def test_mentioned_weights_agree_with_all_weights(question, person):
    mentioned = mentioned_weights(question, person, ASPECTS)
    assert mentioned.items() <= all_weights(question, person, ASPECTS).items()
    assert set(mentioned) == {a for a in ASPECTS if question.get(a) is not None or a in person}
