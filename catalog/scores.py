"""The formulas that a place's score is made of; each term is from 0 to 1."""

from collections.abc import Collection, Iterable, Mapping
from math import fsum
from typing import NamedTuple

from domain import PlacePart

PRIOR_WEIGHT = 10.0
"""As many ratings as the catalogue's mean counts for in `confidence`."""
PRAISE_PRIOR_WEIGHT = 3.0
"""As many reviews as the catalogue's share of praise counts for in `praise_share`."""

Counts = Mapping[str, tuple[int, int]]
"""By aspect, how many reviews praise it and how many blame it."""


class PartWeights(NamedTuple):
    """How much each term of a place's score weighs, none negative; 0 leaves a term out."""

    hybrid: float = 1.0
    confidence: float = 0.3
    type: float = 0.5
    cross_encoder: float = 2.0
    aspects: float = 1.0


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


def praise_share(
    praise: int, blame: int, prior: float, *, prior_weight: float = PRAISE_PRIOR_WEIGHT
) -> float:
    """How sure it is that a place is good at an aspect, from 0 to 1: (p + m P) / (p + b + m).

    Of its reviews p praise the aspect and b blame it; the catalogue's share of praise P (`prior`)
    counts for m (`prior_weight`) reviews. It is the posterior mean of a share whose prior is a
    beta distribution of mean P, as `confidence` is that of ratings. It rises with praise and falls
    with blame; of a place that nobody says anything of it is P.

    Args:
        praise: Not negative, as is `blame`.
        blame: A review that does both counts in both.
        prior: From 0 to 1.
        prior_weight: Above 0. 3 by default, the project's own choice: a place has a tenth as many
            reviews that judge one aspect as it has ratings.
    """
    return (praise + prior_weight * prior) / (praise + blame + prior_weight)


def praise_priors(told: Counts, aspects: Iterable[str]) -> dict[str, float]:
    """The share of praise among all that a catalogue's reviews say of each of these aspects.

    0.5 where they say nothing of one.
    """
    counts = {aspect: told.get(aspect, (0, 0)) for aspect in aspects}
    return {
        aspect: praise / (praise + blame) if praise + blame else 0.5
        for aspect, (praise, blame) in counts.items()
    }


def weighted_praise(
    counts: Counts, priors: Mapping[str, float], weights: Mapping[str, float]
) -> float | None:
    """How good a place is at what matters, from 0 to 1: the weighted mean of `praise_share`.

    sum(w s) / sum(w) over the aspects of `weights`, each of which `priors` has. The same for
    weights twice as high.

    Returns:
        None where no weight is above 0: nothing matters.
    """
    whole = fsum(weights.values())
    if not whole:
        return None
    shares = (
        (weight / whole) * praise_share(*counts.get(aspect, (0, 0)), priors[aspect])
        for aspect, weight in weights.items()
    )
    return fsum(shares)


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
