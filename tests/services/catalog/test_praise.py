from domain import Place
from domain.errors import ModelError
from services.catalog.place_scores import (
    NO_CROSS_ENCODER,
    PRAISE_INSTEAD,
    aspect_scores,
    missing_reranker_notice,
)

FOOD = {"food": 1.0, "price": 0.0}


def place(id_, **aspects):
    return Place(id_, "c", id_, id_, aspects=aspects)


def test_scores_range_from_0_for_the_worst_to_1_for_the_best_place():
    places = [place("a", food=(9, 0)), place("b", food=(0, 9)), place("c", price=(9, 0))]
    scores = aspect_scores(places, {"food": (50, 50)}, FOOD)
    assert scores == {"a": 1.0, "b": 0.0, "c": 0.5}


def test_equally_good_places_score_1():
    places = [place("a", price=(9, 0)), place("b", price=(0, 9))]
    assert aspect_scores(places, {}, FOOD) == {"a": 1.0, "b": 1.0}


def test_without_judgments_or_wishes_there_are_no_scores():
    assert aspect_scores([place("a"), place("b")], {"food": (5, 5)}, FOOD) == {}
    assert aspect_scores([], {}, FOOD) == {}
    assert aspect_scores([place("a", food=(9, 0))], {}, {"food": 0.0}) == {}
    assert aspect_scores([place("a", food=(9, 0))], {}, {}) == {}


def test_the_notice_has_the_reason_and_the_replacement():
    error = ModelError("It broke off.")
    assert (missing_reranker_notice(None, False), missing_reranker_notice(None, True)) == (
        NO_CROSS_ENCODER,
        PRAISE_INSTEAD,
    )
    assert missing_reranker_notice(error, False).endswith(
        "without the cross-encoder: It broke off."
    )
    assert missing_reranker_notice(error, True) == (
        "Reviewers' praise is used instead of the cross-encoder: It broke off."
    )
