"""How well questions about a catalogue are understood, and how well their places are ranked.

Pure figures over labelled questions; `evaluation.catalogue_questions` reads such a set.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from domain import CatalogueFilters, values_of
from evaluation.metrics import Estimate

WANTED, HEDGED, INDIFFERENT = "wanted", "hedged", "indifferent"
BUCKETS = (WANTED, HEDGED, INDIFFERENT)
"""How much a question cares for an aspect that it mentions."""
WANTED_FROM, HEDGED_FROM = 0.75, 0.4


def bucket(weight: float) -> str:
    """How much a weight from 0 to 1 cares: wanted from 0.75, hedged from 0.4, else indifferent."""
    if weight >= WANTED_FROM:
        return WANTED
    return HEDGED if weight >= HEDGED_FROM else INDIFFERENT


def filters_right(
    expected: CatalogueFilters, understood: CatalogueFilters, fields: Sequence[str]
) -> list[bool]:
    """Whether each filter was understood exactly: `fields` in order, types, least rating.

    Types and several values of a field are compared as sets; a filter that nobody asked for is
    right where it is not set.
    """
    named = [_values(expected, name) == _values(understood, name) for name in fields]
    types = set(expected.desired_types or ()) == set(understood.desired_types or ())
    return [*named, types, expected.min_rating == understood.min_rating]


def _values(filters: CatalogueFilters, field: str) -> set[str]:
    return set(values_of(filters.fields.get(field, ())))


class AspectCount(NamedTuple):
    """Aspects of a question: `right` ones of those it mentions, and of those understood in it."""

    right: int
    mentioned: int
    understood: int


def count_aspects(
    expected: Mapping[str, str], understood: Mapping[str, float | None]
) -> AspectCount:
    """How many aspects were understood as the question means them: in the same bucket.

    `expected` has the bucket of each aspect that the question mentions, `understood` the weight
    of every aspect, None where the analysis finds no mention.
    """
    found = {name: bucket(weight) for name, weight in understood.items() if weight is not None}
    right = sum(found.get(name) == how for name, how in expected.items())
    return AspectCount(right, len(expected), len(found))


def grades(acceptable: Sequence[str]) -> dict[str, int]:
    """The gain of each acceptable place, the best first: 5 for it, then 4, and never below 1."""
    return {place: max(5 - rank, 1) for rank, place in enumerate(acceptable)}


def estimate_ratio(
    parts: Sequence[tuple[float, float]],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """The sum of all firsts over the sum of all seconds, with its bootstrap interval.

    Each pair is one question's, such as aspects right and aspects mentioned, and whole questions
    are drawn: what one question mentions is not independent. Otherwise it is the percentile
    interval of `metrics.estimate`, the same at each call. Draws without any second are left out.

    Raises:
        ValueError: The seconds sum to nothing.
    """
    import numpy as np

    known = np.asarray(parts, dtype=float).reshape(-1, 2)
    above, below = known.sum(axis=0)
    if not below:
        raise ValueError("there is nothing to have a share of")
    draw = np.random.default_rng(seed).integers(len(known), size=(resamples, len(known)))
    sums = known[draw].sum(axis=1)
    some = sums[sums[:, 1] > 0]
    low, high = np.quantile(some[:, 0] / some[:, 1], [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(above / below), float(low), float(high))
