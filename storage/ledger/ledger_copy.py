"""Gives a new ledger the rows of an old one, whatever their databases are.

Both are read in the order of their keys, which is the same in all databases, and only rows that
differ are written. Therefore, a copy that was interrupted is resumed by calling it again, and the
same call brings the new ledger up to date. No table is ever in memory as a whole.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Engine,
    MetaData,
    Table,
    bindparam,
    func,
    select,
)
from sqlalchemy.sql import Executable
from sqlalchemy.types import TypeEngine

from domain import Progress, Stage
from domain.errors import StorageError
from domain.language.sanitization import sanitize
from domain.messages import _
from storage.ledger.columns import Base, Json, Reading, Text, json_text
from storage.ledger.database import explain_errors
from storage.ledger.engines import reader_of, writer_of
from storage.ledger.ledger_location import LedgerLocation

Row = tuple[Any, ...]
OnProgress = Callable[[Progress], None]

_FETCH = 100
"""Rows in memory of the driver: texts of documents may have megabytes."""
_BATCH_ROWS, _BATCH_CHARACTERS = 1000, 4_000_000


class TableSum(NamedTuple):
    """The number of rows of a table, and a checksum of all of their values."""

    rows: int
    checksum: str


class _PlainText(Text):
    """Text as it is stored, without the characters that earlier versions did not replace."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:
        return _then(super().result_processor(dialect, coltype), sanitize)


class _JsonText(Json):
    """JSON as a text, which is the same for the same values."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> None:  # noqa: ARG002  # SQLAlchemy's signature
        return None

    def result_processor(self, dialect: Dialect, coltype: object) -> Reading:
        return _then(super().result_processor(dialect, coltype), json_text)


def _then(read: Reading, change: Reading) -> Reading:
    def process(value: Any) -> Any:
        return change(value) if (value := read(value)) is not None else None

    return process


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
    return Table(table.name, MetaData(), *columns)


def _plain_type(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(kind, Json):
        return _JsonText()
    return _PlainText() if isinstance(kind, Text) else kind


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

    def sums(self, on_progress: OnProgress) -> dict[str, TableSum]:
        """The checksum of each table."""
        tables = copied_tables()
        count = _Count(on_progress, Stage.READING, sum(map(self.count, tables)))
        sums = {}
        for table in tables:
            checksum = _Checksum()
            for row in count.each(table, checksum.each(self.rows(table))):
                del row
            sums[table.name] = checksum.result()
        return sums


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


class _Count:
    """Reports how many rows of all tables are done."""

    def __init__(self, on_progress: OnProgress, stage: Stage, total: int) -> None:
        self._on_progress = on_progress
        self._stage = stage
        self._total = total
        self._done = 0

    def each(self, table: Table, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, counted after they were used."""
        for row in rows:
            yield row
            self._done += 1
            if self._done % _BATCH_ROWS == 0:
                self._report(table)
        self._report(table)

    def _report(self, table: Table) -> None:
        total = max(self._total, self._done)
        self._on_progress(Progress(self._stage, self._done, total, table.name))


class _Checksum:
    """Adds up the rows of a table."""

    def __init__(self) -> None:
        self._rows = 0
        self._hash = hashlib.sha256()

    def each(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, which are added before they are used."""
        for row in rows:
            self._rows += 1
            self._hash.update(repr(row).encode())
            yield row

    def result(self) -> TableSum:
        """The sum of the rows so far."""
        return TableSum(self._rows, self._hash.hexdigest())


class _Change(Enum):
    """How a row of the new ledger differs; in the order in which changes are made."""

    DELETE = "delete"
    UPDATE = "update"
    INSERT = "insert"


def _differences(
    old: Iterable[Row], new: Iterable[Row], key_length: int
) -> Iterator[tuple[_Change, Row]]:
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


def copy_rows(old: Snapshot, new: LedgerPlace, on_progress: OnProgress) -> dict[str, TableSum]:
    """Make the rows of the new ledger those of the old one, table by table.

    Each batch is a transaction of the new ledger, of which nobody else may change anything.

    Returns:
        The checksum of each table of the old ledger.

    Raises:
        StorageError: One of the ledgers can't be read or written; the finished batches are kept.
    """
    tables = copied_tables()
    count = _Count(on_progress, Stage.WRITING, sum(map(old.count, tables)))
    sums = {}
    for table in tables:
        checksum = _Checksum()
        with new.reading() as current:
            is_empty = not current.count(table)
        if is_empty:  # without a snapshot of it, which would keep the log of SQLite growing
            _insert(table, count.each(table, checksum.each(old.rows(table))), new)
        else:
            _delete_others(table, old, new)
            _update(table, count.each(table, checksum.each(old.rows(table))), new)
        sums[table.name] = checksum.result()
    return sums


def _insert(table: Table, rows: Iterable[Row], new: LedgerPlace) -> None:
    _apply(table, ((_Change.INSERT, row) for row in rows), new)


def _delete_others(table: Table, old: Snapshot, new: LedgerPlace) -> None:
    """Delete the rows that the old ledger lacks, before others take their unique values."""
    with new.reading() as current:
        keys, current_keys = (one.rows(table, only_keys=True) for one in (old, current))
        changes = _differences(keys, current_keys, len(table.primary_key))
        _apply(table, (one for one in changes if one[0] is _Change.DELETE), new)


def _update(table: Table, rows: Iterable[Row], new: LedgerPlace) -> None:
    with new.reading() as current:
        _apply(table, _differences(rows, current.rows(table), len(table.primary_key)), new)


def _apply(table: Table, changes: Iterable[tuple[_Change, Row]], new: LedgerPlace) -> None:
    statements = _statements(table)
    for batch in _batches(changes):
        with new.writing(synced=False) as connection:
            for change in _Change:
                rows = [row for kind, row in batch if kind is change]
                if rows:
                    connection.execute(statements[change], _parameters(table, rows, change))


def _batches(changes: Iterable[tuple[_Change, Row]]) -> Iterator[list[tuple[_Change, Row]]]:
    batch, characters = list[tuple[_Change, Row]](), 0
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


def require_equal(sums: Mapping[str, TableSum], new: LedgerPlace, on_progress: OnProgress) -> None:
    """Read the new ledger, and compare it with these checksums of the old one.

    Raises:
        StorageError: A table differs.
    """
    with new.reading() as current:
        found = current.sums(on_progress)
    for name, expected in sums.items():
        if found[name] != expected:
            raise StorageError(
                _(
                    "The table {table} in {place} differs from the original after copying it (rows:"
                    " {rows} instead of {expected}). Make sure that no other program writes to that"
                    " database, then run the same command again."
                ).format(
                    table=name,
                    place=new.location.name,
                    rows=found[name].rows,
                    expected=expected.rows,
                )
            )
