"""Labels the restaurants that answer the sample questions.

`python -m benchmarks.sample_catalogs.label_questions` updates the file of questions.

The interpretation of each question is written by hand. The acceptable places are computed from it
and from the generated qualities of the restaurants.
"""

import json
from collections.abc import Iterable, Mapping

from benchmarks.sample_catalogs.generate import CATALOGS
from benchmarks.sample_catalogs.restaurants import Restaurant, qualities, restaurants
from domain import Place, values_of
from services.evaluation.catalog_figures import (
    DESIRED,
    HEDGED,
    CatalogQuestion,
    load_catalog_questions,
)

ACCEPTABLE = 5
"""Maximum number of acceptable places per question."""
MATTERS = {DESIRED: 0.9, HEDGED: 0.6}
"""The weight of an aspect by bucket; indifferent aspects do not count."""

Qualities = Mapping[str, Mapping[str, float]]
"""The quality of each place by place id and aspect, from 0 to 1."""

QUESTIONS = CATALOGS / "restaurants" / "questions.jsonl"


def labeled_questions() -> str:
    """The text of the file of questions, with recomputed acceptable places."""
    places = [_place(one) for one in restaurants()]
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    for row, question in zip(rows, load_catalog_questions(QUESTIONS), strict=True):
        row["acceptable"] = list(acceptable_places(question, places, qualities()))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def acceptable_places(
    question: CatalogQuestion, places: Iterable[Place], qualities: Qualities
) -> tuple[str, ...]:
    """The ids of the places that answer the question best, at most five, best first.

    They match all filters, have one of the desired types, and have no unwanted type or value. They
    are ordered by `merit`, then by rating, then by id.
    """
    fitting = [place for place in places if fits(question, place)]

    def order(place: Place) -> tuple[float, float, str]:
        return -merit(question, qualities[place.place_id]), -(place.rating or 0), place.place_id

    return tuple(place.place_id for place in sorted(fitting, key=order)[:ACCEPTABLE])


def fits(question: CatalogQuestion, place: Place) -> bool:
    """Whether the place meets the question's requirements, regardless of its quality."""
    filters = question.filters
    return (
        all(place.fields.get(name) in values_of(value) for name, value in filters.fields.items())
        and (
            filters.desired_types is None or not set(filters.desired_types).isdisjoint(place.types)
        )
        and (filters.min_rating is None or (place.rating or 0) >= filters.min_rating)
        and set(question.unwanted).isdisjoint({*place.types, *place.fields.values()})
    )


def merit(question: CatalogQuestion, qualities: Mapping[str, float]) -> float:
    """The sum of the place's qualities, weighted by their importance to the question."""
    counted = ((name, MATTERS[how]) for name, how in question.aspects.items() if how in MATTERS)
    return round(sum(weight * qualities[name] for name, weight in counted), 9)


def _place(restaurant: Restaurant) -> Place:
    return Place(
        document_id=restaurant.place_id,
        catalogue_id="",
        place_id=restaurant.place_id,
        title=restaurant.name,
        types=tuple(restaurant.types),
        fields={"borough_en": restaurant.borough},
        rating=restaurant.rating,
    )


if __name__ == "__main__":
    QUESTIONS.write_text(labeled_questions(), encoding="utf-8", newline="\n")
