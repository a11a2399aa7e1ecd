"""Which places answer a labelled question, worked out from how good they are made to be.

A made catalogue knows how good each of its places is at each aspect, which its reviews only tell
in words. So the right places of a question need no hand-picking.
"""

from collections.abc import Iterable, Mapping

from domain import Place, values_of
from evaluation.catalogue import HEDGED, WANTED
from evaluation.catalogue_questions import CatalogueQuestion

ACCEPTABLE = 5
"""So many places are acceptable at most."""
MATTERS = {WANTED: 0.9, HEDGED: 0.6}
"""How much an aspect counts; one that the question is indifferent to does not."""

Qualities = Mapping[str, Mapping[str, float]]
"""By place id, how good the place is at each aspect, from 0 to 1."""


def acceptable_places(
    question: CatalogueQuestion, places: Iterable[Place], qualities: Qualities
) -> tuple[str, ...]:
    """The ids of the places that answer the question best, the best first, at most five.

    They have what its filters ask for and one of the types it wants, and nothing it turns down.
    Their order is that of the aspects it cares for, weighted by how much; then of the rating.
    """
    fitting = [place for place in places if fits(question, place)]

    def order(place: Place) -> tuple[float, float, str]:
        return -merit(question, qualities[place.place_id]), -(place.rating or 0), place.place_id

    return tuple(place.place_id for place in sorted(fitting, key=order)[:ACCEPTABLE])


def fits(question: CatalogueQuestion, place: Place) -> bool:
    """Whether the place is one that the question asks for, however good it is."""
    asked = question.filters
    return (
        all(place.fields.get(name) in values_of(value) for name, value in asked.fields.items())
        and (asked.desired_types is None or not set(asked.desired_types).isdisjoint(place.types))
        and (asked.min_rating is None or (place.rating or 0) >= asked.min_rating)
        and set(question.unwanted).isdisjoint({*place.types, *place.fields.values()})
    )


def merit(question: CatalogueQuestion, qualities: Mapping[str, float]) -> float:
    """How good a place is at what the question cares for: the weighted sum of its qualities."""
    counted = ((name, MATTERS[how]) for name, how in question.aspects.items() if how in MATTERS)
    return round(sum(weight * qualities[name] for name, weight in counted), 9)
