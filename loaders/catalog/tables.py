"""Reads rows from JSON Lines, CSV, and Parquet files."""

import csv
import io
import json
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from domain.errors import SourceError, UnreadableError
from domain.messages import _
from loaders.catalog.catalog_description import line_of, not_utf8, open_file
from loaders.formats.content import clean, one_line
from loaders.formats.structured_data import delimiter_of

_EXACT = 2**53  # up to here, floats represent all integers
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row by column; `where` names the file and line in messages.

    The column "" represents a column that the catalog does not have, and is always empty.
    """

    where: str
    values: Mapping[str, Any]

    def text(self, column: str) -> str:
        """The cell on one line, in NFC, which makes texts with the same letters equal, or ""."""
        return normalize("NFC", one_line(self.paragraphs(column)))

    def paragraphs(self, column: str) -> str:
        """The cell, with line feeds as line breaks and without control characters."""
        return clean(_text(self.values.get(column))).strip()

    def texts(self, column: str) -> tuple[str, ...]:
        """The distinct items of a list, or of a text separated by ";", in NFC."""
        value = _parsed_list(self.values.get(column))
        items = value if isinstance(value, list) else _text(value).split(";")
        texts = (normalize("NFC", one_line(clean(_text(item)))) for item in items)
        return tuple(dict.fromkeys(text for text in texts if text))

    def number(self, column: str, minimum: float, maximum: float) -> float | None:
        """The number in the cell; None if it is empty.

        Raises:
            UnreadableError: It is not a number from `minimum` to `maximum`.
        """
        value = self.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        number = _number(value)
        if not minimum <= number <= maximum:
            raise UnreadableError(
                _(
                    "{where}: {column}: {value} is not a number from {minimum} to {maximum};"
                    " correct it, or leave it empty (null) if it is unknown"
                ).format(
                    where=self.where,
                    column=column,
                    value=_text(value)[:_SHOWN_CHARS] or "NaN",
                    minimum=f"{minimum:g}",
                    maximum=f"{maximum:g}",
                )
            )
        return number

    def rows(self, column: str) -> "list[Row]":
        """The objects in a list, or in a text that contains such a list as JSON, as rows.

        Raises:
            UnreadableError: The cell is not a list of objects.
        """
        value = _parsed_list(self.values.get(column))
        if value is None or value == "":
            return []
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise UnreadableError(
                _("{where}: {column} must be a list of objects").format(
                    where=self.where, column=column
                )
            )
        return [Row(f"{self.where}, {column} {n}", one) for n, one in enumerate(value, start=1)]

    def empty(self, column: str) -> UnreadableError:
        """The error for an empty cell."""
        return UnreadableError(
            _("{where}: {column} is empty").format(where=self.where, column=column)
        )


def _parsed_list(value: Any) -> Any:
    """Parse the value if it is a text that contains a JSON list, else return it."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # the text merely begins with a bracket
        return value


def _number(value: Any) -> float:
    """Convert the value to a number; NaN if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return _number_text(value)
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "replace")
        case list() | tuple():
            return ", ".join(filter(None, map(_text, value)))
        case dict():
            return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _number_text(value: float) -> str:
    if math.isnan(value):
        return ""
    whole = value.is_integer() and abs(value) < _EXACT
    return str(int(value)) if whole else repr(value)


_BATCH_ROWS = 4096
_COLUMNS_SHOWN = 40


class Table(NamedTuple):
    """All columns of a file, and its rows in order with the requested columns."""

    columns: tuple[str, ...]
    rows: list[Row]


def read_table(path: Path, columns: Collection[str]) -> Table:
    """Read these columns of a .jsonl, .csv, or .parquet file.

    JSON Lines and CSV are in UTF-8, with or without a byte order mark, and may contain blank lines.
    The first row of a CSV file has the names of the columns; any key in a JSON Lines file is a
    column.

    Raises:
        SourceError: The file is missing or damaged; the message names the line. No rows of a
            damaged file are used, because others could be missing.
    """
    if path.suffix.lower() == ".parquet":
        return _parquet(path, columns)
    return (_csv if path.suffix.lower() == ".csv" else _jsonl)(path, columns)


def check_columns(file: str, columns: Collection[str], fields: Iterable[tuple[str, str]]) -> None:
    """Check that a file has the columns that these fields of a description name.

    Raises:
        SourceError: A column is missing.
    """
    for field, column in fields:
        if column and column not in columns:
            known = ", ".join(list(columns)[:_COLUMNS_SHOWN])
            raise SourceError(
                _("{field}: {file} has no column '{column}'; its columns are {known}").format(
                    field=field, column=column, file=file, known=known
                )
            )


def _refuse_duplicates(path: Path, header: Sequence[str], columns: Collection[str]) -> None:
    for column in columns:
        if header.count(column) > 1:
            raise SourceError(
                _("{file}: two columns are named {column}: rename one").format(
                    file=path.name, column=column
                )
            )


def _jsonl(path: Path, columns: Collection[str]) -> Table:
    header: dict[str, None] = {}
    rows = []
    with open_file(path) as file:
        for number, line in enumerate(file, start=1):
            where = line_of(path.name, number)
            text = _decode(where, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            if text.strip():
                values = _object(where, text)
                header |= dict.fromkeys(values)
                rows.append(Row(where, {key: values[key] for key in columns if key in values}))
    return Table(tuple(header), rows)


def _object(where: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(
            _("{where}: invalid JSON: {reason}").format(where=where, reason=error.msg)
        ) from error
    except (ValueError, RecursionError) as error:  # thousands of digits, or deep nesting
        raise SourceError(
            _("{where}: invalid JSON: {reason}").format(where=where, reason=error)
        ) from error
    if not isinstance(value, dict):
        raise SourceError(_("{where}: not a JSON object such as {{“id”: 1}}").format(where=where))
    return value


def _csv(path: Path, columns: Collection[str]) -> Table:
    text = _decoded_file(path).removeprefix("\ufeff")
    # Cells can contain long text, and the module's default limit is 128 KiB.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    records = _records(path.name, text)
    _, first = next(records, ("", []))
    header = tuple(name.strip() for name in first)
    _refuse_duplicates(path, header, columns)
    return Table(header, [_csv_row(where, cells, header, columns) for where, cells in records])


def _records(file: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the nonblank records, with the file and line where each begins."""
    # In strict mode, an unclosed quotation mark is an error and does not swallow the next rows.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    while True:
        where = line_of(file, reader.line_num + 1)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise SourceError(
                _("{where}: invalid CSV: {reason}").format(where=where, reason=error)
            ) from error
        if cells is None:
            return
        if any(cells):
            yield where, cells


def _csv_row(
    where: str, cells: list[str], header: tuple[str, ...], columns: Collection[str]
) -> Row:
    if any(cells[len(header) :]):
        raise SourceError(
            _(
                "{where}: {cells} cells for {columns} columns: put quotation marks around cells"
                " that contain the delimiter"
            ).format(where=where, cells=len(cells), columns=len(header))
        )
    pairs = zip(header, cells, strict=False)  # missing cells are empty
    return Row(where, {name: cell for name, cell in pairs if name in columns and cell})


def _decoded_file(path: Path) -> str:
    with open_file(path) as file:
        data = file.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise not_utf8(line_of(path.name, line)) from error


def _decode(where: str, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(where) from error


def _parquet(path: Path, columns: Collection[str]) -> Table:
    import pyarrow  # type: ignore[import-untyped]  # no types; slow to load, and only this needs it
    import pyarrow.parquet  # type: ignore[import-untyped]  # as above

    try:
        with open_file(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
            header = tuple(file.schema_arrow.names)
            _refuse_duplicates(path, header, columns)
            present = [name for name in header if name in columns]
            batches = file.iter_batches(_BATCH_ROWS, columns=present)
            values = [row for batch in batches for row in batch.to_pylist()]
    except (pyarrow.ArrowException, ValueError) as error:  # ValueError: a text that is not UTF-8
        raise SourceError(
            _("{name}: invalid Parquet file: {reason}").format(name=path.name, reason=error)
        ) from error
    rows = [Row(f"{path.name}, row {n}", row) for n, row in enumerate(values, start=1)]
    return Table(header, rows)
