"""Gives a new ledger the rows of an old one, whatever their databases are.

Both are read in the order of their keys, which is the same in all databases, and only rows that
differ are written. Therefore, a copy that was interrupted is resumed by calling it again, and the
same call brings the new ledger up to date. No table is ever in memory as a whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    MetaData,
    Table,
    UniqueConstraint,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.sql import Executable
from sqlalchemy.types import TypeEngine

from domain import Progress, Stage
from domain.language.sanitization import sanitize
from storage.ledger.columns import (
    POSTGRESQL,
    Base,
    Json,
    Reading,
    Text,
    checked_text,
    sanitize_json,
)
from storage.ledger.database import explain_errors
from storage.ledger.engines import reader_of, writer_of
from storage.ledger.ledger_location import LedgerLocation
from storage.ledger.move_mark import permitted

Row = tuple[Any, ...]
OnProgress = Callable[[Progress], None]

_FETCH = 100
"""Rows in memory of the driver: texts of documents may have megabytes."""
_HAS_UNIQUE_VALUES = "has unique values"
_BATCH_ROWS, _BATCH_CHARACTERS = 1000, 4_000_000


class TableCopy(NamedTuple):
    """The number of rows of a table, and how many of them had to be written or deleted."""

    rows: int
    changes: int


class _StoredText(Text):
    """Text as it is stored; `read` replaces characters that earlier versions did not replace."""

    cache_ok = True

    def __init__(self, read: Reading) -> None:
        super().__init__()
        self.read = read

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading | None:  # type: ignore[override]  # noqa: ARG002  # SQLAlchemy's signature
        return None if dialect.name == POSTGRESQL else self.read


class _JsonText(Json):
    """JSON as its text."""

    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        return cast(column, _StoredText(_plain_json))  # psycopg would parse it

    def bind_processor(self, dialect: Dialect) -> None:  # noqa: ARG002  # SQLAlchemy's signature
        return None


def _plain_text(value: Any) -> Any:
    if value.__class__ is not str:
        return checked_text(value)
    return sanitize(value) if "\0" in value else value


def _plain_json(value: Any) -> Any:
    return value if value is None else sanitize_json(checked_text(value))


def copied_tables() -> list[Table]:
    """All tables of the ledger, referenced ones first; their columns begin with the key.

    Messages for users are texts and JSON here, because their templates must be copied, too.
    """
    return [_plain(table) for table in Base.metadata.sorted_tables]


def _plain(table: Table) -> Table:
    others = [column for column in table.columns if not column.primary_key]
    columns = [
        Column(column.name, _plain_type(column.type), primary_key=column.primary_key)
        for column in (*table.primary_key, *others)
    ]
    is_unique = any(isinstance(one, UniqueConstraint) for one in table.constraints)
    return Table(table.name, MetaData(), *columns, info={_HAS_UNIQUE_VALUES: is_unique})


def _plain_type(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(kind, Json):
        return _JsonText()
    return _StoredText(_plain_text) if isinstance(kind, Text) else kind


@dataclass(frozen=True)
class Snapshot:
    """The rows of a ledger within one transaction."""

    connection: Connection
    location: LedgerLocation

    def rows(self, table: Table, *, only_keys: bool = False) -> Iterator[Row]:
        """The rows in the order of their keys."""
        columns = table.primary_key if only_keys else table.columns
        query = select(*columns).order_by(*table.primary_key)
        with explain_errors(self.location):
            for row in self.connection.execute(query.execution_options(yield_per=_FETCH)):
                yield tuple(row)

    def count(self, table: Table) -> int:
        """The number of rows."""
        with explain_errors(self.location):
            return self.connection.scalar(select(func.count()).select_from(table)) or 0

    def is_empty(self, table: Table) -> bool:
        """Whether the table has no rows."""
        with explain_errors(self.location):
            return self.connection.execute(select(*table.primary_key).limit(1)).first() is None


@dataclass(frozen=True)
class LedgerPlace:
    """A database with a ledger that is copied, or will be."""

    location: LedgerLocation
    engine: Engine

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """A snapshot that does not change while others write."""
        with explain_errors(self.location), reader_of(self.engine).begin() as connection:
            yield Snapshot(connection, self.location)

    @contextmanager
    def writing(self, *, synced: bool = True) -> Iterator[Connection]:
        """A transaction, during which nobody else writes; see `Database.write`."""
        engine = writer_of(self.engine).execution_options(footnote_unsynced=not synced)
        with explain_errors(self.location), engine.begin() as connection:
            yield connection


class _Change(Enum):
    """How a row of the new ledger differs; in the order in which changes are made."""

    DELETE = "delete"
    UPDATE = "update"
    INSERT = "insert"


Difference = tuple[_Change, Row]


class _Count:
    """Counts the rows of a table and their changes, and reports how many of all rows are done."""

    def __init__(self, table: Table, done: int, total: int, on_progress: OnProgress) -> None:
        self._table = table
        self._done = done
        self._total = total
        self._on_progress = on_progress
        self.rows = 0
        self.changes = 0

    def each_row(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, counted after they were used."""
        for row in rows:
            yield row
            self.rows += 1
            if self.rows % _BATCH_ROWS == 0:
                self._report()
        self._report()

    def each_change(self, changes: Iterable[Difference]) -> Iterator[Difference]:
        """The changes, which are counted."""
        for change in changes:
            self.changes += 1
            yield change

    def _report(self) -> None:
        done = self._done + self.rows
        self._on_progress(Progress(Stage.WRITING, done, max(self._total, done), self._table.name))


def _differences(old: Iterable[Row], new: Iterable[Row], key_length: int) -> Iterator[Difference]:
    """How to change the new rows into the old ones; both are in the order of their keys."""
    others = iter(new)
    other = next(others, None)
    for row in old:
        key = row[:key_length]
        while other is not None and other[:key_length] < key:
            yield _Change.DELETE, other
            other = next(others, None)
        if other is None or other[:key_length] > key:
            yield _Change.INSERT, row
            continue
        if other != row:
            yield _Change.UPDATE, row
        other = next(others, None)
    while other is not None:
        yield _Change.DELETE, other
        other = next(others, None)


def copy_rows(
    old: Snapshot, new: LedgerPlace, tables: Sequence[Table], on_progress: OnProgress
) -> dict[str, TableCopy]:
    """Make the rows of the new ledger those of the old one, table by table.

    Each batch is a transaction of the new ledger, of which nobody else may change anything.

    Args:
        old: The old ledger.
        new: The new ledger, with all of its tables and a mark.
        tables: All or some of `copied_tables`, in their order.
        on_progress: Receives the number of rows that were read, and of all rows.

    Returns:
        Without changes, each row of the table in both ledgers was equal.

    Raises:
        StorageError: One of the ledgers can't be read or written; the finished batches are kept.
    """
    total, done = sum(map(old.count, tables)), 0
    copies = {}
    for table in tables:
        count = _Count(table, done, total, on_progress)
        _copy_table(table, old, new, count)
        done += count.rows
        copies[table.name] = TableCopy(count.rows, count.changes)
    return copies


def _copy_table(table: Table, old: Snapshot, new: LedgerPlace, count: _Count) -> None:
    with new.reading() as current:
        is_empty = current.is_empty(table)
    rows = count.each_row(old.rows(table))
    if is_empty:  # without a snapshot of it, which would keep the log of SQLite growing
        _apply(table, count.each_change(_differences(rows, (), 0)), new)
        return
    if table.info[_HAS_UNIQUE_VALUES]:
        _delete_others(table, old, new, count)
    with new.reading() as current:
        differences = _differences(rows, current.rows(table), len(table.primary_key))
        _apply(table, count.each_change(differences), new)


def _delete_others(table: Table, old: Snapshot, new: LedgerPlace, count: _Count) -> None:
    """Delete the rows that the old ledger lacks, before others take their unique values."""
    with new.reading() as current:
        keys, current_keys = (one.rows(table, only_keys=True) for one in (old, current))
        differences = _differences(keys, current_keys, len(table.primary_key))
        deletions = (one for one in differences if one[0] is _Change.DELETE)
        _apply(table, count.each_change(deletions), new)


def _apply(table: Table, changes: Iterable[Difference], new: LedgerPlace) -> None:
    statements = _statements(table)
    for batch in _batches(changes):
        with new.writing(synced=False) as connection, permitted(connection):
            for change in _Change:
                rows = [row for kind, row in batch if kind is change]
                if rows:
                    connection.execute(statements[change], _parameters(table, rows, change))


def _batches(changes: Iterable[Difference]) -> Iterator[list[Difference]]:
    batch, characters = list[Difference](), 0
    for change in changes:
        batch.append(change)
        characters += sum(len(value) for value in change[1] if isinstance(value, str))
        if len(batch) >= _BATCH_ROWS or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


_KEY = "key_of_"


def _statements(table: Table) -> dict[_Change, Executable]:
    is_row = [column == bindparam(_KEY + column.name) for column in table.primary_key]
    return {
        _Change.DELETE: table.delete().where(*is_row),
        _Change.UPDATE: table.update().where(*is_row),
        _Change.INSERT: table.insert(),
    }


def _parameters(table: Table, rows: Sequence[Row], change: _Change) -> list[dict[str, Any]]:
    names = [column.name for column in table.columns]
    if change is not _Change.INSERT:
        for position in range(len(table.primary_key)):
            names[position] = _KEY + names[position]
    if change is _Change.DELETE:
        names = names[: len(table.primary_key)]
    return [dict(zip(names, row, strict=False)) for row in rows]
