"""Which aspects a text speaks of, where, and whether it praises or blames."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from catalog.folded_text import FoldedText, folded
from catalog.judgements import Judgements, Kind, Meaning, Word
from catalog.known_words import known_words, own_words
from catalog.negation import is_negated
from catalog.word_finder import Found
from domain.catalogue import Aspect

_SENTENCE_END = re.compile(r"[!?;。…\n]|\.(?!\d)|[ㅋㅎㅠㅜ]{2,}")
_CLAUSE_END = re.compile(
    r",(?!\d)|、|\b(?:but|however|although|though|while|yet|except|whereas|despite)\b|"
    r"지만|는데|은데|한데|운데|인데|으나|반면|けど|けれど|のに|ものの|[たいだす]が|一方"
)
# Flavours that are bright and clean, or a clean broth, are no praise of the hygiene.
_TASTE = r"(?:flavou?rs?|tast(?:es?|ed|ing)|broths?|finish|palate)"
_TASTE_BEFORE = re.compile(rf"\b{_TASTE}(?: [a-z'-]+){{0,3}} $")
_ALONE_AFTER = re.compile(r"[.,;!?\n]| (?:and|but)\b|$")
_TASTE_AFTER = re.compile(rf"(?:,? (?:and )?[a-z]+)? {_TASTE}\b")
_REACH = 40
# A sentence with more words of judgement is a list or no sentence: it is read in pieces.
_MOST_WORDS = 24


class Mention(NamedTuple):
    """A place of a text that speaks of an aspect: `text[start:end]`.

    It holds the word for the aspect and the judgement of it where both are there: 음식은 훌륭.
    `praises` is None where nothing is judged. Mentions of different aspects may overlap, as in
    "food and service were great".
    """

    aspect: str
    start: int
    end: int
    praises: bool | None


class Lexicon:
    """The words of aspects in English, Korean and Japanese.

    Known words of `domain.ASPECTS` and those that the aspects bring themselves; an aspect that is
    none of them has its own alone.
    """

    def __init__(self, aspects: Sequence[Aspect]) -> None:
        self._names = frozenset(("", *(aspect.name for aspect in aspects)))
        self._known = known_words()
        self._own = own_words(aspects)

    def mentions(self, text: str) -> list[Mention]:
        """What the text says of the aspects, in order; takes time in proportion to its length."""
        return self.mentions_in(folded(text))

    def mentions_in(self, text: FoldedText) -> list[Mention]:
        """The same for a text that is folded; the spans are of the text that was given."""
        found: list[Mention] = []
        words = self._words(text.text)
        for sentence in _sentences(text.text, words):
            for part in Judgements(text.text, sentence).parts():
                start, end = text.span(part.start, part.end)
                found.append(Mention(part.aspect, start, end, part.praises))
        return sorted(found, key=lambda mention: mention[1:3])

    def _words(self, text: str) -> list[Word]:
        clause_ends = [match.start() for match in _CLAUSE_END.finditer(text)]
        words = []
        for found in _own_first(self._own.find(text), self._known.find(text)):
            meanings = tuple(filter(self._concerns, _tasted(text, found)))
            if meanings:
                clause = bisect_right(clause_ends, found.start)
                negated = is_negated(text, found.start, found.end)
                words.append(Word(found.start, found.end, meanings, clause, negated))
        return words

    def _concerns(self, meaning: Meaning) -> bool:
        return meaning.kind is not Kind.NOTHING and meaning.aspect in self._names


def _tasted(text: str, found: Found[Meaning]) -> tuple[Meaning, ...]:
    """What a word means; "clean" beside a word for taste praises the food."""
    if text[found.start : found.end] != "clean":
        return found.meanings
    before = text[max(0, found.start - _REACH) : found.start]
    after = text[found.end : found.end + _REACH]
    is_behind = _TASTE_BEFORE.search(before) and _ALONE_AFTER.match(after)
    is_of_taste = is_behind or _TASTE_AFTER.match(after)
    return (Meaning("food", Kind.GOOD),) if is_of_taste else found.meanings


def _sentences(text: str, words: Sequence[Word]) -> Iterator[list[Word]]:
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    sentence: list[Word] = []
    for word in words:
        if sentence and (len(sentence) == _MOST_WORDS or _between(ends, sentence[-1], word)):
            yield sentence
            sentence = []
        sentence.append(word)
    if sentence:
        yield sentence


def _between(ends: Sequence[int], one: Word, other: Word) -> bool:
    return bisect_right(ends, one.end - 1) != bisect_right(ends, other.start)


def _own_first(
    own: Iterable[Found[Meaning]], known: Iterable[Found[Meaning]]
) -> list[Found[Meaning]]:
    """Words of both, in order; where they overlap, an aspect's own word is meant."""
    kept = list(own)
    starts = [word.start for word in kept]
    for word in known:
        place = bisect_right(starts, word.start)
        before_ends = place == 0 or kept[place - 1].end <= word.start
        after_begins = place == len(starts) or word.end <= starts[place]
        if before_ends and after_begins:
            kept.append(word)
    return sorted(kept)
