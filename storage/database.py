"""The ledger's database: opened, brought to this version, and its failures explained."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import Session

from errors import BusyError, ConfigError, StorageError

HEAD = "0008"
"""The newest migration. Compared at each start, so that Alembic loads only for a migration."""

_FILE = "footnote.db"
_BUSY_TIMEOUT_MS = 30_000
_MIGRATION_TIMEOUT_S = 30.0


class Database:
    """Sessions over the ledger; every failure of SQL leaves as a StorageError."""

    def __init__(self, engine: Engine, place: str) -> None:
        self._reader = engine
        self._writer = engine.execution_options(footnote_writes=True)
        self._quick_writer = self._writer.execution_options(footnote_unsynced=True)
        self._place = place
        # SQLite has one writer: threads queue here instead of polling its file lock.
        self._writing = threading.RLock()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that sees one state of the ledger and changes nothing."""
        with self._explained(), Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self, *, synced: bool = True) -> Iterator[Session]:
        """A session in one transaction: committed when the block ends, undone when it raises.

        Without `synced` the disk is not waited for: a power cut, though no crash, may undo it
        unless a later one was synced.

        Raises:
            BusyError: Another process has been writing for half a minute.
        """
        engine = self._writer if synced else self._quick_writer
        with self._explained(), self._writing, Session(engine) as session, session.begin():
            yield session

    def close(self) -> None:
        """Give back the connections; the next session opens a new one."""
        self._reader.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise _explain(error, self._place) from error


def open_database(data_dir: Path, url: str | None = None) -> Database:
    """The ledger in `data_dir` (or at `url`), created or migrated where it needs to be.

    Raises:
        StorageError: The folder can't be written, or belongs to a newer Footnote.
        BusyError: It is to be migrated, and another process goes on writing to it.
        ConfigError: `url` is not an SQLAlchemy URL, or its driver is not installed.
    """
    _make_folder(data_dir)
    # Written as text, a folder with a "?" in its name would be cut off there.
    own = URL.create("sqlite", database=str(data_dir / _FILE))
    engine = _engine(url or own)
    place = f"the data folder {data_dir}" if url is None else _without_secrets(engine)
    try:
        with engine.connect() as connection:
            revision = _revision(connection)
        if revision != HEAD:
            _migrate(engine, data_dir, place)
    except SQLAlchemyError as error:
        raise _explain(error, place) from error
    return Database(engine, place)


def _make_folder(data_dir: Path) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the data folder {data_dir} can't be created ({error.strerror}): choose another"
            " with FOOTNOTE_DATA_DIR or --data-dir"
        ) from error


def _without_secrets(engine: Engine) -> str:
    return engine.url.set(query={}).render_as_string()


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


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _migrate(engine: Engine, data_dir: Path, place: str) -> None:
    from storage.lock import writer_lock  # slow, and needed once in a data folder's life

    with writer_lock(data_dir, _MIGRATION_TIMEOUT_S), engine.begin() as connection:
        from storage.migrations.run import is_known, upgrade  # loads Alembic

        revision = _revision(connection)
        if revision is not None and not is_known(revision):
            raise StorageError(
                f"{place} was written by a newer Footnote (its version is {revision}): update"
                " Footnote, or choose another folder with FOOTNOTE_DATA_DIR"
            )
        upgrade(connection)


def _explain(error: SQLAlchemyError, place: str) -> StorageError:
    reason = str(error.orig) if isinstance(error, DatabaseError) else str(error)
    if "database is locked" in reason:
        return BusyError(f"{place} is being written by another process: try again in a moment")
    if "readonly" in reason or "unable to open" in reason:
        return StorageError(
            f"{place} can't be written ({reason}): give the user who runs Footnote the right to"
            " write there, or choose another folder with FOOTNOTE_DATA_DIR"
        )
    if "disk is full" in reason:
        return StorageError(f"{place} has no space left on its disk: free some and try again")
    return StorageError(f"{place} can't be used ({reason}){_remedy(reason)}")


def _remedy(reason: str) -> str:
    if "malformed" in reason or "not a database" in reason:
        return (
            f": {_FILE} is damaged. Put back a copy of the folder, or choose a new one with"
            " FOOTNOTE_DATA_DIR and import your documents again"
        )
    if "disk I/O error" in reason:
        return ": check that its disk has room and is sound, then try again"
    return ""
