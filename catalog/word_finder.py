"""Finds many words in a text at once, the longest at each place."""

import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from catalog.vocabulary import WORD_START
from language.characters import LATIN

Meaning = TypeVar("Meaning", bound=Hashable)

_LATIN_LETTER = re.compile(f"[{LATIN}0-9]")
_LETTER = re.compile(r"\w")


class Found(NamedTuple, Generic[Meaning]):
    """A word that stands in a text, and all that it may mean."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]


class WordFinder(Generic[Meaning]):
    """Words by what they mean. Words in Latin script are found whole, others anywhere.

    Reading takes time in proportion to the text times the number of different lengths of words.
    """

    def __init__(self, words: Iterable[tuple[str, Meaning]] = ()) -> None:
        self._meanings: dict[str, tuple[Meaning, ...]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        self._at_word_start: set[str] = set()
        for word, meaning in words:
            self._add(word, meaning)

    def __contains__(self, word: str) -> bool:
        return word in self._meanings

    def find(self, text: str) -> Iterator[Found[Meaning]]:
        """The words in a folded text, in order and apart."""
        place = 0
        while place < len(text):
            lengths = self._lengths.get(text[place], ())
            for length in lengths:
                word = text[place : place + length]
                if word in self._meanings and self._stands(text, place, word):
                    yield Found(place, place + len(word), self._meanings[word])
                    place += len(word)
                    break
            else:
                place += 1

    def _add(self, marked: str, meaning: Meaning) -> None:
        word = marked.removeprefix(WORD_START)
        if not word:
            return
        if word != marked:
            self._at_word_start.add(word)
        known = self._meanings.get(word, ())
        self._meanings[word] = known if meaning in known else (*known, meaning)
        lengths = {*self._lengths.get(word[0], ()), len(word)}
        self._lengths[word[0]] = tuple(sorted(lengths, reverse=True))

    def _stands(self, text: str, start: int, word: str) -> bool:
        end = start + len(word)
        before, after = text[start - 1 : start], text[end : end + 1]
        if before and _LATIN_LETTER.match(word[0]) and _LATIN_LETTER.match(before):
            return False
        if after and _LATIN_LETTER.match(word[-1]) and _LATIN_LETTER.match(after):
            return False
        return not (before and word in self._at_word_start and _LETTER.match(before))
