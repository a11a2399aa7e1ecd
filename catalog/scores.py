"""The formulas that a place's score is made of; each term is from 0 to 1."""

from collections.abc import Collection, Mapping
from math import fsum
from typing import NamedTuple

from domain import PlacePart

PRIOR_WEIGHT = 10.0
"""As many ratings as the catalogue's mean counts for in `confidence`."""


class PartWeights(NamedTuple):
    """How much each term of a place's score weighs, none negative; 0 leaves a term out."""

    hybrid: float = 1.0
    confidence: float = 0.3
    type: float = 0.5
    cross_encoder: float = 2.0


DEFAULT_WEIGHTS = PartWeights()


def confidence(
    rating: float | None,
    ratings: int,
    prior_mean: float | None,
    *,
    scale: float,
    prior_weight: float = PRIOR_WEIGHT,
) -> float | None:
    """How good a place is with how sure that is, from 0 to 1: a Bayesian average.

    (v R + m C) / (v + m), divided by the scale: the place's `rating` R rests on v `ratings`, and
    the catalogue's mean C (`prior_mean`) counts for m (`prior_weight`) ratings. It is the weighted
    rating that IMDb ranks its top films by, the posterior mean of ratings whose prior is C. The
    more ratings, the nearer it is to R. A rating that is there rests on one rating at least.

    Args:
        rating: From 0 to `scale`; None where nobody rated the place, and then C alone counts.
        ratings: How many ratings or reviews it rests on.
        prior_mean: None where no place of the catalogue is rated.
        scale: The highest rating, above 0.
        prior_weight: Not negative. 10 by default: a few reviews leave a place near the mean, a
            hundred hardly.

    Returns:
        None where there is neither a rating nor a mean: nothing can be said.
    """
    if rating is None:
        return None if prior_mean is None else prior_mean / scale
    if prior_mean is None:
        return rating / scale
    count = max(ratings, 1)
    share = count / (count + prior_weight)
    return (share * rating + (1 - share) * prior_mean) / scale


def type_match(types: Collection[str], desired: Collection[str] | None) -> float | None:
    """1 where the place is of one of the desired types, else 0; None where none is desired."""
    if not desired:
        return None
    return float(any(each in types for each in desired))


def place_parts(
    values: Mapping[str, float | None], weights: PartWeights = DEFAULT_WEIGHTS
) -> tuple[PlacePart, ...]:
    """The terms of a score in the order of the weights, from their values by name.

    A term without a value, or with a weight of 0, is left out.
    """
    return tuple(
        PlacePart(name, value, weight)
        for name, weight in weights._asdict().items()
        if weight and (value := values.get(name)) is not None
    )


def total(parts: Collection[PlacePart]) -> float:
    """The score: the sum of the parts' shares, the same in whatever order they come."""
    return fsum(part.share for part in parts)
