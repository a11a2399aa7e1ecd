from domain import Place
from errors import ModelError
from services.catalog.place_scores import (
    NO_CROSS_ENCODER,
    PRAISE_INSTEAD,
    aspect_scores,
    missing_reranker_notice,
)

FOOD = {"food": 1.0, "price": 0.0}


def place(id_, **aspects):
    return Place(id_, "c", id_, id_, aspects=aspects)


def test_the_best_of_the_places_compared_has_1_and_the_last_0():
    places = [place("a", food=(9, 0)), place("b", food=(0, 9)), place("c", price=(9, 0))]
    found = aspect_scores(places, {"food": (50, 50)}, FOOD)
    assert found == {"a": 1.0, "b": 0.0, "c": 0.5}


def test_places_that_are_equally_good_have_1():
    places = [place("a", price=(9, 0)), place("b", price=(0, 9))]
    assert aspect_scores(places, {}, FOOD) == {"a": 1.0, "b": 1.0}


def test_there_is_nothing_where_no_place_is_judged_or_nothing_matters():
    assert aspect_scores([place("a"), place("b")], {"food": (5, 5)}, FOOD) == {}
    assert aspect_scores([], {}, FOOD) == {}
    assert aspect_scores([place("a", food=(9, 0))], {}, {"food": 0.0}) == {}
    assert aspect_scores([place("a", food=(9, 0))], {}, {}) == {}


def test_a_notice_says_why_and_whether_something_stands_in():
    failed = ModelError("It broke off.")
    assert (missing_reranker_notice(None, False), missing_reranker_notice(None, True)) == (
        NO_CROSS_ENCODER,
        PRAISE_INSTEAD,
    )
    assert missing_reranker_notice(failed, False).endswith(
        "without the cross-encoder: It broke off."
    )
    assert missing_reranker_notice(failed, True) == (
        "The praise of reviewers is used instead of the cross-encoder: It broke off."
    )
