"""Finds words in folded texts: phrases, large vocabularies, and names with a typo."""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from unicodedata import normalize

from domain.language.script import LATIN

# Combining marks belong to the preceding letter. No script needs more than a few, and normalizing
# a long sequence is slow.
_LETTER_WITH_MARKS = re.compile(
    r"\s+|.[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff]{0,6}", re.DOTALL
)
_ALREADY_FOLDED = re.compile(r"(?:[\x21-\x5f\x61-\x7e가-힣ぁ-ゖァ-ヺー一-鿿、。「」]+| (?!\s))*+")
_EQUIVALENTS = str.maketrans("’‘ʼ`‐‑–—", "''''----")
PARAGRAPH = "\n"
WORD_START = "<"
"""Prefix of a word that matches only where no letter precedes it."""
_WORDS = Path(__file__).parent / "words"


@cache
def word_list(name: str) -> dict[str, Any]:
    """The contents of `words/NAME.toml`."""
    return tomllib.loads((_WORDS / f"{name}.toml").read_text(encoding="utf-8"))


class Phrases:
    """Regular expressions by name, from a file in `words/` that is read lazily."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._compiled:
            alternatives = word_list(self._name)[name]
            self._compiled[name] = re.compile("|".join(map("".join, alternatives)))
        return self._compiled[name]

    def around(self, name: str, before: str, after: str) -> bool:
        """Whether `NAME_before` matches in `before`, or `NAME_after` at the start of `after`."""
        return bool(self[f"{name}_before"].search(before) or self[f"{name}_after"].match(after))


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text whose `text` is in NFKC, lowercase, and without accents on Latin letters.

    Whitespace becomes a single space, and blank lines become a single `PARAGRAPH`.
    """

    text: str
    _starts: tuple[int, ...] = ()
    _offsets: tuple[int, ...] = ()
    _ends: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of `text` to the original text, extended to whole letters."""
        if not self._starts:
            return start, end
        first = bisect_right(self._starts, start) - 1
        last = max(first, bisect_right(self._starts, end - 1) - 1)
        return self._offsets[first], self._ends[last]


def fold_text(text: str) -> FoldedText:
    """Fold a text, in linear time."""
    if _ALREADY_FOLDED.fullmatch(text):
        return FoldedText(text.lower())
    pieces, starts, offsets, ends, length = [], [], [], [], 0
    for match in _LETTER_WITH_MARKS.finditer(text):
        if piece := _folded_letter(match.group()):
            pieces.append(piece)
            starts.append(length)
            offsets.append(match.start())
            ends.append(match.end())
            length += len(piece)
    return FoldedText("".join(pieces), tuple(starts), tuple(offsets), tuple(ends))


def _folded_letter(letter: str) -> str:
    if letter.isspace():
        return PARAGRAPH if letter.count("\n") > 1 else " "
    plain = normalize("NFKC", normalize("NFKC", letter).lower()).translate(_EQUIVALENTS)
    return " " if plain.isspace() else _without_accents(plain)


def _without_accents(letter: str) -> str:
    """Remove accents from Latin letters: café becomes cafe. Kana and Hangul keep their marks."""
    pieces = normalize("NFD", letter)
    return "".join(filter(str.isascii, pieces)) if pieces[:1].isascii() else letter


Meaning = TypeVar("Meaning", bound=Hashable)

_LATIN_LETTER = re.compile(f"[{LATIN}0-9]")
_LETTER = re.compile(r"\w")


class Match(NamedTuple, Generic[Meaning]):
    """The span of a word in a text, and its possible meanings."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]


class WordFinder(Generic[Meaning]):
    """Finds the words of a vocabulary: Latin script as whole words, other scripts anywhere.

    The time is proportional to the length of the text times the number of distinct word lengths.
    """

    def __init__(self, words: Iterable[tuple[str, Meaning]] = ()) -> None:
        self._meanings: dict[str, tuple[Meaning, ...]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        self._at_word_start: set[str] = set()
        for word, meaning in words:
            self._add(word, meaning)

    def find(self, text: str) -> Iterator[Match[Meaning]]:
        """Find the words in a folded text, in order and without overlap; the longest word wins."""
        start = 0
        while start < len(text):
            for length in self._lengths.get(text[start], ()):
                word = text[start : start + length]
                if word in self._meanings and self._is_whole(text, start, word):
                    yield Match(start, start + len(word), self._meanings[word])
                    start += len(word)
                    break
            else:
                start += 1

    def _add(self, entry: str, meaning: Meaning) -> None:
        word = entry.removeprefix(WORD_START)
        if not word:
            return
        if word != entry:
            self._at_word_start.add(word)
        meanings = self._meanings.get(word, ())
        self._meanings[word] = meanings if meaning in meanings else (*meanings, meaning)
        lengths = {*self._lengths.get(word[0], ()), len(word)}
        self._lengths[word[0]] = tuple(sorted(lengths, reverse=True))

    def _is_whole(self, text: str, start: int, word: str) -> bool:
        end = start + len(word)
        before, after = text[start - 1 : start], text[end : end + 1]
        if before and _LATIN_LETTER.match(word[0]) and _LATIN_LETTER.match(before):
            return False
        if after and _LATIN_LETTER.match(word[-1]) and _LATIN_LETTER.match(after):
            return False
        return not (before and word in self._at_word_start and _LETTER.match(before))


MIN_LETTERS = 6
"""Minimum length of a name; shorter names differ from too many words by one letter."""

_LATIN_WORD = re.compile(r"[a-z]+")


class TypoFinder(Generic[Meaning]):
    """Finds misspelled names in Latin letters: manhatten, brookyln, statan island.

    A typo is a Damerau-Levenshtein distance of 1 (an insertion, deletion, substitution, or
    transposition) that leaves the first and last letter unchanged: queen is not queens.
    """

    def __init__(self, names: Iterable[tuple[str, Meaning]]) -> None:
        self._names: dict[tuple[str, str, int], dict[str, list[Meaning]]] = {}
        self._sizes: set[int] = set()
        for name, meaning in names:
            words = name.split(" ")
            if len(name) >= MIN_LETTERS and all(map(_LATIN_WORD.fullmatch, words)):
                similar = self._names.setdefault((name[0], name[-1], len(words)), {})
                meanings = similar.setdefault(name, [])
                meanings += [meaning] if meaning not in meanings else []
                self._sizes.add(len(words))

    def find(self, text: str) -> Iterator[Match[Meaning]]:
        """Find the names with exactly one typo in a folded text, in order."""
        words = list(_LATIN_WORD.finditer(text))
        for index, word in enumerate(words):
            for size in self._sizes:
                last = words[min(index + size, len(words)) - 1]
                if meanings := self._meanings_of(text[word.start() : last.end()], size):
                    yield Match(word.start(), last.end(), meanings)
                    break

    def _meanings_of(self, text: str, size: int) -> tuple[Meaning, ...]:
        similar = self._names.get((text[0], text[-1], size), {})
        return tuple(
            meaning
            for name, meanings in similar.items()
            if _has_one_typo(text, name)
            for meaning in meanings
        )


def _has_one_typo(text: str, name: str) -> bool:
    if abs(len(text) - len(name)) > 1 or text == name:
        return False
    start = _common_prefix(text, name)
    rest, name_rest = text[start:], name[start:]
    end = _common_prefix(rest[::-1], name_rest[::-1])
    wrong, right = rest[: len(rest) - end], name_rest[: len(name_rest) - end]
    return len(wrong) < 2 > len(right) or (len(wrong) == 2 and wrong == right[::-1])


def _common_prefix(one: str, other: str) -> int:
    return sum(takewhile(bool, map(eq, one, other)))
