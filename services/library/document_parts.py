"""Divides the text of a document into its headings and into parts that a page can show at once."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

PART_CHARACTERS = 100_000
MAX_HEADINGS = 300
"""If there are more headings, the deepest levels are left out."""

_HEADING_OR_FENCE = re.compile(
    r"^(?: {0,3}(?P<marks>#{1,6})[ \t]++(?P<title>[^\n]*[^\s#])[ \t#]*"
    r"|[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*)$",
    re.MULTILINE,
)
_TABLE_HEAD = re.compile(r"^\|[^\n]*\n\|[-:| ]+\n", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKS = re.compile(r"[*`]+|~~")


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


@lru_cache(maxsize=4)
def document_parts(text: str, *, is_plain: bool = False) -> DocumentParts:
    """The headings and parts; plain text has no headings, tables, or code."""
    lines = [] if is_plain else list(_lines(text))
    headings = [line for line in lines if isinstance(line, Heading)]
    fences = [line for line in lines if isinstance(line, _Fence)]
    starts = [0, *_cuts(text, [one.start for one in headings])]
    parts = [
        Part(start, end, "" if is_plain else _opening(text, start, fences))
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
    return DocumentParts(_outline(headings), tuple(parts))


class _Fence(NamedTuple):
    """A code block: its first line, and where its content starts and ends."""

    line: str
    start: int
    end: int


def _lines(text: str) -> Iterator[Heading | _Fence]:
    """The headings, and the code blocks, in which nothing is a heading."""
    fence: re.Match[str] | None = None
    for match in _HEADING_OR_FENCE.finditer(text):
        if fence is not None:
            mark = match["fence"] or ""
            if mark.startswith(fence["fence"]) and match[0].strip() == mark:
                yield _Fence(fence[0], fence.end() + 1, match.start())
                fence = None
        elif match["fence"]:
            fence = match
        else:
            yield Heading(match.start(), len(match["marks"]), _title(match["title"]))
    if fence is not None:
        yield _Fence(fence[0], fence.end() + 1, len(text) + 1)


def _title(text: str) -> str:
    return _MARKS.sub("", _LINK.sub(r"\1", text)).strip()


def _outline(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    counts = Counter(one.level for one in headings)
    levels = sorted(counts)
    totals = accumulate(counts[level] for level in levels)
    shown = {level for level, total in zip(levels, totals, strict=True) if total <= MAX_HEADINGS}
    return tuple(one for one in headings if one.level in shown)


def _cuts(text: str, headings: Sequence[int]) -> Iterator[int]:
    """Where parts after the first start: at a heading, a paragraph, or at least a line."""
    start = 0
    while len(text) - start > PART_CHARACTERS:
        earliest, latest = start + PART_CHARACTERS // 2, start + PART_CHARACTERS
        heading = max((one for one in headings if earliest <= one <= latest), default=0)
        paragraph = text.rfind("\n\n", earliest, latest)
        line = text.rfind("\n", earliest, latest)
        start = heading or (paragraph + 2 if paragraph >= 0 else line + 1) or latest
        yield start


def _opening(text: str, start: int, fences: Sequence[_Fence]) -> str:
    for fence in fences:
        if fence.start < start < fence.end:
            return f"{fence.line}\n"
    if not start or text[start : start + 1] != "|" or text[start - 2 : start] == "\n\n":
        return ""
    head = _TABLE_HEAD.search(text, max(text.rfind("\n\n", 0, start), 0), start)
    return head[0] if head else ""
