"""Turns the pieces of text that a PDF paints into lines, paragraphs, tables, and headings."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

from loaders.formats.content import heading, one_line, pipe_table
from loaders.formats.superscript import continues_number

_LIGATURES = dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
_TABLE = str.maketrans({**_LIGATURES, "\xad": "-"})
_SAME_LINE = 0.35  # of the letter size: a smaller vertical offset is the same line
_LOWER = 0.05  # of the letter size: a piece that is lower by more is a subscript
_SMALLER = 0.85  # of the letter size: superscripts have at most this
_PARAGRAPH_GAP = 1.35  # times the usual line distance
_INDENT = 0.8  # of the letter size
_HEADING_SIZE = 1.08  # times the most common letter size
_OTHER_SIZE = 0.07  # of the letter size: a larger change ends a paragraph
_MAX_HEADING = 150  # characters
_MAX_HEADING_SHARE = 0.3  # of the lines: more suggest a poster
_LEVELS = 3
_TABLE_ROWS = 3  # fewer rows may be aligned by chance
_ALIGNED = 2.0  # points
_FIRST_CJK = "\u2e80"
_LIST_MARK = re.compile(r"\W{1,2}$|\(?\w{1,3}[.)]$")
_SENTENCE_END = re.compile(r"[.!?:;。！？…][\"'”’)\]」』]*$")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_CJK = r"[\u3001-\u30ff\u3400-\u9fff\uff01-\uff60]"
_ENDS_CJK, _STARTS_CJK = re.compile(f"{_CJK}$"), re.compile(_CJK)
_FULL_LINE = 0.7  # of the paragraph's longest line: shorter lines are intentional


@dataclass(slots=True)
class Line:
    """A line of a page: its start, in points from the bottom left, and its letter size.

    `cells` are its parts separated by wide gaps, each with its start; `end` is the approximate end
    of the last one.
    """

    text: str
    x: float
    y: float
    size: float
    upright: bool = True
    cells: list[tuple[float, str]] = field(default_factory=list)
    end: float = -math.inf

    def space(self) -> None:
        """Append a space that was painted separately."""
        x, text = self.cells[-1]
        self.cells[-1] = (x, f"{text} ")
        self.text += " "


class LineCollector:
    """Collects the pieces that pypdf extracts as the lines of one page."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._broken = True
        self._previous = Line("", 0.0, 0.0, 1.0)

    def visit(
        self, text: str, cm: Sequence[float], tm: Sequence[float], _: Any, size: float
    ) -> None:
        """Add one piece, with its transformation matrices; called by pypdf."""
        x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
        y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        up = (tm[2] * cm[0] + tm[3] * cm[2], tm[2] * cm[1] + tm[3] * cm[3])
        height = abs(size) * math.hypot(*up) or 1.0
        for number, part in enumerate(re.split(r"[\n\r]", text)):
            self._broken |= number > 0
            if part.strip():
                line = Line(part.translate(_TABLE), x, y, height, abs(up[0]) <= abs(up[1]))
                self._add(line, is_first=number == 0)
            elif part and self.lines and not self._broken:
                self.lines[-1].space()

    def _add(self, piece: Line, *, is_first: bool) -> None:
        last = self.lines[-1] if self.lines else None
        if last is None or not is_first or (self._broken and not _goes_on(last, piece)):
            last = Line("", piece.x, piece.y, piece.size, piece.upright)
            self.lines.append(last)
        elif self._broken:
            piece.text = f" {piece.text}"
        else:
            if continues_number(last.text, piece.text):
                piece.text = _separator(self._previous, piece) + piece.text
            if len(last.text) < 4:  # a bullet or superscript does not determine the line's size
                last.size = max(last.size, piece.size)
        last.text += piece.text
        _extend_cells(last, piece)
        self._previous = piece
        self._broken = False


def _extend_cells(line: Line, piece: Line) -> None:
    # Many programs paint letter by letter; only gaps beyond the usual letter width separate cells.
    if piece.x - line.end > piece.size:
        line.cells.append((piece.x, piece.text))
    else:
        x, text = line.cells[-1]
        line.cells[-1] = (x, text + piece.text)
    ems = sum(1.0 if letter > _FIRST_CJK else 0.5 for letter in piece.text)
    line.end = piece.x + ems * piece.size


def _separator(before: Line, piece: Line) -> str:
    """^ before a superscript, a space after a piece in smaller letters, or nothing.

    Many superscripts seem to be on the line itself, because pypdf ignores the rise of text. The
    decimals of a number may have smaller letters, too.
    """
    if piece.text[0] in ".,":
        return ""
    if piece.size < _SMALLER * before.size and piece.y > before.y - _LOWER * before.size:
        return "^"
    return " " if before.size < _SMALLER * piece.size else ""


def _goes_on(last: Line, piece: Line) -> bool:
    """Whether pypdf split words painted one by one, or cells of one row."""
    return abs(piece.y - last.y) < _SAME_LINE * piece.size and piece.x > last.x


class Layout:
    """The meaning of letter sizes in one document: text or headings."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        letters: Counter[float] = Counter()
        for line in (line for page in pages for line in page):
            letters[_round(line.size)] += len(line.text)
        self._body = letters.most_common(1)[0][0] if letters else 1.0
        lines = [line for page in pages for line in page]
        headings = (_round(line.size) for line in lines if line.upright and _may_head(line.text))
        sizes = [s for s in sorted(set(headings), reverse=True) if s >= self._body * _HEADING_SIZE]
        self._levels = {size: min(i, _LEVELS) for i, size in enumerate(sizes, start=1)}
        big = sum(_round(line.size) in self._levels for line in lines)
        self._has_headings = big <= _MAX_HEADING_SHARE * len(lines) or len(lines) < 4

    def markdown(self, lines: Sequence[Line]) -> str:
        """Format a page's lines as headings, paragraphs, and tables, separated by blank lines."""
        gaps = _usual_gaps(lines)
        blocks: list[str] = []
        for is_table, part in _tables(lines):
            if is_table:
                blocks.append(pipe_table([text for _, text in line.cells] for line in part))
            else:
                blocks += map(self._block, _paragraphs(part, gaps))
        return "\n\n".join(filter(None, blocks))

    def _block(self, lines: list[Line]) -> str:
        texts = [one_line(line.text) for line in lines]
        level = self._levels.get(_round(lines[0].size), 0) if self._has_headings else 0
        title = " ".join(texts)
        if level and lines[0].upright and _may_head(title):
            return heading(level, title)
        return _join(texts)


def _may_head(text: str) -> bool:
    short = len(text) <= _MAX_HEADING and _LETTERS.search(text) is not None
    return short and text.rstrip()[-1] not in ".,;:。、"


def _round(size: float) -> float:
    return round(size * 2) / 2


def _usual_gaps(lines: Sequence[Line]) -> dict[float, float]:
    """The median distance between lines, by letter size."""
    gaps: dict[float, list[float]] = defaultdict(list)
    for above, below in pairwise(lines):
        gap = above.y - below.y
        if 0 < gap < 3 * below.size and _round(above.size) == _round(below.size):
            gaps[_round(below.size)].append(gap)
    return {size: median(distances) for size, distances in gaps.items()}


def _tables(lines: Sequence[Line]) -> Iterator[tuple[bool, list[Line]]]:
    """Yield runs of lines and whether they are tables, that is, rows with aligned cells."""
    prose: list[Line] = []
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _aligned(lines[end - 1], lines[end]):
            end += 1
        rows = list(lines[at:end])
        if len(rows) < _TABLE_ROWS or all(_LIST_MARK.match(row.cells[0][1]) for row in rows):
            prose += rows
        else:
            yield False, prose
            yield True, rows
            prose = []
        at = end
    yield False, prose


def _aligned(above: Line, below: Line) -> bool:
    if not 1 < len(above.cells) == len(below.cells) or not 0 < above.y - below.y < 4 * below.size:
        return False
    pairs = zip(above.cells, below.cells, strict=True)
    return all(abs(a - b) < _ALIGNED for (a, _), (b, _) in pairs)


def _paragraphs(lines: Iterable[Line], gaps: dict[float, float]) -> Iterator[list[Line]]:
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _starts_paragraph(paragraph[-1], line, gaps):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _starts_paragraph(above: Line, line: Line, gaps: dict[float, float]) -> bool:
    usual = gaps.get(_round(line.size), 1.2 * line.size)
    gap = above.y - line.y
    if gap > _PARAGRAPH_GAP * usual or abs(above.size - line.size) > _OTHER_SIZE * line.size:
        return True
    ended = bool(_SENTENCE_END.search(above.text.rstrip()))
    is_next_column = gap < -line.size
    return ended and (is_next_column or line.x - above.x > _INDENT * line.size)


def _join(texts: list[str]) -> str:
    """Join a paragraph's lines; wrapped Chinese and Japanese lines are joined without a break."""
    full = _FULL_LINE * max(map(len, texts))
    parts = [texts[0]]
    for above, text in pairwise(texts):
        wraps = len(above) >= max(full, 10) and not _SENTENCE_END.search(above)
        is_cjk = _ENDS_CJK.search(above) and _STARTS_CJK.match(text)
        parts.append(text if wraps and is_cjk else f"\n{text}")
    return "".join(parts)
