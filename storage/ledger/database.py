"""Opens and migrates the ledger's database, reports failures, and has the base of its stores."""

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy import ColumnElement, Delete, Engine, Row, Select, Update, delete, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain.errors import AppError, DamagedLedgerError, StorageError
from domain.messages import _
from storage.ledger import postgresql
from storage.ledger.columns import POSTGRESQL, CellError, Value, from_row
from storage.ledger.compatibility import is_ready
from storage.ledger.engines import engine_of, reader_of, writer_of
from storage.ledger.ledger_check import (
    content_findings,
    findings,
    is_empty,
    open_read_only,
    require_ledger,
    require_sound,
    side_file,
    url_of,
)
from storage.ledger.ledger_location import (
    DATABASE_URL,
    FILE,
    LedgerLocation,
    Remains,
    reason_of,
    remains_in,
)
from storage.ledger.session_lock import SessionLock
from storage.safe_writes import writer_lock

T = TypeVar("T")
Other = TypeVar("Other")
Columns = TypeVarTuple("Columns")

GROUP = 500
"""Items per statement: far below SQLite's limit of 32,766 variables, yet enough to be fast."""


def in_groups(items: Sequence[T], size: int = GROUP) -> Iterator[Sequence[T]]:
    """The items in order, `size` at a time; the last group may be shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def rows_with(
    session: Session,
    query: Select[*Columns],
    column: InstrumentedAttribute[str],
    values: Sequence[str],
) -> Iterator[Row[*Columns]]:
    """The rows of a query whose column has one of the values, however many there are."""
    for group in in_groups(values):
        yield from session.execute(query.where(column.in_(group)))


def scalars_with(
    session: Session, query: Select[T], column: InstrumentedAttribute[str], values: Sequence[str]
) -> Iterator[T]:
    """`rows_with` for a query of a single column or table."""
    for group in in_groups(values):
        yield from session.scalars(query.where(column.in_(group)))


def change_all(
    session: Session,
    statement: Delete | Update,
    column: InstrumentedAttribute[str],
    values: Sequence[str],
) -> None:
    """Delete or update the rows whose column has one of the values, however many there are."""
    for group in in_groups(values):
        session.execute(statement.where(column.in_(group)))


HEAD = "0020"
"""The newest migration; comparing it at each start avoids loading Alembic when unnecessary."""

_MIGRATION_TIMEOUT_S = 30.0


@contextmanager
def explain_errors(location: LedgerLocation) -> Iterator[None]:
    """Convert every database failure to a StorageError that says what to do.

    Python's sqlite3 raises a plain UnicodeDecodeError if its own message quotes damaged text.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise location.explanation(error) from error
    except (CellError, UnicodeDecodeError) as error:
        raise location.unreadable(reason_of(error)) from error


class Database:
    """Sessions of the ledger; every SQL failure is raised as a StorageError."""

    def __init__(self, engine: Engine, location: LedgerLocation) -> None:
        self._reader = reader_of(engine)
        self._writer = writer_of(engine)
        self._quick_writer = self._writer.execution_options(footnote_unsynced=True)
        self._location = location
        # There is one writer at a time, so threads queue here instead of polling SQLite's file
        # lock, or holding connections to PostgreSQL, which readers need.
        self._writing = threading.RLock()
        self._guard: Callable[[Session], None] | None = None

    def with_guard(self, guard: Callable[[Session], None]) -> "Database":
        """This ledger with a guard that each write transaction calls first, and that may raise."""
        database = copy.copy(self)
        database._guard = guard
        return database

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A read-only session on a snapshot of the ledger.

        Convert rows to values inside the block, so that damaged rows raise the right error.

        Raises:
            DamagedLedgerError: The ledger contains values that Footnote never writes.
        """
        try:
            with (
                explain_errors(self._location),
                Session(self._reader, expire_on_commit=False) as session,
            ):
                yield session
        except AppError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._location.unreadable(f"{type(error).__name__}: {error}") from error

    @contextmanager
    def write(self, *, synced: bool = True, checks_lease: bool = True) -> Iterator[Session]:
        """A session in one transaction: committed when the block ends, rolled back if it raises.

        Without `synced`, the commit does not wait for the disk. A power failure or a crash of
        PostgreSQL, but not one of this process, may undo it, unless a later transaction was synced.
        Without `checks_lease`, the guard is not called.

        Raises:
            BusyError: Another process has been writing for half a minute.
        """
        engine = self._writer if synced else self._quick_writer
        with (
            explain_errors(self._location),
            self._writing,
            Session(engine) as session,
            session.begin(),
        ):
            if checks_lease and self._guard is not None:
                self._guard(session)
            yield session

    @property
    def name(self) -> str:
        """The location of the ledger in messages."""
        return self._location.name

    def session_lock(self, key: int) -> SessionLock | None:
        """A new lock between the machines that use this ledger; None for SQLite.

        `key` is a constant of `session_lock`.
        """
        is_on_server = self._location.is_on_server
        return SessionLock(self._reader, self._location, key) if is_on_server else None

    def close(self) -> None:
        """Close the connections; the next session opens a new one."""
        self._reader.dispose()


def time_of(session: Session) -> datetime:
    """The time that all processes with this ledger agree on."""
    is_on_server = session.get_bind().dialect.name == POSTGRESQL
    return postgresql.time_of(session) if is_on_server else datetime.now(UTC)


class Store:
    """The base class of the ledger's stores, each of which has the queries for one subject."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _all(self, query: Select[T]) -> list[T]:
        with self._database.read() as session:
            return list(session.scalars(query))

    def _each(self, cls: type[Value], query: Select[Any]) -> list[Value]:
        """The rows of a query of one table as values of this dataclass."""
        with self._database.read() as session:
            return [from_row(cls, row) for row in session.scalars(query)]

    def _first(self, cls: type[Value], query: Select[Any]) -> Value | None:
        """The first row, see `_each`; None if there is none."""
        return next(iter(self._each(cls, query.limit(1))), None)

    def _tuples(self, cls: Callable[[*Columns], T], query: Select[*Columns]) -> list[T]:
        """The rows of a query of several columns as named tuples of this type."""
        with self._database.read() as session:
            return [cls(*row) for row in session.execute(query)]

    def _pairs(self, query: Select[T, Other]) -> dict[T, Other]:
        """The rows of a query of two columns, as keys and values."""
        with self._database.read() as session:
            return dict(session.execute(query).all())

    def _count(self, query: Select[int]) -> int:
        with self._database.read() as session:
            return session.scalar(query) or 0

    def _execute(self, statement: Delete | Update, *, synced: bool = True) -> None:
        """Execute one statement; see `Database.write`."""
        with self._database.write(synced=synced) as session:
            session.execute(statement)

    def _purge(self, id_: InstrumentedAttribute[Any], expired: ColumnElement[bool]) -> int:
        """Delete the expired rows of the table with this id column, and return their number."""
        with self._database.read() as session:
            # Usually there is nothing to delete, so avoid a write transaction.
            if session.scalar(select(id_).where(expired).limit(1)) is None:
                return 0
        with self._database.write() as session:
            statement = delete(id_.class_).where(expired).returning(id_)
            return len(session.scalars(statement).all())


def open_database(data_dir: Path, url: str | None = None) -> Database:
    """Open the ledger in `data_dir` or at `url`; create or migrate it if necessary.

    Raises:
        StorageError: The folder is not writable, only a newer version of Footnote works with the
            ledger, or the folder contains a library whose ledger is missing; nothing was changed.
        DamagedLedgerError: The ledger is damaged; nothing was changed.
        BusyError: The ledger must be migrated, but another process keeps writing to it.
        ConfigError: `url` names neither an SQLite file nor a PostgreSQL database, or the driver
            is not installed.
    """
    _make_folder(data_dir)
    location = ledger_location(data_dir, url)
    # Inspected before the ledger, so that a library created in between already has its ledger.
    remains = remains_in(data_dir)
    with explain_errors(location):
        if location.file is not None:
            _examine(location, location.file, remains)
        engine = engine_of(url or url_of(data_dir / FILE))
        try:
            _bring_up_to_date(engine, data_dir, location, remains)
        except BaseException:
            engine.dispose()  # SQLite then removes the files next to the ledger
            raise
    return Database(engine, location)


def _bring_up_to_date(
    engine: Engine, data_dir: Path, location: LedgerLocation, remains: Remains
) -> None:
    with engine.connect() as connection:
        if location.is_on_server:
            postgresql.require_server(connection, location)
        if location.file is None:
            require_ledger(connection, location, remains)
        if is_ready(connection, location, HEAD):
            return
    _migrate(engine, data_dir, location)


def ledger_location(data_dir: Path, url: str | None = None, option: str = "") -> LedgerLocation:
    """Where the ledger is, without opening it; see `LedgerLocation.option`.

    Raises:
        ConfigError: `url` names neither an SQLite file nor a PostgreSQL database, or the driver
            is not installed.
    """
    if url is None:
        return LedgerLocation(data_dir, "", data_dir / FILE, option=option)
    engine_of(url, option or DATABASE_URL)  # raises the errors
    address = make_url(url)
    display_url = address.set(query={}).render_as_string()
    if postgresql.is_address(address):
        return LedgerLocation(data_dir, display_url, None, is_on_server=True, option=option)
    name = str(address.database)  # engine_of refuses URLs without one
    file = None if name.startswith("file:") else Path(name)
    return LedgerLocation(data_dir, display_url, file, option=option)


def check_ledger(data_dir: Path, url: str | None = None) -> None:
    """Perform the full check without writing; a ledger that does not exist yet is fine.

    Raises:
        DamagedLedgerError: There is damage; `findings` lists all of it.
        ConfigError: `url` names neither an SQLite file nor a PostgreSQL database, or the driver
            is not installed.
    """
    location = ledger_location(data_dir, url)
    if url and location.is_on_server:
        problems = _findings_on_server(location, url)
    else:
        problems = findings(location, HEAD)
    if problems:
        raise location.damage_error(problems[0], problems)


def _findings_on_server(location: LedgerLocation, url: str) -> list[str]:
    engine = engine_of(url)
    try:
        with explain_errors(location), engine.connect() as connection:
            postgresql.require_server(connection, location)
            return content_findings(connection, HEAD)
    finally:
        engine.dispose()


def _examine(location: LedgerLocation, file: Path, remains: Remains) -> None:
    """Check the file before anything writes to it; create the ledger of a new data folder."""
    if is_empty(file):
        if remains or location.log:
            raise location.missing_file()
        if not location.url:
            create_file(location, file)
        return
    if not is_empty(side_file(file, "-journal")):
        return  # the first start was killed; SQLite rolls back when it opens the file
    try:
        _check_file(location, file, remains)
    except DamagedLedgerError:
        # Another process may have been writing while the file was read as immutable.
        _check_file(location, file, remains)


def _check_file(location: LedgerLocation, file: Path, remains: Remains) -> None:
    try:
        with explain_errors(location), open_read_only(file) as connection:
            require_sound(connection, location, file, HEAD)
            require_ledger(connection, location, remains)
    except OSError as error:
        raise location.unwritable(str(error)) from error


def create_file(location: LedgerLocation, file: Path) -> None:
    """Create the file of a ledger, which only this user may read, unless it exists."""
    try:
        file.touch(mode=0o600)
    except OSError as error:
        raise location.unwritable(str(error.strerror or error)) from error


def _make_folder(data_dir: Path) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            _(
                "the data folder {data_dir} can't be created ({strerror}): choose another one with"
                " FOOTNOTE_DATA_DIR or --data-dir"
            ).format(data_dir=data_dir, strerror=error.strerror)
        ) from error


def _migrate(engine: Engine, data_dir: Path, location: LedgerLocation) -> None:
    with writer_lock(data_dir, _MIGRATION_TIMEOUT_S), writer_of(engine).begin() as connection:
        from storage.ledger.migrations.run import upgrade  # loads Alembic

        if not is_ready(connection, location, HEAD):  # another process may have been faster
            upgrade(connection)
