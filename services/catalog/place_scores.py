"""The formulas of a place's score, whose terms are from 0 to 1."""

from collections.abc import Collection, Iterable, Mapping
from math import fsum
from typing import NamedTuple
from unicodedata import normalize

from domain import Place, PlacePart
from domain.messages import _
from retrievers.rankers import min_max

PRIOR_WEIGHT = 10.0
"""The weight of the catalog's mean in `confidence`, as a number of ratings."""
PRAISE_PRIOR_WEIGHT = 3.0
"""The weight of the catalog's share of praise in `praise_share`, as a number of reviews."""

Counts = Mapping[str, tuple[int, int]]
"""The number of reviews that praise each aspect, and of those that criticize it."""


class PartWeights(NamedTuple):
    """The nonnegative weights of the terms of a score; 0 omits a term."""

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
    """A Bayesian average of the ratings, from 0 to 1: (v R + m C) / (v + m) / scale.

    R is the place's `rating`, v the number of `ratings` (at least one if there is a rating), C the
    catalog's mean (`prior_mean`), and m its `prior_weight`. This is the weighted rating by which
    IMDb ranks its top films: the posterior mean of ratings with the prior mean C.

    Args:
        rating: From 0 to `scale`; None if the place has no rating, in which case only C counts.
        ratings: Number of ratings or reviews on which the rating is based.
        prior_mean: None if no place in the catalog is rated.
        scale: The highest rating, above 0.
        prior_weight: Not negative. With the default of 10, a place with a few ratings stays near
            the mean, and one with a hundred is hardly affected by it.

    Returns:
        None if there is neither a rating nor a mean.
    """
    if rating is None:
        return None if prior_mean is None else prior_mean / scale
    if prior_mean is None:
        return rating / scale
    count = max(ratings, 1)
    share = count / (count + prior_weight)
    return min(1.0, (share * rating + (1 - share) * prior_mean) / scale)  # rounding


def type_match(types: Collection[str], desired: Collection[str] | None) -> float | None:
    """1 if the place has one of the desired types, else 0; None if no type is desired."""
    if not desired:
        return None
    composed = {normalize("NFC", each) for each in types}
    return float(any(normalize("NFC", each) in composed for each in desired))


def praise_share(
    praise: int, criticism: int, prior: float, *, prior_weight: float = PRAISE_PRIOR_WEIGHT
) -> float:
    """The estimated share of praise for an aspect, from 0 to 1: (p + m P) / (p + c + m).

    Of the place's reviews, p praise the aspect and c criticize it; the catalog's share of praise P
    (`prior`) counts as m (`prior_weight`) reviews. This is the posterior mean of a share with a
    beta prior of mean P, just as `confidence` is that of a mean rating.

    Args:
        praise: Not negative, like `criticism`.
        criticism: A review that does both counts for both.
        prior: From 0 to 1.
        prior_weight: Above 0. The default of 3 is the project's own choice: a place has about one
            review that judges an aspect for every ten ratings.
    """
    return (praise + prior_weight * prior) / (praise + criticism + prior_weight)


def praise_priors(counts: Counts, aspects: Iterable[str]) -> dict[str, float]:
    """The share of praise for each aspect in the catalog; 0.5 if no review judges it."""
    pairs = {aspect: counts.get(aspect, (0, 0)) for aspect in aspects}
    return {
        aspect: praise / (praise + criticism) if praise + criticism else 0.5
        for aspect, (praise, criticism) in pairs.items()
    }


def weighted_praise(
    counts: Counts, priors: Mapping[str, float], weights: Mapping[str, float]
) -> float | None:
    """The weighted mean of `praise_share` over the aspects of `weights`, from 0 to 1.

    `priors` must contain all of these aspects.

    Returns:
        None if no weight is above 0.
    """
    total_weight = fsum(weights.values())
    if not total_weight:
        return None
    shares = (
        (weight / total_weight) * praise_share(*counts.get(aspect, (0, 0)), priors[aspect])
        for aspect, weight in weights.items()
    )
    return fsum(shares)


def place_parts(
    values: Mapping[str, float | None], weights: PartWeights = DEFAULT_WEIGHTS
) -> tuple[PlacePart, ...]:
    """The terms of a score in the order of the weights.

    Terms without a value or with a weight of 0 are omitted.
    """
    return tuple(
        PlacePart(name, value, weight)
        for name, weight in weights._asdict().items()
        if weight and (value := values.get(name)) is not None
    )


def total(parts: Collection[PlacePart]) -> float:
    """The score: the sum of the parts' shares, regardless of their order."""
    return fsum(part.share for part in parts)


NO_CROSS_ENCODER = _(
    "No reranker is configured, so the places are ranked without a cross-encoder: set"
    " FOOTNOTE_RERANK_PROVIDER to fastembed or http."
)
PRAISE_INSTEAD = _(
    "No reranker is configured, so reviewers' praise is used instead: set"
    " FOOTNOTE_RERANK_PROVIDER to fastembed or http."
)


def aspect_scores(
    places: Collection[Place], counts: Counts, weights: Mapping[str, float]
) -> dict[str, float]:
    """The `aspects` term by document id: `weighted_praise`, scaled to 0 (worst) and 1 (best).

    If all scores are equal, they are 1. The result is empty if no weight is above 0, or if no
    review of these places judges an aspect.

    Args:
        places: The places to compare.
        counts: The counts of the whole catalog.
        weights: 0 to 1 by aspect.
    """
    if not any(place.aspects for place in places):
        return {}
    priors = praise_priors(counts, weights)
    values = [
        (place.document_id, value)
        for place in places
        if (value := weighted_praise(place.aspects, priors, weights)) is not None
    ]
    return min_max(values)


def missing_reranker_notice(error: Exception | None, is_replaced: bool) -> str:
    """Why the cross-encoder's term is missing, and whether the `aspects` term replaces it.

    `error` is the failure of the cross-encoder, or None if no cross-encoder is set.
    """
    if error is None:
        return PRAISE_INSTEAD if is_replaced else NO_CROSS_ENCODER
    if is_replaced:
        return _("Reviewers' praise is used instead of the cross-encoder: {error}").format(
            error=error
        )
    return _("The places are ranked without the cross-encoder: {error}").format(error=error)
