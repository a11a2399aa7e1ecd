"""The rows of a file of data: JSON Lines, CSV or Parquet."""

import csv
import io
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from errors import SourceError
from loaders.catalogue.description import refuse_no_file
from loaders.catalogue.rows import Row
from loaders.formats.delimited import delimiter_of

_BATCH_ROWS = 4096
_COLUMNS_SHOWN = 40


class Table(NamedTuple):
    """The columns that a file has, and its rows in order with those of them that were wanted."""

    columns: tuple[str, ...]
    rows: list[Row]


def read_table(path: Path, wanted: Collection[str]) -> Table:
    """Read a file by how its name ends: .jsonl, .csv or .parquet.

    JSON Lines and CSV are UTF-8, with or without a byte order mark; a CSV's first row has the
    names of its columns, and a column of JSON Lines is any key of any line. Blank lines are none.

    Raises:
        SourceError: The file is missing or broken: none of it is used, as what else is lost in it
            nobody could tell. The message names the line.
    """
    refuse_no_file(path)
    try:
        if path.suffix.lower() == ".parquet":
            return _parquet(path, wanted)
        return (_csv if path.suffix.lower() == ".csv" else _jsonl)(path, wanted)
    except OSError as error:
        raise SourceError(f"{path} can't be opened: {error.strerror or error}") from error


def check_columns(file: str, columns: Collection[str], named: Iterable[tuple[str, str]]) -> None:
    """Make sure that a file has the columns of these fields of a description.

    Raises:
        SourceError: It lacks one.
    """
    for field, column in named:
        if column and column not in columns:
            known = ", ".join(list(columns)[:_COLUMNS_SHOWN])
            raise SourceError(f"{field}: there is no column '{column}' in {file}; it has {known}")


def _refuse_twins(path: Path, columns: Sequence[str], wanted: Collection[str]) -> None:
    for name in wanted:
        if columns.count(name) > 1:
            raise SourceError(f"{path.name}: two columns are called {name}: rename one")


def _jsonl(path: Path, wanted: Collection[str]) -> Table:
    columns: dict[str, None] = {}
    rows = []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            where = f"{path.name}, line {number}"
            text = _decoded(where, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            if text.strip():
                values = _object(where, text)
                columns |= dict.fromkeys(values)
                rows.append(Row(where, {key: values[key] for key in wanted if key in values}))
    return Table(tuple(columns), rows)


def _object(where: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"{where}: the JSON is broken: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or depth
        raise SourceError(f"{where}: the JSON can't be read: {error}") from error
    if not isinstance(value, dict):
        raise SourceError(f"{where}: an object must stand here, such as {{“id”: 1}}")
    return value


def _csv(path: Path, wanted: Collection[str]) -> Table:
    text = _decoded_file(path).removeprefix("\ufeff")
    # A cell may hold a whole text: the module's own limit (128 KiB) is for the process to lift.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    records = _records(path.name, text)
    _, header = next(records, ("", []))
    columns = tuple(name.strip() for name in header)
    _refuse_twins(path, columns, wanted)
    return Table(columns, [_csv_row(where, cells, columns, wanted) for where, cells in records])


def _records(file: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """The records that are not blank, and where each begins: it may have several lines."""
    # Strict, or a quotation mark that is never closed would swallow the rows after it.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    while True:
        where = f"{file}, line {reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise SourceError(f"{where}: the CSV is broken: {error}") from error
        if cells is None:
            return
        if any(cells):
            yield where, cells


def _csv_row(
    where: str, cells: list[str], columns: tuple[str, ...], wanted: Collection[str]
) -> Row:
    if any(cells[len(columns) :]):
        raise SourceError(
            f"{where}: it has {len(cells)} cells, but there are {len(columns)} columns:"
            " put quotation marks around cells that hold the delimiter"
        )
    told = zip(columns, cells, strict=False)  # cells that are not there are empty
    return Row(where, {name: cell for name, cell in told if name in wanted and cell})


def _decoded_file(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{path.name}, line {line}: it is not UTF-8: save it as UTF-8") from error


def _decoded(where: str, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise SourceError(f"{where}: it is not UTF-8: save it as UTF-8") from error


def _parquet(path: Path, wanted: Collection[str]) -> Table:
    import pyarrow  # type: ignore[import-untyped]  # it has no types; slow, and only this needs it
    import pyarrow.parquet  # type: ignore[import-untyped]  # as above

    try:
        with path.open("rb") as stream, pyarrow.parquet.ParquetFile(stream) as file:
            columns = tuple(file.schema_arrow.names)
            _refuse_twins(path, columns, wanted)
            here = [name for name in columns if name in wanted]
            batches = file.iter_batches(_BATCH_ROWS, columns=here)
            values = [row for batch in batches for row in batch.to_pylist()]
    except (pyarrow.ArrowException, ValueError) as error:  # ValueError: a text that is not UTF-8
        raise SourceError(f"{path.name}: the Parquet file is broken: {error}") from error
    rows = [Row(f"{path.name}, row {n}", row) for n, row in enumerate(values, start=1)]
    return Table(columns, rows)
