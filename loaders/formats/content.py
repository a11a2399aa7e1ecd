"""The result of every reader, and functions for Markdown blocks that readers share."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_NO_TITLE = re.compile(
    r"(untitled|word document|document ?\d*|(powerpoint )?presentation ?\d*|slide ?\d+|title"
    r"|\(?anonymous\)?|제목 없음|(powerpoint )?프레젠테이션|powerpoint プレゼンテーション|無題)$"
    r"|microsoft (word|powerpoint|excel) - "
    r"|.*\.(docx?|pptx?|xlsx?|pdf|indd|tex|hwpx?|dvi|html?|md|txt)$",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_HEADING_STYLE = re.compile(r"(?:개요|제목|見出し|outline|heading)\s*([1-9])$", re.IGNORECASE)
MAX_HEADING = 200  # characters
_TITLE_STYLES = ("title", "제목", "문서 제목", "表題")


@dataclass(frozen=True, slots=True)
class Content:
    """A document's text as Markdown, and the metadata of its file.

    `pages` pairs the start offset of each page with its number, from 1; readers that return pages
    must clean the text themselves to keep the offsets correct. `title` is empty if the file has
    none.
    """

    text: str
    title: str = ""
    encoding: str | None = None
    pages: tuple[tuple[int, int], ...] = ()
    warnings: tuple[str, ...] = ()


def clean(text: str) -> str:
    """The text with line feeds as newlines, without control characters and lone surrogates."""
    text = _SURROGATES.sub("\ufffd", _DROPPED.sub("", _NEWLINES.sub("\n", text)))
    return text.strip("\n")


def collapse_blank_lines(text: str) -> str:
    """The text with consecutive blank lines collapsed to one."""
    return _BLANK_LINES.sub("\n\n", text)


def join_pages(pages: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Join the texts of pages 1, 2 ...; also return the start of each page that has text."""
    parts: list[str] = []
    starts: list[tuple[int, int]] = []
    offset = 0
    for number, page in enumerate(pages, start=1):
        text = clean(page).strip()
        if text:
            starts.append((offset, number))
            parts.append(text)
            offset += len(text) + 2
    return "\n\n".join(parts), tuple(starts)


def join_blocks(blocks: Iterable[tuple[str, str]]) -> str:
    """Join pairs of a kind and a text; blank lines separate the texts, and empty ones are omitted.

    An "item" that follows another item is on the next line; after a "break", which has no text, it
    is separate. Consecutive lines of "code" become a code block.
    """
    parts: list[str] = []
    code: list[str] = []
    after_item = False
    for kind, text in (*blocks, ("", "")):
        if kind == "code":
            code.append(text)
            continue
        if code:
            parts.append("\n\n" + fenced("\n".join(code)))
            code.clear()
        if text.strip():
            parts.append(("\n" if kind == "item" and after_item else "\n\n") + text)
        if text.strip() or kind == "break":
            after_item = kind == "item"
    return "".join(parts)


def ranges(numbers: Sequence[int]) -> str:
    """Format ascending numbers as "1, 4-6"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, pair)) for pair in spans)


def one_line(text: str) -> str:
    """The text with every run of white space replaced by one space, and none at its ends."""
    return _SPACES.sub(" ", text).strip()


def file_title(title: object) -> str:
    """The title from a file's properties; empty if a program rather than a person set it."""
    text = one_line(title) if isinstance(title, str) else ""
    return "" if _NO_TITLE.match(text) else text


def style_level(name: str) -> int:
    """The heading level in the name of a paragraph style, from 1; 0 if there is none."""
    if name.strip().lower() in _TITLE_STYLES:
        return 1
    match = _HEADING_STYLE.match(name.strip())
    return int(match[1]) if match else 0


def cell(text: str) -> str:
    """The text as one cell of a pipe table."""
    return one_line(text).replace("|", "\\|")


def pipe_table(rows: Iterable[Sequence[str]]) -> str:
    """Format rows as a pipe table, the first as its header; rows without text are omitted.

    Rows keep their own lengths, because one long row must not lengthen all others; only the header
    is as wide as the widest row.
    """
    cells = [[cell(text) for text in row] for row in rows]
    cells = [_trim(row) for row in cells if any(row)]
    if not cells:
        return ""
    width = max(map(len, cells))
    header = cells[0] + [""] * (width - len(cells[0]))
    return "\n".join(map(_line, (header, ["---"] * width, *cells[1:])))


def _trim(row: list[str]) -> list[str]:
    while row and not row[-1]:
        row.pop()
    return row


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"


def without_empty_columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows without the columns that have no text in any row."""
    used = sorted({i for row in rows for i, text in enumerate(row) if text and not text.isspace()})
    return [[row[i] for i in used if i < len(row)] for row in rows]


def heading(level: int, text: str) -> str:
    """A heading of level 1 to 6; deeper levels become 6."""
    return f"{'#' * max(1, min(level, 6))} {one_line(text)}"


def heading_or_text(level: int, text: str) -> str:
    """A heading, unless the level is 0 or the text too long for one, regardless of its style."""
    return heading(level, text) if level and len(text) <= MAX_HEADING else text


def fenced(code: str, language: str = "") -> str:
    """A code block; its fence is longer than any run of backticks in the code."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.strip(chr(10))}\n{fence}"


_MAX_SPAN = 200
_MAX_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, its row and column from 0, and how many rows it spans."""

    row: int
    column: int
    text: str
    rows: int = 1


def grid_table(cells: Iterable[Cell]) -> str:
    """Format cells as a pipe table; a cell that spans rows is repeated to keep rows complete."""
    texts: dict[int, dict[int, str]] = {}
    count = 0
    for cell in cells:
        height = max(1, min(cell.rows, _MAX_SPAN))
        count += height
        if count > _MAX_CELLS or cell.column >= _MAX_CELLS:
            break
        for row in range(cell.row, cell.row + height):
            texts.setdefault(row, {})[cell.column] = cell.text
    used = sorted({column for row in texts.values() for column in row})
    return pipe_table([texts[row].get(column, "") for column in used] for row in sorted(texts))
