"""Finds the aspects that a text mentions, and whether it praises or criticizes them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, product
from typing import NamedTuple

from domain.places import Aspect, Words
from services.catalog.judgments import Judgments, Kind, Meaning, Word, is_negated
from services.catalog.word_finder import (
    WORD_START,
    FoldedText,
    Match,
    Phrases,
    WordFinder,
    fold_text,
    word_list,
)

_PHRASES = Phrases("sentences")
_CHOICE = re.compile(r"\[([^\]]+)\](\??)|(.)", re.DOTALL)
_MAX_FORMS = 64
_SPACES = {"en": (" ", "-"), "ko": (" ", ""), "ja": ("", " ")}


def entries(text: str) -> list[str]:
    """The entries of a comma-separated list."""
    return [entry for entry in (" ".join(part.split()) for part in text.split(",")) if entry]


def forms(entry: str, language: str) -> Iterator[str]:
    """The forms of an entry, at most 64; `[ab]` is a or b, and `[ab]?` is a, b, or nothing.

    If the entry begins with `WORD_START`, so does each form.
    """
    start = WORD_START if entry.startswith(WORD_START) else ""
    letters = entry.removeprefix(WORD_START)
    choices = [_choice(match, language) for match in _CHOICE.finditer(letters)]
    for form in islice(product(*choices), _MAX_FORMS):
        yield start + "".join(form)


def english_endings(word: str) -> Iterator[str]:
    """The word with English endings, regardless of whether the result is a word."""
    yield from (word + ending for ending in ("s", "es", "ed", "ing", "er", "est", "ly", "ness"))
    yield from (word + "'s", word + "s'")
    if word.endswith("e"):
        yield from (word + "d", word + "r", word + "st", word[:-1] + "ing")
    if word.endswith("y"):
        yield from (word[:-1] + ending for ending in ("ies", "ied", "ier", "iest", "ily", "iness"))
    elif word[-1:].isalpha():
        yield from (word + word[-1] + ending for ending in ("ed", "er", "est", "ing"))


def _choice(match: re.Match[str], language: str) -> tuple[str, ...]:
    alternatives, optional, letter = match.groups()
    if alternatives:
        return (*alternatives, "") if optional else tuple(alternatives)
    return _SPACES[language] if letter == " " else (letter,)


_LANGUAGES = ("en", "ko", "ja")
_ANY_ASPECT = (Kind.GOOD, Kind.BAD, Kind.WEIGHS, Kind.NOTHING)


@cache
def known_words() -> WordFinder[Meaning]:
    """The words for `domain.ASPECTS` in all languages, and words that judge any aspect."""
    listed = list(_entries())
    plain = [
        (form, meaning) for language, entry, meaning in listed for form in forms(entry, language)
    ]
    taken = {form for form, _ in plain}
    english = ((entry, meaning) for language, entry, meaning in listed if language == "en")
    inflected = ((form, meaning) for form, meaning in _inflect(english) if form not in taken)
    return WordFinder((*plain, *inflected))


def described_words(aspects: Sequence[Aspect]) -> WordFinder[Meaning]:
    """The words defined by the aspects of a description."""
    return WordFinder(
        (form, Meaning(aspect.name, kind))
        for aspect in aspects
        for words, kind in (
            (aspect.about, Kind.ABOUT),
            (aspect.good, Kind.GOOD),
            (aspect.bad, Kind.BAD),
        )
        for form in folded_forms(words)
    )


def folded_forms(words: Words) -> Iterator[str]:
    """The folded forms of plain words; English words also have endings."""
    for language, names in words.items():
        for word in names:
            yield from forms_of(word, language)


def forms_of(word: str, language: str) -> Iterator[str]:
    """The folded forms of a plain word, that is, one without the markup of `forms`."""
    plain = fold_text(word).text.strip()
    if not plain:
        return
    for form in (plain, plain.replace(" ", "-"), plain.replace("-", " ")):
        yield form
        if language == "en":
            yield from english_endings(form)
    if language != "en":
        yield plain.replace(" ", "")


def _entries() -> Iterator[tuple[str, str, Meaning]]:
    """The entries of all word lists, each with its language."""
    for language in _LANGUAGES:
        lists = word_list(language)
        for aspect, words in lists["aspects"].items():
            for kind in Kind:
                for entry in entries(words.get(kind.value, "")):
                    yield language, entry, Meaning(aspect, kind)
        for kind in _ANY_ASPECT:
            for entry in entries(lists[kind.value]):
                yield language, entry, Meaning("", kind)


def _inflect(listed: Iterable[tuple[str, Meaning]]) -> Iterator[tuple[str, Meaning]]:
    for entry, meaning in listed:
        for form in forms(entry, "en"):
            for word in english_endings(form):
                yield word, meaning


# "Bright, clean flavors" and "a clean broth" do not praise the hygiene.
_TASTE = r"(?:flavou?rs?|tast(?:es?|ed|ing)|broths?|finish|palate)"
_TASTE_BEFORE = re.compile(rf"\b{_TASTE}(?: [a-z'-]+){{0,3}} $")
_ALONE_AFTER = re.compile(r"[.,;!?\n]| (?:and|but)\b|$")
_TASTE_AFTER = re.compile(rf"(?:,? (?:and )?[a-z]+)? {_TASTE}\b")
_REACH = 40
# Sentences with more words are lists or unpunctuated text, which is read in pieces.
_MAX_WORDS = 24


class Mention(NamedTuple):
    """A mention of an aspect in `text[start:end]`.

    The span includes the judgment, if there is one: 음식은 훌륭. `praises` is None without a
    judgment. Mentions of different aspects may overlap, as in "food and service were great".
    """

    aspect: str
    start: int
    end: int
    praises: bool | None


class Lexicon:
    """The words for aspects in English, Korean, and Japanese.

    It combines the built-in words for `domain.ASPECTS` with those that the aspects define.
    """

    def __init__(self, aspects: Sequence[Aspect]) -> None:
        self._names = frozenset(("", *(aspect.name for aspect in aspects)))
        self._known = known_words()
        self._described = described_words(aspects)

    def mentions(self, text: str) -> list[Mention]:
        """Find the mentions of the aspects, in order; takes linear time."""
        return self.mentions_in(fold_text(text))

    def mentions_in(self, text: FoldedText) -> list[Mention]:
        """Find the mentions in a folded text; their spans refer to the original text."""
        mentions: list[Mention] = []
        words = self._words(text.text)
        for sentence in _sentences(text.text, words):
            for opinion in Judgments(text.text, sentence).opinions():
                start, end = text.span(opinion.start, opinion.end)
                mentions.append(Mention(opinion.aspect, start, end, opinion.praises))
        return sorted(mentions, key=lambda mention: mention[1:3])

    def _words(self, text: str) -> list[Word]:
        clause_ends = [match.start() for match in _PHRASES["clause_end"].finditer(text)]
        words = []
        for match in _merge(self._described.find(text), self._known.find(text)):
            meanings = tuple(filter(self._is_relevant, _meanings(text, match)))
            if meanings:
                clause = bisect_right(clause_ends, match.start)
                negated = is_negated(text, match.start, match.end)
                words.append(Word(match.start, match.end, meanings, clause, negated))
        return words

    def _is_relevant(self, meaning: Meaning) -> bool:
        return meaning.kind is not Kind.NOTHING and meaning.aspect in self._names


def _meanings(text: str, match: Match[Meaning]) -> tuple[Meaning, ...]:
    """The meanings of a word; "clean" next to a word for taste praises the food."""
    if text[match.start : match.end] != "clean":
        return match.meanings
    before = text[max(0, match.start - _REACH) : match.start]
    after = text[match.end : match.end + _REACH]
    follows_taste = _TASTE_BEFORE.search(before) and _ALONE_AFTER.match(after)
    is_taste = follows_taste or _TASTE_AFTER.match(after)
    return (Meaning("food", Kind.GOOD),) if is_taste else match.meanings


def _sentences(text: str, words: Sequence[Word]) -> Iterator[list[Word]]:
    ends = [match.start() for match in _PHRASES["sentence_end"].finditer(text)]
    sentence: list[Word] = []
    for word in words:
        if sentence and (len(sentence) == _MAX_WORDS or _is_end_between(ends, sentence[-1], word)):
            yield sentence
            sentence = []
        sentence.append(word)
    if sentence:
        yield sentence


def _is_end_between(ends: Sequence[int], one: Word, other: Word) -> bool:
    return bisect_right(ends, one.end - 1) != bisect_right(ends, other.start)


def _merge(
    described: Iterable[Match[Meaning]], known: Iterable[Match[Meaning]]
) -> list[Match[Meaning]]:
    """Merge both in order; described words take precedence over known words that overlap them."""
    merged = list(described)
    starts = [word.start for word in merged]
    for word in known:
        index = bisect_right(starts, word.start)
        before_ends = index == 0 or merged[index - 1].end <= word.start
        after_begins = index == len(starts) or word.end <= starts[index]
        if before_ends and after_begins:
            merged.append(word)
    return sorted(merged)
