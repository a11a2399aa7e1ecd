"""What stands in for the cross-encoder: whether reviewers praise what matters to the person."""

from collections.abc import Iterable, Mapping

from catalog.scores import Counts, praise_priors, weighted_praise
from domain import Place
from retrievers.fusion import min_max

NO_CROSS_ENCODER = (
    "No reranker is set, so the places are ranked without a cross-encoder: set"
    " FOOTNOTE_RERANK_PROVIDER to fastembed or http."
)
PRAISE_INSTEAD = (
    "No reranker is set, so what reviewers praise stands in for it: set"
    " FOOTNOTE_RERANK_PROVIDER to fastembed or http."
)


def praised(
    places: Iterable[Place], told: Counts, weights: Mapping[str, float]
) -> dict[str, float]:
    """The term by document id: `weighted_praise`, scaled so that the best is 1 and the last 0.

    All are 1 where all are equal. Empty where nothing matters to the person, or no review of
    these places judges an aspect.

    Args:
        places: Those that are compared.
        told: What the reviews of the whole catalogue say.
        weights: 0 to 1 by aspect.
    """
    compared = list(places)
    if not any(place.aspects for place in compared):
        return {}
    priors = praise_priors(told, weights)
    values = [
        (place.document_id, value)
        for place in compared
        if (value := weighted_praise(place.aspects, priors, weights)) is not None
    ]
    return min_max(values)


def notice(error: Exception | None, is_replaced: bool) -> str:
    """Why there is no cross-encoder's term, and whether this one stands in for it.

    `error` is what it failed with, None where none is set.
    """
    if error is None:
        return PRAISE_INSTEAD if is_replaced else NO_CROSS_ENCODER
    if is_replaced:
        return f"What reviewers praise stands in for the cross-encoder: {error}"
    return f"The places are ranked without the cross-encoder: {error}"
