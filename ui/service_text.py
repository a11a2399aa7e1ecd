"""What services, loaders, storage and models say, in the language of whoever reads it.

They speak English, which is also what is stored and logged. The files of `ui/locale` hold their
texts as templates (`make translations` collects them from the code): a text is matched with these
when it is shown, and made again from the translation.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ui.language import language
from ui.po_files import service_translations
from ui.text_templates import Pieces

_SHOWN_AGAIN = 4096  # a table's rows say the same few things at each run of the page
_DEPTH = 6  # of texts within texts; ours have three
_NAMES = frozenset({"key", "location", "name", "path", "title"})
"""Places for what somebody has called something, be it by a word of ours."""
_ENDS = (re.compile("(; )"), re.compile("(?<=[.?!])(?= )"))
"""Where texts are put together: the wider apart first, as one may be several sentences."""
_NAMED = re.compile("(?<=: )")
"""Where a text begins behind the name of what it is about: once, as it may have colons itself."""


class _Reading(NamedTuple):
    """A way to understand a text: how much of it is known, in characters, and its translation."""

    known: int
    translation: str


class _Template(NamedTuple):
    pieces: Pieces
    translation: str


def said(text: str) -> str:
    """The text in the reader's language; what is not known in it stays as it is."""
    return _read(text, language(), _DEPTH).translation


@lru_cache(_SHOWN_AGAIN)
def _read(text: str, spoken: str, depth: int) -> _Reading:
    """The reading that knows most of the text; of equal ones, that by the longest beginning."""
    if not depth:
        return _Reading(0, text)
    whole = max(_as_a_whole(text, spoken, depth), key=lambda one: one.known, default=None)
    if whole is not None:
        return whole
    parted = [_part_by_part(parts, spoken, depth) for parts in _ways_to_part(text)]
    return max(parted, key=lambda one: one.known, default=_Reading(0, text))


def _part_by_part(parts: Sequence[str], spoken: str, depth: int) -> _Reading:
    read = [_read(part, spoken, depth - 1) for part in parts]
    return _Reading(sum(one.known for one in read), "".join(one.translation for one in read))


def _ways_to_part(text: str) -> Iterator[list[str]]:
    """The texts that it may be put together of; nothing where it is but one."""
    ways = (*(ends.split(text) for ends in _ENDS), _NAMED.split(text, 1))
    for way in ways:
        parts = [part for part in way if part]
        if len(parts) > 1:
            yield parts


def _as_a_whole(text: str, spoken: str, depth: int) -> Iterator[_Reading]:
    for pieces, translation in _templates(spoken):
        values = pieces.values(text)
        if values is not None:
            read = {
                place: _read(value, spoken, 0 if place in _NAMES else depth - 1)
                for place, value in values.items()
            }
            told = {place: reading.translation for place, reading in read.items()}
            known = sum(map(len, pieces.literals)) + sum(one.known for one in read.values())
            yield _Reading(known, translation.format(**told))


@cache
def _templates(spoken: str) -> list[_Template]:
    """All of the language, those with the longest beginnings first."""
    told = [_Template(Pieces.of(one), into) for one, into in service_translations(spoken).items()]
    return sorted(told, key=lambda one: [-len(literal) for literal in one.pieces.literals])
