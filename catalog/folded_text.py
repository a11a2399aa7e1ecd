"""A text in one form for finding words in it, and where each letter of that form came from."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from unicodedata import normalize

# What belongs to the letter before it; more than a few of them are no writing, and sorting many
# into their canonical order takes long.
_LETTER = re.compile(r"\s+|.[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff]{0,6}", re.DOTALL)
_PLAIN = re.compile(r"(?:[\x21-\x5f\x61-\x7e가-힣ぁ-ゖァ-ヺー一-鿿、。「」]+| (?!\s))*+")
_SAME = str.maketrans("’‘ʼ`‐‑–—", "''''----")
PARAGRAPH = "\n"


@dataclass(frozen=True, slots=True)
class FoldedText:
    """`text` in NFKC and lower case, Latin without accents, with single spaces.

    A blank line is one line end.
    """

    text: str
    _starts: tuple[int, ...] = ()
    _places: tuple[int, ...] = ()
    _ends: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the stretch of `text` stands in the text that was given, in whole letters."""
        if not self._starts:
            return start, end
        first = bisect_right(self._starts, start) - 1
        last = max(first, bisect_right(self._starts, end - 1) - 1)
        return self._places[first], self._ends[last]


def folded(text: str) -> FoldedText:
    """The text for finding words in; takes time in proportion to its length."""
    if _PLAIN.fullmatch(text):
        return FoldedText(text.lower())
    pieces, starts, places, ends, length = [], [], [], [], 0
    for match in _LETTER.finditer(text):
        piece = _folded_letter(match.group())
        if piece:
            pieces.append(piece)
            starts.append(length)
            places.append(match.start())
            ends.append(match.end())
            length += len(piece)
    return FoldedText("".join(pieces), tuple(starts), tuple(places), tuple(ends))


def _folded_letter(letter: str) -> str:
    if letter.isspace():
        return PARAGRAPH if letter.count("\n") > 1 else " "
    plain = normalize("NFKC", normalize("NFKC", letter).lower()).translate(_SAME)
    return " " if plain.isspace() else _without_accents(plain)


def _without_accents(letter: str) -> str:
    """Café and cafe are one word; kana and Hangul keep their marks."""
    pieces = normalize("NFD", letter)
    return "".join(filter(str.isascii, pieces)) if pieces[:1].isascii() else letter
