"""Who reads what reviews praise and blame: a loader has their texts, but knows no words."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from domain import Aspect

Counting = Callable[[Sequence[str]], Mapping[str, tuple[int, int]]]
"""From the texts of a place's reviews, by aspect how many praise it and how many blame it."""


class Judge(NamedTuple):
    """Counts praise and blame of aspects; see `catalog.judged_reviews`.

    `version` is that of the words it knows by itself: with another one places are read again.
    """

    version: int
    of: Callable[[Sequence[Aspect]], Counting]


def _nothing(_aspects: Sequence[Aspect]) -> Counting:
    return lambda _reviews: {}


NO_JUDGE = Judge(0, _nothing)
"""Finds nothing said of any aspect."""
