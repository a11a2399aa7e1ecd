"""Finds opinions that several reviewers of a place share, with quotes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from chains.citations.quotes import proves_something
from domain import ASPECTS, Aspect, Pattern, Quote, Review
from domain.language.script import fold
from domain.language.sentences import split_sentences
from loaders.catalog.catalog_data import ReviewFindings, ReviewJudge

if TYPE_CHECKING:
    from services.catalog.lexicon import Mention

MentionsOf = Callable[[str], "Sequence[Mention]"]
"""Finds the mentions of aspects in a text."""


LEXICON_VERSION = 2
"""Raise it when the built-in words, their interpretation, or the definition of a pattern changes,
so that places are imported again."""


class PatternJudge(ReviewJudge):
    """Judges reviews by the words of a lexicon, and finds all patterns.

    A review counts at most once as praise and once as criticism of an aspect. Aspects keep their
    order; those that no review judges are omitted.
    """

    version = LEXICON_VERSION

    def __init__(self, aspects: Sequence[Aspect]) -> None:
        from services.catalog.lexicon import Lexicon  # slow, and most imports don't need it

        self._mentions_of = Lexicon(aspects).mentions
        self._aspects = [aspect.name for aspect in aspects]

    def judge(self, text: str, reviews: Sequence[Review]) -> ReviewFindings:
        """Find the aspects and patterns in the reviews of one place."""
        mentions_of = cache(self._mentions_of)  # finding mentions takes most of the time
        counts = _counts(text, reviews, mentions_of)
        pairs = {name: (counts[name, True], counts[name, False]) for name in self._aspects}
        return ReviewFindings(
            {name: pair for name, pair in pairs.items() if any(pair)},
            find_patterns(text, reviews, mentions_of, aspects=self._aspects, top=None),
        )


def _counts(
    text: str, reviews: Sequence[Review], mentions_of: MentionsOf
) -> Counter[tuple[str, bool | None]]:
    """The number of reviews by aspect and judgment."""
    mentions = (mentions_of(text[review.start : review.end]) for review in reviews)
    return Counter(
        judgment
        for of_review in mentions
        for judgment in {(mention.aspect, mention.praises) for mention in of_review}
    )


TOP = 10
"""Maximum number of patterns shown per place."""
MIN_REVIEWS = 2
"""Minimum number of reviews that share an opinion for it to be a pattern."""
QUOTES = 3
"""Maximum number of quotes per pattern."""
TAGS = 4
"""Maximum number of tags per place."""
TAG_RATIO = 2
"""Minimum ratio of praising to critical reviews for an aspect to be a tag."""
READABLE_CHARS = range(12, 121)
"""Lengths of sentences that are quoted first: shorter ones say little, longer ones are not read."""


class _Statement(NamedTuple):
    """A sentence of a review that praises or criticizes an aspect; clearer ones sort first."""

    is_ambivalent: bool
    proves_little: bool
    other_mentions: int
    is_unreadable: bool
    start: int
    end: int


_Key = tuple[str, str, bool]
"""Group, aspect, and whether it is praised."""


def find_patterns(
    text: str,
    reviews: Sequence[Review],
    mentions_of: MentionsOf,
    *,
    aspects: Sequence[str] = ASPECTS,
    top: int | None = TOP,
) -> tuple[Pattern, ...]:
    """Find the opinions that at least two reviews of a group share, most frequent first.

    Ties are broken by the share of the group's reviews, then by the order of `aspects`, then praise
    before criticism, then by group. A review that both praises and criticizes an aspect counts for
    both, but is quoted last. Reviews without a group form the group "".

    Args:
        text: The text of the place's document.
        reviews: The reviews, with their spans in the text.
        mentions_of: For example, `Lexicon.mentions`.
        aspects: The order of aspects; others come last, by name.
        top: The maximum number of patterns; None for all.
    """
    statements: defaultdict[_Key, list[_Statement]] = defaultdict(list)
    for review in reviews:
        for (aspect, praises), statement in _statements(text, review, mentions_of).items():
            statements[review.group, aspect, praises].append(statement)
    sizes = Counter(review.group for review in reviews)
    patterns = [
        _pattern(text, key, of_key, sizes[key[0]])
        for key, of_key in statements.items()
        if len(of_key) >= MIN_REVIEWS
    ]
    order = {name: index for index, name in enumerate(aspects)}
    patterns.sort(key=lambda pattern: _sort_key(pattern, order))
    return tuple(replace(one, rank=rank) for rank, one in enumerate(patterns[:top], start=1))


def tags_of(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """The aspects that a place is known for: at most four, the most clearly praised first.

    Over all groups, at least twice as many reviews praise them as criticize them. Pass all patterns
    of the place, because the top patterns can lack some of the criticism.
    """
    praise: Counter[str] = Counter()
    criticism: Counter[str] = Counter()
    for pattern in patterns:
        (praise if pattern.praises else criticism)[pattern.aspect] += pattern.count
    tags = [aspect for aspect in praise if praise[aspect] >= TAG_RATIO * criticism[aspect]]
    return tuple(sorted(tags, key=lambda aspect: criticism[aspect] - praise[aspect])[:TAGS])


def _statements(
    text: str, review: Review, mentions_of: MentionsOf
) -> Mapping[tuple[str, bool], _Statement]:
    """The clearest sentence for each aspect that the review praises or criticizes."""
    clearest: dict[tuple[str, bool], _Statement] = {}
    sentences = list(_sentences(text, review, mentions_of))
    judgments = {judgment for _, _, of_sentence in sentences for judgment in of_sentence}
    for start, end, of_sentence in sentences:
        for aspect, praises in dict.fromkeys(of_sentence):
            is_ambivalent = (aspect, not praises) in judgments
            statement = _statement(text, start, end, len(of_sentence) - 1, is_ambivalent)
            before = clearest.get((aspect, praises), statement)
            clearest[aspect, praises] = min(before, statement)
    return clearest


def _sentences(
    text: str, review: Review, mentions_of: MentionsOf
) -> Iterator[tuple[int, int, list[tuple[str, bool]]]]:
    """The spans of the review's sentences in the document, with the judgments in each."""
    review_text = text[review.start : review.end]
    mentions = mentions_of(review_text)
    for start, end in split_sentences(review_text):
        judgments = [
            (mention.aspect, mention.praises)
            for mention in mentions
            if start <= mention.start < end and mention.praises is not None
        ]
        yield review.start + start, review.start + end, judgments


def _statement(text: str, start: int, end: int, others: int, is_ambivalent: bool) -> _Statement:
    proves_little = not proves_something(text[start:end])
    is_unreadable = end - start not in READABLE_CHARS
    return _Statement(is_ambivalent, proves_little, others, is_unreadable, start, end)


def _pattern(text: str, key: _Key, statements: Sequence[_Statement], reviews: int) -> Pattern:
    group, aspect, praises = key
    quotes: dict[str, Quote] = {}
    for statement in sorted(statements):
        words = text[statement.start : statement.end]
        quotes.setdefault(fold(words), Quote(words, statement.start, statement.end))
    examples = tuple(quotes.values())[:QUOTES]
    return Pattern(aspect, group, praises, len(statements), reviews, examples)


def _sort_key(pattern: Pattern, order: Mapping[str, int]) -> tuple[float | str | bool, ...]:
    share = pattern.count / pattern.reviews
    index = order.get(pattern.aspect, len(order))
    return -pattern.count, -share, index, pattern.aspect, not pattern.praises, pattern.group
