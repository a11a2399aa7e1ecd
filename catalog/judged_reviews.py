"""Counts what reviews praise and blame, once for all questions: when their place is imported."""

from collections import Counter
from collections.abc import Callable, Sequence

from domain import Aspect

LEXICON_VERSION = 1
"""Raise it when built-in words or how they are read change: places are then imported again."""


def judge_of(aspects: Sequence[Aspect]) -> Callable[[Sequence[str]], dict[str, tuple[int, int]]]:
    """What counts for the reviews of a place, in the order of these aspects.

    It gives for each aspect that they judge how many praise and how many blame it. A review counts
    once for praise and once for blame, however often it says so.
    """
    from catalog.lexicon import Lexicon  # slow, and many imports are of no catalogue

    lexicon = Lexicon(aspects)

    def counts(reviews: Sequence[str]) -> dict[str, tuple[int, int]]:
        said = Counter(
            each
            for review in reviews
            for each in {(one.aspect, one.praises) for one in lexicon.mentions(review)}
        )
        both = {one.name: (said[one.name, True], said[one.name, False]) for one in aspects}
        return {name: counted for name, counted in both.items() if any(counted)}

    return counts
