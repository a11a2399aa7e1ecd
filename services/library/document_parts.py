"""Divides the text of a document into its headings and into parts that a page can show at once."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from services.library.document_style import Style

if TYPE_CHECKING:
    from markdown_it.token import Token

PART_CHARACTERS = 100_000
MAX_HEADINGS = 300
"""If there are more headings, the deepest levels are left out."""

_HEAD_LINES = {"fence": 1, "table": 2}
"""How many lines at the start of code or a table are repeated in a part that continues it."""


class Heading(NamedTuple):
    """A heading: the start of its line in the text, its level from 1, and its title."""

    start: int
    level: int
    title: str


class Part(NamedTuple):
    """A part of a text, which ends where the next one starts.

    `opening` is text to put before it: the head of a table or of code that it continues.
    """

    start: int
    end: int
    opening: str = ""


class DocumentParts(NamedTuple):
    """The headings and the parts of a text, in order; there is at least one part."""

    headings: tuple[Heading, ...]
    parts: tuple[Part, ...]

    def part_at(self, position: int) -> int:
        """The index of the part that contains this position; the last one at the end."""
        last = len(self.parts) - 1
        return next((i for i, part in enumerate(self.parts) if position < part.end), last)


def document_parts(text: str, style: Style) -> DocumentParts:
    """The headings and parts; plain text has no headings, tables, or code.

    Each part is read as the page reads it, so the page has every heading of the outline.
    """
    headings: list[Heading] = []
    parts: list[Part] = []
    start, opening = 0, ""
    while not parts or start < len(text):
        window = _window(text, start, opening, style)
        end = window.end(text)
        parts.append(Part(start, end, opening))
        headings += window.headings(end, style)
        start, opening = end, window.opening(end)
    return DocumentParts(_outline(headings), tuple(parts))


@dataclass(frozen=True)
class _Window:
    """What the page would show from `start` on, as far as a part may extend.

    `shown` begins with the opening of the part. `lines` are the starts of its lines in the text.
    """

    start: int
    shown: str
    lines: Sequence[int]
    tokens: Sequence["Token"]

    def end(self, text: str) -> int:
        """Where the part ends: at a heading, another block, a paragraph, or at least a line."""
        earliest, latest = self.start + PART_CHARACTERS // 2, self.start + PART_CHARACTERS
        if len(text) <= latest:
            return len(text)
        starts = [(one, self.lines[one.map[0]]) for one in self.tokens if one.map]
        within = [(_rank(one), at) for one, at in starts if earliest <= at < latest]
        if within:
            return max(within)[1]
        # Before the last character, which shows whether a table or code continues after the line.
        paragraph = text.rfind("\n\n", earliest, latest - 1)
        line = text.rfind("\n", earliest, latest - 1)
        return (paragraph + 2 if paragraph >= 0 else line + 1) or latest

    def headings(self, end: int, style: Style) -> Iterator[Heading]:
        """The headings with a title in the part that ends there."""
        from services.library.document_markdown import inline_text

        for token, content in pairwise(self.tokens):
            if token.type != "heading_open" or not token.map:
                continue
            first, after = token.map
            title = inline_text(content.content, style)
            if title and self.lines[after - 1] < end:
                yield Heading(self.lines[first], int(token.tag[1:]), title)

    def opening(self, at: int) -> str:
        """The first lines of the table or the code that continues at this position."""
        line = bisect_right(self.lines, at) - 1
        for token in self.tokens:
            first, after = token.map or (0, 0)
            if token.type in _HEAD_LINES and first < line < after:
                head = self.shown.split("\n")[first : first + _HEAD_LINES[token.type]]
                return "\n".join([*head, ""])
        return ""


def _rank(token: "Token") -> tuple[bool, int]:
    """Higher for a better start of a part: a heading, or else the outermost block."""
    return token.type == "heading_open" and not token.level, -token.level


def _window(text: str, start: int, opening: str, style: Style) -> _Window:
    from services.library.document_markdown import blocks, line_starts, normalized  # slow to import

    shown = normalized(opening + text[start : start + PART_CHARACTERS])
    tokens = blocks(shown, style, is_start=start == 0, has_cells=False)
    lines = [start - len(opening) + at for at in line_starts(shown)]
    return _Window(start, shown, lines, tokens)


def _outline(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    counts = Counter(one.level for one in headings)
    levels = sorted(counts)
    totals = accumulate(counts[level] for level in levels)
    shown = {level for level, total in zip(levels, totals, strict=True) if total <= MAX_HEADINGS}
    return tuple(one for one in headings if one.level in shown)
