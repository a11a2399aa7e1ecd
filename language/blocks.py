"""The blocks of a Markdown or plain text: what line ends separate, before sentences do."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Block(NamedTuple):
    """A stretch of whole lines: a paragraph or list item, or one line that stands alone.

    `prose_start` is where its sentences begin, after a list item's marker.
    """

    start: int
    end: int
    prose_start: int
    is_prose: bool


_LINE = re.compile("[^\n\r\f\u2028\u2029]*(?:\r\n|[\n\r\f\u2028\u2029]|$)")
_FENCE = re.compile(r"[ \t]*(```|~~~)(?!.*\1)")
_ALONE = re.compile(r"[ \t]{0,3}#{1,6}(?:\s|$)|\s*\||\s*(?:[-=*_][ \t]*){3,}$")
_ITEM = re.compile(
    r"\s*(?:(?:[-*+•・◦▪■□●○※▶]|\d{1,3}[.)]|[a-z]\)|[가나다라마바사아자차카타파하][.)]|\(\d{1,3}\))"
    r"(?:\s+|$)|[①-⑳])"
)


def blocks(text: str) -> Iterator[Block]:
    """The blocks in order, together covering every character that is not white space."""
    fence = ""
    start = prose_start = -1
    for match in _LINE.finditer(text):
        line, (at, end) = match.group(), match.span()
        opening = _FENCE.match(line)
        in_code = bool(fence) or opening is not None
        if opening is not None:
            fence = opening.group(1) if not fence else fence.replace(opening.group(1), "")
        item = None if in_code else _ITEM.match(line)
        alone = in_code or _ALONE.match(line) is not None
        if start >= 0 and (alone or item or not line.strip()):
            yield Block(start, at, prose_start, is_prose=True)
            start = -1
        if alone and line.strip():
            yield Block(at, end, at, is_prose=False)
        elif start < 0 and line.strip():
            start, prose_start = at, at + (item.end() if item else 0)
    if start >= 0:
        yield Block(start, len(text), prose_start, is_prose=True)
