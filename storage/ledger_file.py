"""The ledger's SQLite file, read without writing a byte to its folder."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Connection, NullPool, create_engine

_LOG_MAGIC = b"\x37\x7f\x06"
_SIDES = ("-wal", "-shm")


def url_of(file: Path, **options: str) -> URL:
    """Of an existing file; a connection to it never makes a new one.

    Args:
        file: Written as an URI: a path with a "?" in it would be cut off there.
        options: SQLite's own, such as `mode`.
    """
    query = {"mode": "rw"} | options | {"uri": "true"}
    return URL.create("sqlite", database=file.resolve().as_uri(), query=query)


def side_file(file: Path, side: str) -> Path:
    """What SQLite keeps beside its file: "-wal", the log, "-shm", its index, or "-journal"."""
    return file.with_name(file.name + side)


def is_empty(file: Path) -> bool:
    """Whether the file is missing or has no bytes."""
    try:
        return not file.stat().st_size
    except FileNotFoundError:  # one look: the last process to end deletes the log
        return True


@contextmanager
def reading(file: Path) -> Iterator[Connection]:
    """A connection that sees the last commit, and neither makes nor changes any file.

    SQLite would make the log's index to read a log, and both files beside a ledger that nobody
    has open. So a ledger without a log is read as if it could not change, and one whose log has
    no index, as it is after a backup was put back, is copied first.
    """
    log, index = (side_file(file, side) for side in _SIDES)
    if log.exists() and index.exists():
        with _connected(url_of(file, mode="ro")) as connection:
            yield connection
    elif is_empty(log):
        with _connected(url_of(file, mode="ro", immutable="1")) as connection:
            yield connection
    else:
        with TemporaryDirectory(prefix="footnote-") as folder:
            for one in (file, log):
                shutil.copyfile(one, Path(folder, one.name))
            with _connected(url_of(Path(folder, file.name))) as connection:
                yield connection


def has_foreign_log(file: Path) -> bool:
    """Whether the file beside it is no log of SQLite, which would ignore and overwrite it.

    Zeros may be what a power cut left of a log that no commit was waited for.
    """
    try:
        with side_file(file, "-wal").open("rb") as log:
            head = log.read(32)
    except FileNotFoundError:
        return False
    return not head.startswith(_LOG_MAGIC) and any(head)


@contextmanager
def _connected(url: URL) -> Iterator[Connection]:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        yield connection
