"""Spreadsheets as Markdown: a heading and a pipe table for each sheet."""

from datetime import datetime, time
from typing import Any

from errors import UnreadableError
from loaders.formats.content import (
    Content,
    heading,
    one_line,
    pipe_table,
    without_empty_columns,
)
from loaders.formats.ooxml import open_archive

_MAX_CELLS = 20_000_000  # visited, empty ones too: a file of a few kilobytes can claim billions


def read(data: bytes) -> Content:
    """Read the values that the sheets show, without empty rows and columns.

    Of a formula the result is read that was last saved. Lines above the table that have one
    cell only, a title for instance, stand before it as paragraphs.
    """
    from openpyxl import load_workbook  # type: ignore[import-untyped]  # it has no types

    book = load_workbook(open_archive(data, ".xlsx"), read_only=True, data_only=True)
    try:
        visited = _Counter()
        sheets = [(sheet.title, _rows(sheet, visited)) for sheet in book.worksheets]
        text = "\n\n".join(_sheet(title, rows) for title, rows in sheets if rows)
        return Content(text, book.properties.title or "")
    finally:
        book.close()


class _Counter:
    """Counts the cells visited in one file."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, cells: int) -> None:
        self._count += 1 + cells
        if self._count > _MAX_CELLS:
            raise UnreadableError(f"more than {_MAX_CELLS // 10**6} million cells: split the file")


def _rows(sheet: Any, visited: _Counter) -> list[list[str]]:
    sheet.reset_dimensions()  # what the file says of its size is often wrong
    rows = []
    for row in sheet.iter_rows():
        visited.add(len(row))
        texts = [_text(cell) for cell in row]
        if any(texts):
            rows.append(texts)
    return without_empty_columns(rows)


def _sheet(title: str, rows: list[list[str]]) -> str:
    width = max(map(len, rows))
    above = 0
    if width > 1:
        above = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    lines = [one_line(text) for row in rows[:above] for text in row if text]
    return "\n\n".join((heading(1, title), *lines, pipe_table(rows[above:])))


def _text(cell: Any) -> str:
    value = cell.value
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, cell.number_format or "")
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)


def _number(value: float, number_format: str) -> str:
    """A number with at most ten significant digits, as a percentage where it is shown as one."""
    if "%" in number_format:
        return f"{value * 100:.10g}%"
    return str(value) if isinstance(value, int) else f"{value:.10g}"
