"""Work that most tests would repeat, done once per test process: migrations and loading a model."""

import sqlite3
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect

from models import builtin
from storage.migrations import run

_real_upgrade = run.upgrade
_real_open = builtin._open


def share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make new ledgers from the result of the migrations, and load each prepared model once.

    Subprocesses and ledgers of an earlier version are migrated step by step;
    tests/storage/test_migrations.py tests the migrations themselves.
    """
    monkeypatch.setattr(run, "upgrade", _upgrade)
    monkeypatch.setattr(builtin, "_open", _open)


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name != "sqlite" or inspect(connection).get_table_names():
        _real_upgrade(connection)
        return
    for statement in _statements():
        connection.exec_driver_sql(statement)


@cache
def _statements() -> tuple[str, ...]:
    """What builds a migrated ledger, without the transaction around it."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        _real_upgrade(connection)
        raw: sqlite3.Connection = connection.connection.driver_connection
        raw.commit()
        return tuple(raw.iterdump())[1:-1]


def _open(graph: Path):
    written = graph.stat()
    return _opened(graph, written.st_mtime_ns, written.st_size)


@cache
def _opened(graph: Path, _modified: int, _size: int):
    return _real_open(graph)
