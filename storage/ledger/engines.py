"""Engines of the ledger's database: connections, and how transactions begin."""

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from domain.errors import ConfigError
from domain.messages import _
from storage.ledger import postgresql
from storage.ledger.columns import json_text
from storage.ledger.ledger_location import DATABASE_URL

_BUSY_TIMEOUT_MS = 30_000

_POOL = {"pool_size": 2, "max_overflow": 13, "pool_use_lifo": True}
"""Each open connection caches up to 2 MB, so keep few, and reuse the latest. A new one takes .5 ms.

In total, 15 connections can be open, as with SQLAlchemy's default settings.
"""


def engine_of(url: str | URL, setting: str = DATABASE_URL) -> Engine:
    """The engine of a database, to which it does not connect yet.

    Raises:
        ConfigError: `url` names neither an SQLite file nor a PostgreSQL database, or the driver is
            not installed; the message names the setting or option that states the URL.
    """
    try:
        address = make_url(url)
        if postgresql.is_address(address):
            return postgresql.engine(address, setting)
        if not _is_sqlite_file(address):
            raise _invalid_url(setting)
        engine = create_engine(address, json_serializer=json_text, **_POOL)
    except (ArgumentError, NoSuchModuleError, ValueError):  # they may quote the password
        raise _invalid_url(setting) from None
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _is_sqlite_file(address: URL) -> bool:
    """Whether this is the URL of an SQLite file; a temporary database exists once per connection.

    https://www.sqlite.org/inmemorydb.html lists the names of temporary ones.
    """
    name = (address.database or "").removeprefix("file:")
    is_temporary = not name or name == ":memory:" or "memory" in address.query.get("mode", "")
    return address.get_backend_name() == "sqlite" and not is_temporary


def _invalid_url(setting: str) -> ConfigError:
    return ConfigError(
        _(
            "{setting} must be a URL of PostgreSQL (postgresql://USER:PASSWORD@HOST/DATABASE) or"
            " SQLite (sqlite:///FILE)"
        ).format(setting=setting)
    )


def is_on_server(url: str | None) -> bool:
    """Whether this is a URL of PostgreSQL, on which several machines can share a ledger."""
    if url is None:
        return False
    try:
        return postgresql.is_address(make_url(url))
    except (ArgumentError, ValueError):  # opening the ledger reports it
        return False


def reader_of(engine: Engine) -> Engine:
    """The engine for reading a snapshot."""
    is_sqlite = engine.dialect.name == "sqlite"
    return engine if is_sqlite else engine.execution_options(**postgresql.READS)


def writer_of(engine: Engine) -> Engine:
    """The engine for transactions that write, of which there is one at a time.

    With the option `footnote_unsynced`, a commit does not wait for the disk.
    """
    options = {} if engine.dialect.name == "sqlite" else postgresql.WRITES
    return engine.execution_options(footnote_writes=True, **options)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # pysqlite would begin transactions implicitly and too late, so _begin_sqlite does it.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads before it writes fails, whatever the timeout, if another one wrote in
    # between. Therefore, writers lock the database immediately.
    options = connection.get_execution_options()
    writes = options.get("footnote_writes")
    if writes:
        # With NORMAL, a power failure could undo commits that Deep Lake has already stored.
        synchronous = "NORMAL" if options.get("footnote_unsynced") else "FULL"
        connection.exec_driver_sql(f"PRAGMA synchronous = {synchronous}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
