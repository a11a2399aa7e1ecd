"""The ledger's database: opened, brought to this version, and its failures explained."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session

from errors import AppError, ConfigError, DamagedLedgerError, StorageError
from storage.data_folder import Remains, remains_in
from storage.ledger_check import findings, require_ledger, require_sound, revision_of
from storage.ledger_file import is_empty, reading, side_file, url_of
from storage.ledger_place import FILE, LedgerPlace, explained

HEAD = "0008"
"""The newest migration. Compared at each start, so that Alembic loads only for a migration."""

_BUSY_TIMEOUT_MS = 30_000
_MIGRATION_TIMEOUT_S = 30.0


class Database:
    """Sessions over the ledger; every failure of SQL leaves as a StorageError."""

    def __init__(self, engine: Engine, place: LedgerPlace) -> None:
        self._reader = engine
        self._writer = engine.execution_options(footnote_writes=True)
        self._quick_writer = self._writer.execution_options(footnote_unsynced=True)
        self._place = place
        # SQLite has one writer: threads queue here instead of polling its file lock.
        self._writing = threading.RLock()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that sees one state of the ledger and changes nothing.

        What rows are made into belongs into the block: it fails there where they are damaged.

        Raises:
            DamagedLedgerError: The ledger holds what Footnote can't have written.
        """
        try:
            with explained(self._place), Session(self._reader, expire_on_commit=False) as session:
                yield session
        except AppError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._place.unreadable(f"{type(error).__name__}: {error}") from error

    @contextmanager
    def write(self, *, synced: bool = True) -> Iterator[Session]:
        """A session in one transaction: committed when the block ends, undone when it raises.

        Without `synced` the disk is not waited for: a power cut, though no crash, may undo it
        unless a later one was synced.

        Raises:
            BusyError: Another process has been writing for half a minute.
        """
        engine = self._writer if synced else self._quick_writer
        with explained(self._place), self._writing, Session(engine) as session, session.begin():
            yield session

    def close(self) -> None:
        """Give back the connections; the next session opens a new one."""
        self._reader.dispose()


def open_database(data_dir: Path, url: str | None = None) -> Database:
    """The ledger in `data_dir` (or at `url`), created or migrated where it needs to be.

    Raises:
        StorageError: The folder can't be written, belongs to a newer Footnote, or holds a library
            whose ledger is missing; nothing was changed.
        DamagedLedgerError: The ledger is damaged; nothing was changed.
        BusyError: It is to be migrated, and another process goes on writing to it.
        ConfigError: `url` is not an SQLAlchemy URL, or its driver is not installed.
    """
    _make_folder(data_dir)
    place = ledger_place(data_dir, url)
    # Before the ledger is looked at: what another process begins meanwhile has its ledger already.
    remains = remains_in(data_dir)
    with explained(place):
        if place.file is not None:
            _examine(place, place.file, remains)
        engine = _engine(url or url_of(data_dir / FILE))
        with engine.connect() as connection:
            if place.file is None:
                require_ledger(connection, place, remains)
            revision = revision_of(connection)
        if revision != HEAD:
            _migrate(engine, data_dir, place.name)
    return Database(engine, place)


def ledger_place(data_dir: Path, url: str | None = None) -> LedgerPlace:
    """Where the ledger is; nothing is opened.

    Raises:
        ConfigError: `url` is not an SQLAlchemy URL, or its driver is not installed.
    """
    if url is None:
        return LedgerPlace(data_dir, "", data_dir / FILE)
    address = _engine(url).url
    name = address.database or ":memory:"
    is_file = address.get_backend_name() == "sqlite" and not name.startswith((":", "file:"))
    told = address.set(query={}).render_as_string()
    return LedgerPlace(data_dir, told, Path(name) if is_file else None)


def check_ledger(data_dir: Path, url: str | None = None) -> None:
    """Look at every byte of the ledger, and write none; where there is none yet, all is well.

    Raises:
        DamagedLedgerError: Something is wrong; `findings` has it all.
        ConfigError: `url` is not an SQLAlchemy URL, or its driver is not installed.
    """
    place = ledger_place(data_dir, url)
    if found := findings(place, HEAD):
        raise place.damaged(found[0], found)


def _examine(place: LedgerPlace, file: Path, remains: Remains) -> None:
    """Look at the file before anything may write to it; a ledger of our own is begun."""
    if is_empty(file):
        if remains or place.log:
            raise place.gone()
        if not place.url:
            _touch(place, file)
        return
    if not is_empty(side_file(file, "-journal")):
        return  # of the very first start, which was killed: SQLite undoes it when it opens the file
    try:
        _look(place, file, remains)
    except DamagedLedgerError:
        # Another process may have been writing to what was read as if nobody did.
        _look(place, file, remains)


def _look(place: LedgerPlace, file: Path, remains: Remains) -> None:
    try:
        with explained(place), reading(file) as connection:
            require_sound(connection, place, file, HEAD)
            require_ledger(connection, place, remains)
    except OSError as error:
        raise place.unwritable(str(error)) from error


def _touch(place: LedgerPlace, file: Path) -> None:
    try:
        file.touch()
    except OSError as error:
        raise place.unwritable(str(error.strerror)) from error


def _make_folder(data_dir: Path) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the data folder {data_dir} can't be created ({error.strerror}): choose another"
            " with FOOTNOTE_DATA_DIR or --data-dir"
        ) from error


def _engine(url: str | URL) -> Engine:
    try:
        engine = create_engine(make_url(url))
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError("FOOTNOTE_DATABASE_URL is not an SQLAlchemy database URL") from error
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"FOOTNOTE_DATABASE_URL needs the package {error.name}: pip install {error.name}"
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # pysqlite would begin transactions by itself, and too late; _begin_sqlite does it.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later is refused when another wrote in between,
    # whatever the timeout: writers take their place in the queue at once.
    options = connection.get_execution_options()
    writes = options.get("footnote_writes")
    if writes:
        # NORMAL could forget the last commits in a power cut, which Deep Lake would remember.
        synchronous = "NORMAL" if options.get("footnote_unsynced") else "FULL"
        connection.exec_driver_sql(f"PRAGMA synchronous = {synchronous}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(engine: Engine, data_dir: Path, place: str) -> None:
    from storage.lock import writer_lock  # slow, and needed once in a data folder's life

    with writer_lock(data_dir, _MIGRATION_TIMEOUT_S), engine.begin() as connection:
        from storage.migrations.run import is_known, upgrade  # loads Alembic

        revision = revision_of(connection)
        if revision is not None and not is_known(revision):
            raise StorageError(
                f"{place} was written by a newer Footnote (its version is {revision}): update"
                " Footnote, or choose another folder with FOOTNOTE_DATA_DIR"
            )
        upgrade(connection)
