"""Finds long names that were typed with one slip of the finger."""

import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from catalog.word_finder import Found

Meaning = TypeVar("Meaning", bound=Hashable)

FEWEST_LETTERS = 6
"""Shorter names are one letter away from too many other words."""

_WORD = re.compile(r"[a-z]+")


class Slips(Generic[Meaning]):
    """Names in Latin letters and what they mean: manhatten, brookyln, statan island.

    A slip is a letter too many, too few or another, or two swapped (Damerau and Levenshtein's
    distance of 1). The first and the last letter are as they should be: queen is not queens.
    """

    def __init__(self, names: Iterable[tuple[str, Meaning]]) -> None:
        self._names: dict[tuple[str, str, int], dict[str, list[Meaning]]] = {}
        self._sizes: set[int] = set()
        for name, meaning in names:
            words = name.split(" ")
            if len(name) >= FEWEST_LETTERS and all(map(_WORD.fullmatch, words)):
                alike = self._names.setdefault((name[0], name[-1], len(words)), {})
                meanings = alike.setdefault(name, [])
                meanings += [meaning] if meaning not in meanings else []
                self._sizes.add(len(words))

    def find(self, text: str) -> Iterator[Found[Meaning]]:
        """The names in a folded text that have exactly one slip, in order."""
        words = list(_WORD.finditer(text))
        for place, word in enumerate(words):
            for size in self._sizes:
                last = words[min(place + size, len(words)) - 1]
                meanings = self._meant(text[word.start() : last.end()], size)
                if meanings:
                    yield Found(word.start(), last.end(), meanings)
                    break

    def _meant(self, typed: str, size: int) -> tuple[Meaning, ...]:
        alike = self._names.get((typed[0], typed[-1], size), {})
        return tuple(
            meaning
            for name, meanings in alike.items()
            if _has_one_slip(typed, name)
            for meaning in meanings
        )


def _has_one_slip(typed: str, name: str) -> bool:
    if abs(len(typed) - len(name)) > 1 or typed == name:
        return False
    start, most = 0, min(len(typed), len(name))
    while start < most and typed[start] == name[start]:
        start += 1
    end = 0
    while end < most - start and typed[-1 - end] == name[-1 - end]:
        end += 1
    other, right = typed[start : len(typed) - end], name[start : len(name) - end]
    return len(other) < 2 > len(right) or (len(other) == 2 and other == right[::-1])
