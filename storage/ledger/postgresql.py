"""The ledger on PostgreSQL: what differs from SQLite, in one place.

Writers are serialized by an advisory lock, as by SQLite's lock, so that a transaction may check
something and rely on it when it writes. Readers see a snapshot.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    DateTime,
    Engine,
    Integer,
    String,
    Table,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction

from domain.errors import ConfigError, StorageError, StorageUnavailableError
from domain.messages import _
from storage.ledger.columns import POSTGRESQL, Whole, json_text

if TYPE_CHECKING:
    from storage.ledger.ledger_location import LedgerLocation

_DRIVER = "postgresql+psycopg"
_LOCK: Final = 0x666F6F746E6F7465
"""The key of the advisory lock of writers: `footnote` in ASCII. Locks belong to one database."""

_OLDEST = 15
_MIGRATION_TIMEOUT = "1h"
_SESSION = {
    "statement_timeout": "5min",
    "lock_timeout": "30s",
    "work_mem": "64MB",  # a million ids of hidden documents, with which each document is compared
    "idle_in_transaction_session_timeout": "5min",  # ends the lock of a process that hangs
    # So that the server notices that a machine has vanished, and releases its lock.
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_CONNECTION = {
    "application_name": "footnote",
    "connect_timeout": "10",  # seconds, for each host
    "client_encoding": "utf8",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",  # milliseconds
}

READS: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
# Each statement must see what was committed before the lock was acquired.
WRITES: Mapping[str, Any] = {"isolation_level": "READ COMMITTED"}


def is_address(url: URL) -> bool:
    """Whether the URL is one of PostgreSQL."""
    return url.get_backend_name() == POSTGRESQL


def engine(url: URL, setting: str) -> Engine:
    """An engine with bounded waits and at most 15 connections, which does not connect yet.

    Parameters in the URL take precedence over the defaults.

    Raises:
        ArgumentError: The driver is another one.
        ConfigError: The driver is not installed; the message names the setting with the URL.
    """
    if url.drivername not in (POSTGRESQL, _DRIVER):
        raise ArgumentError(f"not {_DRIVER}")
    settings = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    options = f"{settings} {url.query.get('options', '')}".rstrip()
    query = {**_CONNECTION, **url.query, "options": options}
    try:
        created = create_engine(
            url.set(drivername=_DRIVER, query=query),
            pool_pre_ping=True,
            json_serializer=json_text,
        )
    except ImportError as error:
        raise ConfigError(
            _("{setting} needs the package {name}: pip install {name}").format(
                setting=setting, name="psycopg[binary]"
            )
        ) from error
    event.listen(created, "begin", _begin)
    return created


def without_idle_limit(url: URL) -> URL:
    """The URL for transactions that may wait for another database for any time."""
    options = f"{url.query.get('options', '')} -c idle_in_transaction_session_timeout=0"
    return url.update_query_dict({"options": options.lstrip()})


def identity(connection: Connection) -> tuple[object, ...]:
    """What distinguishes this database from all others, whatever the URL is."""
    return tuple(connection.execute(_IDENTITY).one())


# Copies of a server have the identifier of the original; the time is in microseconds.
_IDENTITY = text("SELECT pg_postmaster_start_time(), current_database()")


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("footnote_writes"):
        waits = "off" if options.get("footnote_unsynced") else "on"
        connection.exec_driver_sql(
            f"SELECT pg_advisory_xact_lock({_LOCK}), "
            f"set_config('synchronous_commit', '{waits}', true)"
        )


def time_of(session: Session) -> datetime:
    """The server's time, by which leases are compared: clocks of other machines may differ."""
    now = func.clock_timestamp(type_=DateTime(timezone=True))
    return session.scalars(select(now)).one().astimezone(UTC)


_STATE = text(
    "SELECT current_setting('server_version_num')::integer / 10000,"
    " current_setting('server_version'), current_setting('server_encoding'),"
    " current_setting('transaction_read_only')"
)


def require_server(connection: Connection, location: "LedgerLocation") -> None:
    """Require a server and a database that can store the ledger.

    Raises:
        StorageError: The server is too old or does not accept writes, or the encoding is not UTF-8.
    """
    major, version, encoding, is_read_only = connection.execute(_STATE).one()
    if major < _OLDEST:
        raise _unusable(location, f"PostgreSQL {version}", _TOO_OLD)
    if encoding != "UTF8":
        raise _unusable(location, f"encoding {encoding}", _ENCODING)
    if is_read_only == "on":
        raise _unusable(location, "transaction_read_only = on", _READ_ONLY)


_TOO_OLD = _(": upgrade the server to PostgreSQL {version} or newer")
_ENCODING = _(": create a database with the encoding UTF8, and name it in {setting}")
_READ_ONLY = _(": {setting} must name a server that accepts writes, such as the primary server")
_SIGN_IN = _(": correct the user and the password in {setting}, or the server's pg_hba.conf")
_DATABASE = _(": create the database, or correct its name in {setting}")
_CONNECTIONS = _(
    ": raise max_connections of the server, or run fewer processes, of which each opens up to 15"
    " connections"
)
_PRIVILEGES = _(": make the user in {setting} the owner of the database and of its tables")
_UNREACHABLE = _(": check that the PostgreSQL server is running, and that {setting} names it")
_LOST = _(": try again in a moment, and check that the PostgreSQL server is running")
_SLOW = _(": try again when the PostgreSQL server is less busy")
_TOO_LONG = _(": a name or a location is longer than PostgreSQL permits in an index")

_BY_CONNECTION_MESSAGE = {
    "authentication failed": _SIGN_IN,
    "no password supplied": _SIGN_IN,
    "pg_hba.conf": _SIGN_IN,
    'role "': _SIGN_IN,
    'database "': _DATABASE,
}
"""Remedies by a part of the server's message, since a refused connection has no error code."""
_IN_RECOVERY = "during recovery"
_FULL = ("too many clients", "connection slots are reserved", "too many connections")

_BY_CODE = {
    "42501": _PRIVILEGES,
    "25006": _READ_ONLY,
    "54000": _TOO_LONG,
}
_TRANSIENT_CODES = ("57014", "40P01")  # a timeout, or a deadlock with a migration
_LOST_CODES = ("08", "57P", "25P03")
_DAMAGED_CODES = ("42P01", "42703", "XX001", "XX002")  # missing tables and columns, broken pages


def explanation(location: "LedgerLocation", error: SQLAlchemyError, reason: str) -> StorageError:
    """The error to report for a failure, with what to do."""
    if isinstance(error, PoolTimeoutError):
        return _unavailable(location, "all connections of this process are in use", _SLOW)
    code = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    if code == "55P03":
        return location.busy()
    if code == "53100":
        return location.full()
    if code in _DAMAGED_CODES:
        return location.damage_error(reason)
    if _IN_RECOVERY in reason:
        return _unusable(location, reason, _READ_ONLY)
    if code == "53300" or any(sign in reason for sign in _FULL):
        return _unavailable(location, reason, _CONNECTIONS)
    if code in _TRANSIENT_CODES:
        return _unavailable(location, reason, _SLOW)
    if code.startswith(_LOST_CODES) or getattr(error, "connection_invalidated", False):
        return connection_lost(location, reason)
    if isinstance(error, OperationalError) and not code:
        return _refused(location, reason)
    return _unusable(location, reason, _BY_CODE.get(code, ""))


def connection_lost(location: "LedgerLocation", reason: str) -> StorageUnavailableError:
    """The error for a connection that has ended."""
    return _unavailable(location, reason, _LOST)


def _refused(location: "LedgerLocation", reason: str) -> StorageError:
    for sign, remedy in _BY_CONNECTION_MESSAGE.items():
        if sign in reason:
            return _unusable(location, reason, remedy)
    return _unavailable(location, reason, _UNREACHABLE)


def _unusable(location: "LedgerLocation", reason: str, remedy: str) -> StorageError:
    return location.conceal(StorageError(_message(location, reason, remedy)))


def _unavailable(location: "LedgerLocation", reason: str, remedy: str) -> StorageUnavailableError:
    return location.conceal(StorageUnavailableError(_message(location, reason, remedy)))


def _message(location: "LedgerLocation", reason: str, remedy: str) -> str:
    remedy = remedy.format(setting=location.setting, version=_OLDEST)
    return location.unusable(reason, remedy)


def prepare_use(connection: Connection, tables: Iterable[Table]) -> None:
    """After rows were copied with their ids: continue the ids, and collect statistics.

    Without statistics, the first searches of a large ledger would read whole tables.
    """
    for table in tables:
        connection.exec_driver_sql(f'ANALYZE "{table.name}"')
        key = [column.name for column in table.primary_key if isinstance(column.type, Whole)]
        if key == [column.name for column in table.primary_key]:
            connection.exec_driver_sql(_CONTINUED_IDS.format(table=table.name, key=key[0]))


_CONTINUED_IDS = (
    "SELECT setval(pg_get_serial_sequence('{table}', '{key}'),"
    ' (SELECT coalesce(max("{key}"), 0) + 1 FROM "{table}"), false)'
)


@contextmanager
def migrating(connection: Connection) -> Iterator[None]:
    """On PostgreSQL, give new columns the order of texts and the integers that SQLite has.

    Migrations may take longer than other transactions.
    """
    if connection.dialect.name != POSTGRESQL:
        yield
        return
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{_MIGRATION_TIMEOUT}'")
    event.listen(Column, "before_parent_attach", _adapt)
    try:
        yield
    finally:
        event.remove(Column, "before_parent_attach", _adapt)


def _adapt(column: Column[Any], _table: object) -> None:
    if isinstance(column.type, String):
        column.type = String(collation="C")  # by code points
    elif isinstance(column.type, Integer):
        column.type = BigInteger()


class instr(GenericFunction[int]):  # the name of the function
    """The position of the second text in the first, from 1; 0 if it is not there."""

    type = Integer()
    inherit_cache = True


class json_each(GenericFunction[Any]):  # the name of the function
    """The items of a JSON array of texts, as a table with the column `value`."""

    inherit_cache = True


@compiles(instr, POSTGRESQL)
def _instr(function: instr, compiler: SQLCompiler, **options: Any) -> str:
    return f"strpos{compiler.function_argspec(function, **options)}"


@compiles(json_each, POSTGRESQL)
def _json_each(function: json_each, compiler: SQLCompiler, **options: Any) -> str:
    arguments = compiler.function_argspec(function, **options)
    return f"json_array_elements_text(CAST({arguments} AS JSON))"
