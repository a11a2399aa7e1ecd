"""Checks the ledger for damage: a fast check at each start, and a full check on request."""

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Connection, NullPool, create_engine, exists, inspect, select, text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from storage.ledger.columns import CellError
from storage.ledger.ledger_location import LedgerLocation, Remains, reason_of
from storage.ledger.ledger_tables import Base, DocumentRow, IndexRow, SourceRow
from storage.ledger.move_mark import MoveState, read_mark

_LOG_MAGIC = b"\x37\x7f\x06"
_SIDES = ("-wal", "-shm")


def url_of(file: Path, **options: str) -> URL:
    """The database URL of an existing file; connecting to it never creates one.

    Args:
        file: The database file; it is converted to a URI, because a path would end at a "?".
        options: SQLite's URI parameters, such as `mode`.
    """
    query = {"mode": "rw"} | options | {"uri": "true"}
    return URL.create("sqlite", database=file.resolve().as_uri(), query=query)


def side_file(file: Path, side: str) -> Path:
    """SQLite's companion file: "-wal", the log; "-shm", the log's index; or "-journal"."""
    return file.with_name(file.name + side)


def is_empty(file: Path) -> bool:
    """Whether the file is missing or has 0 bytes."""
    try:
        return not file.stat().st_size
    except FileNotFoundError:  # not exists() first: the last process deletes the log when it ends
        return True


@contextmanager
def open_read_only(file: Path) -> Iterator[Connection]:
    """A connection that sees the last commit and neither creates nor changes a file.

    SQLite would create missing "-wal" and "-shm" files. Therefore, a ledger without a log is opened
    as immutable, and a ledger whose log has no index, such as a restored backup, is copied first.
    """
    log, index = (side_file(file, side) for side in _SIDES)
    if log.exists() and index.exists():
        with _connect(url_of(file, mode="ro")) as connection:
            yield connection
    elif is_empty(log):
        with _connect(url_of(file, mode="ro", immutable="1")) as connection:
            yield connection
    else:
        with TemporaryDirectory(prefix="footnote-") as folder:
            for one in (file, log):
                shutil.copyfile(one, Path(folder, one.name))
            with _connect(url_of(Path(folder, file.name))) as connection:
                yield connection


def has_foreign_log(file: Path) -> bool:
    """Whether the "-wal" file is not an SQLite log; SQLite would ignore and overwrite it.

    A log of zeros is accepted, because a power failure may leave one if no commit was synced.
    """
    try:
        with side_file(file, "-wal").open("rb") as log:
            head = log.read(32)
    except FileNotFoundError:
        return False
    return not head.startswith(_LOG_MAGIC) and any(head)


@contextmanager
def _connect(url: URL) -> Iterator[Connection]:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


MAX_CHECKED_BYTES = 64 * 2**20
"""Up to this size, each start checks every page, which takes about 50 ms.

In a larger ledger, it checks only the tables that are read and written at startup. Damage to other
pages is detected when they are read, and by `findings`."""

_VERSIONS = "alembic_version"
_USED_AT_START = frozenset(
    (_VERSIONS, "conversations", "discarded_passages", "imports", "indexes", "sources", "workers")
)
_OURS = {SourceRow.__tablename__, DocumentRow.__tablename__}
CONTENTS = (SourceRow.__tablename__, DocumentRow.__tablename__, IndexRow.__tablename__)
"""The tables that have rows in any library with documents."""
_MOST_FINDINGS = 100
_TREE = re.compile(r"\b(?:Tree|tree page) (\d+)\b")


def require_ledger(connection: Connection, location: LedgerLocation, remains: Remains) -> None:
    """Require a Footnote ledger, or an empty database in a new data folder.

    Raises:
        StorageError: The database belongs to another program, or it is empty although the folder
            contains the files of a library; or the ledger is moved, or was moved, elsewhere.
    """
    _require_in_place(connection, location)
    names = set(inspect(connection).get_table_names()) - {_VERSIONS}
    if not names & _OURS:
        if remains:
            raise location.missing_tables()
        if names and not location.url:
            raise location.foreign(", ".join(sorted(names)[:5]))
    elif remains.indexes and names >= _OURS and is_blank(connection, CONTENTS):
        raise location.missing_rows()


def _require_in_place(connection: Connection, location: LedgerLocation) -> None:
    mark = read_mark(connection)
    if mark is not None:
        raise (
            location.moved(mark.place)
            if mark.state == MoveState.MOVED
            else location.unfinished_move()
        )


def require_sound(connection: Connection, location: LedgerLocation, file: Path, head: str) -> None:
    """Perform the fast check.

    Raises:
        DamagedLedgerError: The check found damage.
    """
    finding = next(_cheap_findings(connection, file, head), None)
    if finding is not None:
        raise location.damage_error(finding)


def findings(location: LedgerLocation, head: str) -> list[str]:
    """Descriptions of all damage in the ledger's file, which is read completely but not written.

    Empty if the ledger is intact, is not an SQLite file, or does not exist yet.
    """
    if location.file is None or is_empty(location.file):
        return []
    problems: list[str] = []
    try:
        with open_read_only(location.file) as connection:
            problems += _full_check(connection)
            problems += _broken_references(connection)
            problems += (
                _missing_columns(connection, head)
                if problems
                else content_findings(connection, head)
            )
    except (SQLAlchemyError, UnicodeDecodeError) as error:
        problems.append(reason_of(error))
    return problems


def content_findings(connection: Connection, head: str) -> list[str]:
    """Descriptions of missing tables and columns, or else of tables with unreadable rows."""
    problems = list(_missing_columns(connection, head))
    if not problems and revision_of(connection) == head:
        problems += _unreadable_tables(connection)
    return problems


def _cheap_findings(connection: Connection, file: Path, head: str) -> Iterator[str]:
    if has_foreign_log(file):
        yield f"{side_file(file, '-wal').name} is not the log of a database"
    if file.stat().st_size <= MAX_CHECKED_BYTES:
        yield from _check_lines(connection, "quick_check(1)")
    else:
        yield from _table_by_table(connection, _USED_AT_START)
    yield from _missing_columns(connection, head)


def _full_check(connection: Connection) -> list[str]:
    try:
        return [*_check_lines(connection, f"integrity_check({_MOST_FINDINGS})")]
    except DatabaseError as error:  # a damaged root page aborts the whole check
        tables = inspect(connection).get_table_names()
        return [reason_of(error), *_table_by_table(connection, frozenset(tables))]


def _table_by_table(connection: Connection, tables: frozenset[str]) -> Iterator[str]:
    for table in sorted(tables.intersection(inspect(connection).get_table_names())):
        try:
            for finding in _check_lines(connection, f"quick_check({table})"):
                yield f"{table}: {finding}"
        except DatabaseError as error:
            yield f"{table}: {reason_of(error)}"


def _check_lines(connection: Connection, pragma: str) -> Iterator[str]:
    """SQLite's findings line by line, with the name of the table or index for a tree number."""
    rows = connection.exec_driver_sql("SELECT rootpage, name FROM sqlite_master")
    roots = {root: name for root, name in rows}  # noqa: C416  # mypy does not see rows as pairs
    for finding in connection.exec_driver_sql(f"PRAGMA {pragma}").scalars():
        for line in str(finding).splitlines():
            if line != "ok" and not line.startswith("***"):
                yield _TREE.sub(lambda tree: roots.get(int(tree[1]), tree[0]), line)


def _broken_references(connection: Connection) -> Iterator[str]:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check")
    for (table, to), rows in Counter((row[0], row[2]) for row in broken).items():
        yield f"{table}: {rows} rows refer to missing rows of {to}"


def _missing_columns(connection: Connection, head: str) -> Iterator[str]:
    """Missing columns of the newest version; an older version is migrated first."""
    revision, inspector = revision_of(connection), inspect(connection)
    tables = inspector.get_table_names()
    if revision is None and set(tables) & _OURS:
        yield "its version is missing"
    if revision != head:
        return
    for table in Base.metadata.sorted_tables:
        if table.name not in tables:
            yield f"the table {table} is missing"
            continue
        present = {column["name"] for column in inspector.get_columns(table.name)}
        if missing := set(table.columns.keys()) - present:
            columns = ", ".join(sorted(missing))
            yield f"the table {table} has no column {columns}"


def _unreadable_tables(connection: Connection) -> Iterator[str]:
    for table in Base.metadata.sorted_tables:
        try:
            for _ in connection.execute(select(table).execution_options(yield_per=1000)):
                pass
        except (CellError, SQLAlchemyError, UnicodeDecodeError) as error:
            if getattr(error, "connection_invalidated", False):
                raise
            connection.rollback()  # PostgreSQL executes nothing else in a failed transaction
            yield f"{table.name}: {reason_of(error)}"


def is_blank(connection: Connection, tables: Iterable[str]) -> bool:
    """Whether none of these tables has rows; earlier versions lack some."""
    present = set(inspect(connection).get_table_names())
    return not any(
        connection.scalar(select(exists(select(1).select_from(Base.metadata.tables[name]))))
        for name in tables
        if name in present
    )


def revision_of(connection: Connection) -> str | None:
    """The ledger's current migration; None before the first one."""
    if not inspect(connection).has_table(_VERSIONS):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
