"""Who reads what reviews praise and blame: a loader has their texts, but knows no words."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from domain import Aspect, Pattern, Review


class Judged(NamedTuple):
    """What the reviews of a place say.

    `aspects` has by aspect how many praise it and how many blame it, `patterns` what they say
    again and again, by rank.
    """

    aspects: Mapping[str, tuple[int, int]]
    patterns: Sequence[Pattern]


Judging = Callable[[str, Sequence[Review]], Judged]
"""Judges the text of a place's document by the reviews that stand in it."""


class Judge(NamedTuple):
    """Reads what reviews say of aspects; see `catalog.judged_reviews`.

    `version` is that of the words it knows by itself: with another one places are read again.
    """

    version: int
    of: Callable[[Sequence[Aspect]], Judging]


def _nothing(_aspects: Sequence[Aspect]) -> Judging:
    return lambda _text, _reviews: Judged({}, ())


NO_JUDGE = Judge(0, _nothing)
"""Finds nothing said of any aspect."""
