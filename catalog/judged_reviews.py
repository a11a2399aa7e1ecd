"""What reviews say of aspects, read once for all questions: when their place is imported."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from domain import Aspect, Review
from loaders.catalogue.judge import Judged, Judging

if TYPE_CHECKING:
    from catalog.lexicon import Lexicon, Mention

LEXICON_VERSION = 2
"""Raise it when built-in words, how they are read, or what is a pattern change: places are then
imported again."""


def judge_of(aspects: Sequence[Aspect]) -> Judging:
    """What judges the reviews of a place: aspects in this order, and all of its patterns.

    A review counts once for praise and once for blame of an aspect, however often it says so;
    aspects that no review judges are left out.
    """
    from catalog.lexicon import Lexicon  # slow, and many imports are of no catalogue
    from catalog.patterns import find_patterns

    lexicon, names = Lexicon(aspects), [aspect.name for aspect in aspects]

    def judge(text: str, reviews: Sequence[Review]) -> Judged:
        read = _ReadOnce(lexicon)
        counts = _counts(text, reviews, read)
        both = {name: (counts[name, True], counts[name, False]) for name in names}
        judged = {name: counted for name, counted in both.items() if any(counted)}
        return Judged(judged, find_patterns(text, reviews, read, aspects=names, top=None))

    return judge


class _ReadOnce:
    """A lexicon that knows the mentions of texts that it has read; reading takes the most time."""

    def __init__(self, lexicon: "Lexicon") -> None:
        self._lexicon = lexicon
        self._known: dict[str, list[Mention]] = {}

    def mentions(self, text: str) -> "list[Mention]":
        """See `Lexicon.mentions`."""
        if text not in self._known:
            self._known[text] = self._lexicon.mentions(text)
        return self._known[text]


def _counts(
    text: str, reviews: Sequence[Review], read: _ReadOnce
) -> Counter[tuple[str, bool | None]]:
    """By aspect and judgement, how many reviews say so."""
    texts = (text[review.start : review.end] for review in reviews)
    return Counter(
        said
        for one in texts
        for said in {(each.aspect, each.praises) for each in read.mentions(one)}
    )
