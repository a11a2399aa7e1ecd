"""Work shared by the tests of a process, and waits for the disk that no test needs."""

import hashlib
import os
import shutil
import sqlite3
import ssl
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

import certifi
import httpcore2
import pytest
from fastapi import APIRouter, FastAPI
from filelock import FileLock
from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.pool import QueuePool
from starlette.routing import BaseRoute
from streamlit.components.v2 import manifest_scanner

from models import builtin, e5_tokenizer
from storage.ledger import engines
from storage.ledger.migrations import run

_real_create_engine = engines.create_engine
_real_upgrade = run.upgrade
_real_graph_file = builtin.graph_file
_real_open = builtin._open
_real_weights_file = e5_tokenizer.E5File
_real_tls_context = ssl.create_default_context
_real_include_router = FastAPI.include_router

remembers_vectors = True
"""Whether a model runs only once on the same input; the tests of the models turn it off."""

waits_for_disk = False
"""Whether SQLite syncs its files. Tests kill processes but never cut the power."""


def share(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    """Copy new ledgers from one migrated ledger, and prepare and load each model once.

    Subprocesses and ledgers of earlier versions are migrated step by step, and
    tests/storage/test_migrations.py tests the migrations themselves. Models are prepared in
    `models`, which processes may share, and copied to the caches of the tests. HTTP clients trust
    the same public authorities; contexts with other authorities or keys are not shared. All apps
    include the same routers in the same way, and share what FastAPI derives from them. Streamlit
    searches the installed packages for components once, not for each AppTest, which takes .3 s.
    """

    def graph_file(model, cache_dir, precision):
        with FileLock(models / "preparing.lock"):
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

    monkeypatch.setattr(engines, "create_engine", _create_engine)
    monkeypatch.setattr(run, "upgrade", _upgrade)
    monkeypatch.setattr(builtin, "graph_file", graph_file)
    monkeypatch.setattr(builtin, "_open", _open)
    monkeypatch.setattr(e5_tokenizer, "E5File", _weights_file)
    monkeypatch.setattr(os, "fsync", _leave_to_system)
    monkeypatch.setattr(ssl, "create_default_context", _tls_context)
    monkeypatch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
    monkeypatch.setattr(FastAPI, "include_router", _include_router)
    find_components = cache(manifest_scanner.scan_component_manifests)
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", find_components)
    event.listen(Engine, "before_cursor_execute", _skip_syncs, retval=True)


_included: dict[int, BaseRoute] = {}
"""By the id of its router; the routers of the API are never freed."""


def _include_router(app: FastAPI, router: APIRouter, **options) -> None:
    """Reuse the routes of an earlier app; deriving all of them takes .5 s."""
    if id(router) in _included:
        app.router.routes.append(_included[id(router)])
        return
    _real_include_router(app, router, **options)
    _included[id(router)] = app.router.routes[-1]


def _leave_to_system(_file: int) -> None:
    """Replace os.fsync."""


def _tls_context(*args, **options):
    """Load the public authorities once; HTTP clients would take 20 ms each."""
    if args or options != {"cafile": certifi.where()}:
        return _real_tls_context(*args, **options)
    return _public_tls_context()


@cache
def _public_tls_context() -> ssl.SSLContext:
    return _real_tls_context(cafile=certifi.where())


def _skip_syncs(_connection, _cursor, statement, parameters, _context, _many):
    if statement.startswith("PRAGMA synchronous =") and not waits_for_disk:
        statement = "PRAGMA synchronous = OFF"
    return statement, parameters


def _create_engine(url, **options):
    """Share compiled statements between the ledgers; the dialect is part of their keys."""
    engine = _real_create_engine(url, **options)
    if engine.dialect.name == "sqlite":
        template = _sqlite(**options)
        engine.dialect = engine.pool._dialect = template.dialect
        engine._compiled_cache = template._compiled_cache
    return engine


@cache
def _sqlite(**options) -> Engine:
    # The default pool of a database in memory rejects the options of QueuePool.
    engine = create_engine("sqlite://", query_cache_size=5_000, poolclass=QueuePool, **options)
    engine.connect().close()  # prepares the dialect
    return engine


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name != "sqlite" or inspect(connection).get_table_names():
        _real_upgrade(connection)
        return
    raw: sqlite3.Connection = connection.connection.driver_connection
    raw.executescript(_script())


@cache
def _script() -> str:
    """Begins a transaction and builds a migrated ledger in it."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        _real_upgrade(connection)
        raw: sqlite3.Connection = connection.connection.driver_connection
        raw.commit()
        _begin, *statements, _commit = raw.iterdump()
        return "\n".join(["BEGIN IMMEDIATE;", *statements])


def _weights_file(path: Path, sha256: str):
    """Compare the checksum of an unmodified file once; it takes .1 s."""
    try:
        status = path.stat()
    except OSError:
        return _real_weights_file(path, sha256)
    return _checked_file(path, sha256, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _checked_file(path: Path, sha256: str, _modified_ns: int, _size: int):
    return _real_weights_file(path, sha256)


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
    return _Session(_real_open(graph.path))


class _Session:
    """Runs a model once on each input; the model itself runs on one text at a time."""

    def __init__(self, session) -> None:
        self._session = session
        self._outputs = {}

    def run(self, names, inputs, options=None):
        if not remembers_vectors:
            return self._session.run(names, inputs, options)
        key = _digest(inputs)
        if key not in self._outputs:
            self._outputs[key] = self._session.run(names, inputs, options)
        return [output.copy() for output in self._outputs[key]]


def _digest(inputs) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for name, values in inputs.items():
        digest.update(f"{name} {values.dtype} {values.shape} ".encode())
        digest.update(values.tobytes())
    return digest.digest()
