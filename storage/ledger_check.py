"""Whether a ledger is one, and is whole: at each start what is cheap, on request everything."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, exists, inspect, select, text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from storage.data_folder import Remains
from storage.ledger_file import has_foreign_log, is_empty, reading, side_file
from storage.ledger_place import LedgerPlace, reason_of
from storage.tables import Base, DocumentRow, IndexRow, SourceRow
from storage.tables.cells import CellError

MAX_CHECKED_BYTES = 64 * 2**20
"""Up to this size every page is looked at, at each start, which takes some 50 ms.

Of a larger ledger it is the tables that a start itself reads and writes. Damage of another page is
met when the page is read, and by `findings`."""

_VERSIONS = "alembic_version"
_USED_AT_START = frozenset(
    (_VERSIONS, "conversations", "discarded_passages", "imports", "indexes", "sources", "workers")
)
_OURS = {SourceRow.__tablename__, DocumentRow.__tablename__}
_MOST_FINDINGS = 100
_TREE = re.compile(r"\b(?:Tree|tree page) (\d+)\b")


def require_ledger(connection: Connection, place: LedgerPlace, remains: Remains) -> None:
    """Make sure that what is there is Footnote's, or nothing yet where nothing remains.

    Raises:
        StorageError: It is another program's, or empty beside the indexes and files of a library.
    """
    names = set(inspect(connection).get_table_names()) - {_VERSIONS}
    if not names & _OURS:
        if remains:
            raise place.without_tables()
        if names and not place.url:
            raise place.foreign(", ".join(sorted(names)[:5]))
    elif remains.indexes and names >= _OURS and _is_blank(connection):
        raise place.without_rows()


def require_sound(connection: Connection, place: LedgerPlace, file: Path, head: str) -> None:
    """Make sure that nothing is wrong with the file, as far as that is cheap to see.

    Raises:
        DamagedLedgerError: Something is.
    """
    finding = next(_cheap_findings(connection, file, head), None)
    if finding is not None:
        raise place.damaged(finding)


def findings(place: LedgerPlace, head: str) -> list[str]:
    """What is wrong with the ledger's file, in words; reads all of it and writes nothing.

    Empty where all is well, and where the ledger is no SQLite file or not there yet.
    """
    if place.file is None or is_empty(place.file):
        return []
    found: list[str] = []
    try:
        with reading(place.file) as connection:
            found += _everywhere(connection)
            found += _lost_references(connection)
            found += _lost_columns(connection, head)
            if not found and revision_of(connection) == head:
                found += _unreadable_tables(connection)
    except (SQLAlchemyError, UnicodeDecodeError) as error:
        found.append(reason_of(error))
    return found


def _cheap_findings(connection: Connection, file: Path, head: str) -> Iterator[str]:
    if has_foreign_log(file):
        yield f"{side_file(file, '-wal').name} is not the log of a database"
    if file.stat().st_size <= MAX_CHECKED_BYTES:
        yield from _checked(connection, "quick_check(1)")
    else:
        yield from _table_by_table(connection, _USED_AT_START)
    yield from _lost_columns(connection, head)


def _everywhere(connection: Connection) -> list[str]:
    try:
        return [*_checked(connection, f"integrity_check({_MOST_FINDINGS})")]
    except DatabaseError as error:  # what is damaged at its root ends the whole check
        tables = inspect(connection).get_table_names()
        return [reason_of(error), *_table_by_table(connection, frozenset(tables))]


def _table_by_table(connection: Connection, tables: frozenset[str]) -> Iterator[str]:
    for table in sorted(tables.intersection(inspect(connection).get_table_names())):
        try:
            for finding in _checked(connection, f"quick_check({table})"):
                yield f"{table}: {finding}"
        except DatabaseError as error:
            yield f"{table}: {reason_of(error)}"


def _checked(connection: Connection, pragma: str) -> Iterator[str]:
    """What SQLite finds, line by line, with the table or index in place of a tree's number."""
    rows = connection.exec_driver_sql("SELECT rootpage, name FROM sqlite_master")
    roots = {root: name for root, name in rows}  # noqa: C416  # rows are no pairs to mypy
    for finding in connection.exec_driver_sql(f"PRAGMA {pragma}").scalars():
        for line in str(finding).splitlines():
            if line != "ok" and not line.startswith("***"):
                yield _TREE.sub(lambda tree: roots.get(int(tree[1]), tree[0]), line)


def _lost_references(connection: Connection) -> Iterator[str]:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check")
    for (table, to), rows in Counter((row[0], row[2]) for row in broken).items():
        yield f"{table}: {rows} rows refer to rows of {to} that are not there"


def _lost_columns(connection: Connection, head: str) -> Iterator[str]:
    """Tables and columns that the newest version has; an older one is migrated first."""
    revision, inspector = revision_of(connection), inspect(connection)
    if revision is None and set(inspector.get_table_names()) & _OURS:
        yield "its version is missing"
    if revision != head:
        return
    for table in Base.metadata.sorted_tables:
        there = {column["name"] for column in inspector.get_columns(table.name)}
        if lost := set(table.columns.keys()) - there:
            columns = ", ".join(sorted(lost))
            yield f"the table {table} has no column {columns}"


def _unreadable_tables(connection: Connection) -> Iterator[str]:
    for table in Base.metadata.sorted_tables:
        try:
            for _ in connection.execute(select(table).execution_options(yield_per=1000)):
                pass
        except (CellError, SQLAlchemyError, UnicodeDecodeError) as error:
            yield f"{table.name}: {reason_of(error)}"


def _is_blank(connection: Connection) -> bool:
    return not any(
        connection.scalar(select(exists(select(row.id))))
        for row in (SourceRow, DocumentRow, IndexRow)
    )


def revision_of(connection: Connection) -> str | None:
    """The migration that the ledger is at; None where it has none yet."""
    if not inspect(connection).has_table(_VERSIONS):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
