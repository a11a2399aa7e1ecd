"""Finds words in the text of a document, regardless of case, width, and Unicode form."""

import re
from functools import lru_cache
from typing import NamedTuple

from domain.language.script import fold

MAX_MATCHES = 10_000
_COMBINING = "[\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f]"
_IS_COMBINED = re.compile(_COMBINING)
_LETTER = re.compile(rf"[\s\S]{_COMBINING}*")


class _Form(NamedTuple):
    """The folded text, and the span of the text that each of its characters comes from.

    `spans` is empty if the characters correspond one to one.
    """

    text: str
    spans: list[tuple[int, int]]


def find_words(text: str, words: str) -> list[tuple[int, int]]:
    """The spans of the words, in order and without overlaps; at most `MAX_MATCHES`.

    Any white space in the text matches a space.
    """
    parts = [re.escape(part) for part in fold(words).split()]
    if not parts:
        return []
    form, spans = _form(text), []
    for match in re.finditer(r"\s+".join(parts), form.text):
        start, end = match.span()
        spans.append((form.spans[start][0], form.spans[end - 1][1]) if form.spans else (start, end))
        if len(spans) == MAX_MATCHES:
            break
    return spans


@lru_cache(maxsize=2)
def _form(text: str) -> _Form:
    if not _IS_COMBINED.search(text):
        folded = {letter: fold(letter) for letter in set(text)}
        if all(len(form) == 1 for form in folded.values()):
            return _Form("".join(map(folded.__getitem__, text)), [])
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    for match in _LETTER.finditer(text):
        piece = fold(match[0])
        pieces.append(piece)
        spans += [match.span()] * len(piece)
    return _Form("".join(pieces), spans)
