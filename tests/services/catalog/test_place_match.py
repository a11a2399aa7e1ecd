import pytest

from domain import CatalogFilters, CatalogQuery, Place, PlaceHit
from services.catalog.place_match import (
    TYPE,
    is_recognized,
    match_groups,
    requests_of,
    unmet_requests,
)

QUERY = CatalogQuery(
    "quiet Italian, price does not matter",
    "",
    CatalogFilters({"borough": "Queens"}, ("italian_restaurant",)),
    {"ambience": 0.9, "price": 0.1, "food": None},
)


def hit(types=("italian_restaurant",), **aspects):
    place = Place("d1", "c1", "p1", "Lucia", types=types, aspects=aspects)
    return PlaceHit(place, 1.0, ())


def test_a_question_requests_its_types_and_the_aspects_it_calls_important():
    assert requests_of(QUERY) == (TYPE, "ambience")


@pytest.mark.parametrize(
    ("place", "unmet"),
    [
        (hit(ambience=(3, 1)), ()),
        (hit(("bar",), ambience=(3, 1)), (TYPE,)),
        (hit(("bar", "italian_restaurant"), ambience=(3, 1)), ()),
        (hit(ambience=(2, 2)), ("ambience",)),
        (hit(price=(3, 1)), ("ambience",)),
        (hit((), ambience=(0, 4)), (TYPE, "ambience")),
    ],
)
def test_an_aspect_is_met_if_more_reviews_praise_than_criticize_it(place, unmet):
    assert unmet_requests(place.place, QUERY) == unmet


def test_groups_begin_with_full_matches_and_keep_the_ranks():
    good, loud, bar = hit(ambience=(3, 1)), hit(ambience=(1, 3)), hit(("bar",), ambience=(3, 0))
    groups = match_groups([loud, good, bar, bar, good], QUERY)
    assert [(group.unmet, [rank for rank, _ in group.hits]) for group in groups] == [
        ((), [2, 5]),
        ((TYPE,), [3, 4]),
        (("ambience",), [1]),
    ]


def test_more_than_three_kinds_of_matches_are_merged_into_a_mixed_group():
    kinds = [hit(ambience=(3, 1)), hit(), hit(("bar",), ambience=(3, 1)), hit(("bar",))]
    groups = match_groups(kinds, QUERY)
    assert [group.is_mixed for group in groups] == [False, False, True]
    assert [rank for rank, _ in groups[-1].hits] == [3, 4]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (CatalogQuery("?", ""), False),
        (CatalogQuery("?", "", aspect_weights={"food": None}), False),
        (CatalogQuery("?", "", aspect_weights={"food": 0.1}), True),
        (CatalogQuery("?", "", CatalogFilters(min_rating=4.0)), True),
        (CatalogQuery("?", "", CatalogFilters(declined_types=("bar",))), True),
    ],
)
def test_a_question_is_recognized_by_any_filter_type_or_aspect(query, expected):
    assert is_recognized(query) is expected
