"""Merging ranked lists: reciprocal rank fusion and the convex combination of scores."""

from collections.abc import Mapping, Sequence

Scored = tuple[str, float]

RRF_C = 60  # Cormack, Clarke and Büttcher, SIGIR 2009


def fuse_reciprocal_ranks(
    rankings: Sequence[Sequence[str]],
    *,
    weights: Sequence[float] | None = None,
    c: int = RRF_C,
) -> list[Scored]:
    """Merge ranked lists of ids by weighted reciprocal rank.

    An id scores the sum of weight / (c + rank) over the lists that hold it, ranks from 1.
    Scores compare ids within one call only.

    Args:
        rankings: Lists of distinct ids, best first. Empty lists are allowed.
        weights: One per list; equal if not given.
        c: Damping; the larger, the less the first ranks dominate.

    Returns:
        `(id, score)` for every id seen, best first; ties keep the order of first sight.

    Raises:
        ValueError: `c` is negative, or there are not as many weights as lists.
    """
    if c < 0:
        raise ValueError(f"c must not be negative, got {c}")
    weights = [1.0] * len(rankings) if weights is None else weights
    scores: dict[str, float] = {}
    for weight, ranking in zip(weights, rankings, strict=True):
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (c + rank)
    return _best_first(scores)


def combine_convex(
    dense: Sequence[Scored], sparse: Sequence[Scored], *, dense_weight: float
) -> list[Scored]:
    """Merge two scored lists by a convex combination of their min-max normalised scores.

    Each list is scaled to [0, 1] over its own candidates; an id that a list does not hold
    scores 0 there. A list whose scores are all equal counts as 1 throughout. Where one list
    is empty the other has all the weight (after Bruch, Gai and Ingber, "An Analysis of
    Fusion Functions for Hybrid Retrieval", TOIS 2023).

    Returns:
        `(id, score in [0, 1])` for the union of both lists, best first; ties keep the order
        of first sight, sparse list first: the best of two lists without a common id tie, and one
        of them holds the very words.

    Raises:
        ValueError: `dense_weight` is outside [0, 1].
    """
    if not 0 <= dense_weight <= 1:
        raise ValueError(f"dense_weight must be in [0, 1], got {dense_weight}")
    if not (dense and sparse):
        dense_weight = 1.0 if dense else 0.0
    left, right = _normalise(dense), _normalise(sparse)
    union = dict.fromkeys([*right, *left])
    return _best_first(
        {
            item: dense_weight * left.get(item, 0.0) + (1 - dense_weight) * right.get(item, 0.0)
            for item in union
        }
    )


def _normalise(scored: Sequence[Scored]) -> dict[str, float]:
    if not scored:
        return {}
    lowest = min(score for _, score in scored)
    spread = max(score for _, score in scored) - lowest
    if spread == 0:
        return {item: 1.0 for item, _ in scored}
    return {item: (score - lowest) / spread for item, score in scored}


def _best_first(scores: Mapping[str, float]) -> list[Scored]:
    return sorted(scores.items(), key=lambda pair: -pair[1])
