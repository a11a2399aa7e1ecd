"""What the reviewers of a place say again and again, with the words of those who say it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from chains.quotes import proves_something
from domain import ASPECTS, Pattern, Quote, Review
from language.normalise import fold
from language.sentences import split_sentences

TOP = 10
"""How many patterns of a place are kept."""
AGAIN = 2
"""How many reviews must say something for it to be a pattern."""
QUOTES = 3
"""How many quotes a pattern has at most."""
TAGS = 4
"""How many tags a place has at most."""
CLEARLY = 2
"""How many times as many reviews must praise an aspect as blame it, for it to be a tag."""
FITTING_CHARS = range(12, 121)
"""Shorter sentences tell little, longer ones are not read; both are quoted last."""


class Mentioned(Protocol):
    """A place in a text that speaks of an aspect; `praises` is None where it does not judge."""

    @property
    def aspect(self) -> str: ...  # noqa: D102  # the class says it
    @property
    def start(self) -> int: ...  # noqa: D102  # the same
    @property
    def praises(self) -> bool | None: ...  # noqa: D102  # the same


class FindsMentions(Protocol):
    """What finds them, such as `catalog.lexicon.Lexicon`."""

    def mentions(self, text: str) -> Sequence[Mentioned]:
        """Those in the text."""
        ...


class _Saying(NamedTuple):
    """A sentence of a review that praises or blames an aspect; clearer ones sort first."""

    is_two_faced: bool
    proves_little: bool
    other_mentions: int
    does_not_fit: bool
    start: int
    end: int


_Key = tuple[str, str, bool]


def find_patterns(
    text: str,
    reviews: Sequence[Review],
    lexicon: FindsMentions,
    *,
    aspects: Sequence[str] = ASPECTS,
    top: int | None = TOP,
) -> tuple[Pattern, ...]:
    """What at least two reviews of one group say of an aspect, the most frequent first.

    Equally frequent ones are ordered by their share of the group's reviews, then in the order of
    `aspects`, praise before blame, then by group. A review that both praises and blames an aspect
    counts for both, but is quoted last. Reviews of no group form the group "".

    Args:
        text: The text of the place's document.
        reviews: Where its reviews stand in it.
        lexicon: Finds what the reviews speak of.
        aspects: Their order; those that are not in it come last, by name.
        top: How many to give, all with None.
    """
    sayings: defaultdict[_Key, dict[int, _Saying]] = defaultdict(dict)
    for index, review in enumerate(reviews):
        for (aspect, praises), saying in _said(text, review, lexicon).items():
            sayings[review.group, aspect, praises][index] = saying
    sizes = Counter(review.group for review in reviews)
    found = [
        _pattern(text, key, list(said.values()), sizes[key[0]])
        for key, said in sayings.items()
        if len(said) >= AGAIN
    ]
    order = {name: at for at, name in enumerate(aspects)}
    ranked = sorted(found, key=lambda pattern: _rank(pattern, order))[:top]
    return tuple(
        Pattern(one.aspect, one.group, one.praises, one.count, one.reviews, one.quotes, rank)
        for rank, one in enumerate(ranked, start=1)
    )


def tags_of(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """The aspects that a place is known for: at most four, the most clearly praised first.

    Over all groups at least twice as many reviews praise them as blame them. Blame is only known
    of as far as `patterns` tell: give all of them, not the top ones alone.
    """
    praise: Counter[str] = Counter()
    blame: Counter[str] = Counter()
    for pattern in patterns:
        (praise if pattern.praises else blame)[pattern.aspect] += pattern.count
    known = [aspect for aspect in praise if praise[aspect] >= CLEARLY * blame[aspect]]
    return tuple(sorted(known, key=lambda aspect: blame[aspect] - praise[aspect])[:TAGS])


def _said(text: str, review: Review, lexicon: FindsMentions) -> Mapping[tuple[str, bool], _Saying]:
    """The clearest sentence for each aspect that the review praises or blames."""
    clearest: dict[tuple[str, bool], _Saying] = {}
    judged: defaultdict[str, set[bool]] = defaultdict(set)
    sentences = list(_sentences(text, review, lexicon))
    for _, _, mentions in sentences:
        for aspect, praises in mentions:
            judged[aspect].add(praises)
    for start, end, mentions in sentences:
        for aspect, praises in dict.fromkeys(mentions):
            is_two_faced = len(judged[aspect]) > 1
            saying = _saying(text[start:end], start, end, len(mentions) - 1, is_two_faced)
            before = clearest.get((aspect, praises), saying)
            clearest[aspect, praises] = min(before, saying)
    return clearest


def _sentences(
    text: str, review: Review, lexicon: FindsMentions
) -> Iterator[tuple[int, int, list[tuple[str, bool]]]]:
    """The sentences of the review in the document, with what each praises or blames."""
    own = text[review.start : review.end]
    mentions = lexicon.mentions(own)
    for start, end in split_sentences(own):
        inside = [
            (mention.aspect, mention.praises)
            for mention in mentions
            if start <= mention.start < end and mention.praises is not None
        ]
        yield review.start + start, review.start + end, inside


def _saying(sentence: str, start: int, end: int, others: int, is_two_faced: bool) -> _Saying:
    fits = len(sentence) in FITTING_CHARS
    return _Saying(is_two_faced, not proves_something(sentence), others, not fits, start, end)


def _pattern(text: str, key: _Key, sayings: Sequence[_Saying], reviews: int) -> Pattern:
    group, aspect, praises = key
    quotes: dict[str, Quote] = {}
    for said in sorted(sayings):
        words = text[said.start : said.end]
        quotes.setdefault(fold(words), Quote(words, said.start, said.end))
    few = tuple(quotes.values())[:QUOTES]
    return Pattern(aspect, group, praises, len(sayings), reviews, few)


def _rank(pattern: Pattern, order: Mapping[str, int]) -> tuple[float | str | bool, ...]:
    share = pattern.count / pattern.reviews
    place = order.get(pattern.aspect, len(order))
    return -pattern.count, -share, place, pattern.aspect, not pattern.praises, pattern.group
