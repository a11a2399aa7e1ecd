"""Work shared by the tests of a process: migrations and model preparation."""

import os
import shutil
import sqlite3
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect

from models import builtin
from storage.ledger.migrations import run

_real_upgrade = run.upgrade
_real_graph_file = builtin.graph_file
_real_open = builtin._open


def share(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    """Copy new ledgers from one migrated ledger, and prepare and load each model once.

    Subprocesses and ledgers of earlier versions are migrated step by step, and
    tests/storage/test_migrations.py tests the migrations themselves. Models are prepared in
    `models` and copied to the caches of the tests.
    """

    def graph_file(model, cache_dir, precision):
        prepared = _real_graph_file(model, models, precision)
        try:
            cache_dir.mkdir(parents=True, exist_ok=True)
            copy = cache_dir / prepared.name
            if not copy.exists():
                shutil.copyfile(prepared, copy)
                os.utime(copy, ns=(0, prepared.stat().st_mtime_ns))
        except OSError:
            pass  # documented on the real function
        return _real_graph_file(model, cache_dir, precision)

    monkeypatch.setattr(run, "upgrade", _upgrade)
    monkeypatch.setattr(builtin, "graph_file", graph_file)
    monkeypatch.setattr(builtin, "_open", _open)


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name != "sqlite" or inspect(connection).get_table_names():
        _real_upgrade(connection)
        return
    for statement in _statements():
        connection.exec_driver_sql(statement)


@cache
def _statements() -> tuple[str, ...]:
    """Builds a migrated ledger, without the surrounding transaction."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        _real_upgrade(connection)
        raw: sqlite3.Connection = connection.connection.driver_connection
        raw.commit()
        return tuple(raw.iterdump())[1:-1]


def _open(graph: Path):
    status = graph.stat()
    return _session(_Graph(graph.name, status.st_mtime_ns, status.st_size, graph))


@dataclass(frozen=True)
class _Graph:
    """The file of a graph; equal to its unmodified copies."""

    name: str
    modified_ns: int
    size: int
    path: Path = field(compare=False)


@lru_cache(maxsize=4)  # a session takes about 40 MiB
def _session(graph: _Graph):
    return _real_open(graph.path)
