"""A writer lock for a folder, across processes and threads."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from domain.errors import BusyError, StorageError
from domain.messages import _

LOCK_FILE = "writer.lock"
HOLDER_FILE = "writer.json"


@contextmanager
def writer_lock(folder: Path, timeout_s: float = 30.0) -> Iterator[None]:
    """Lock `folder` for writing, creating it if necessary.

    If the process dies, the operating system releases the lock. The lock is not reentrant: a second
    request in the same thread raises `BusyError`.

    Args:
        folder: Each folder has its own lock, independent of parent folders and subfolders.
        timeout_s: How long to wait for another writer; 0 tries once.

    Raises:
        BusyError: Another writer still holds the lock; the message names it.
        StorageError: The folder can't be written to.
    """
    from filelock import FileLock  # loads asyncio; readers don't need it

    lock = FileLock(folder / LOCK_FILE)
    with _storage_errors(folder, timeout_s):
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=timeout_s)
    try:
        with _storage_errors(folder, timeout_s):
            _write_holder(folder)
        yield
    finally:
        lock.release()


@contextmanager
def _storage_errors(folder: Path, timeout_s: float) -> Iterator[None]:
    from filelock import Timeout

    try:
        yield
    except Timeout as error:
        raise BusyError(_busy_message(folder, timeout_s)) from error
    except OSError as error:
        raise StorageError(
            _(
                "{folder} can't be written to ({strerror}). Grant this user write permission, or"
                " choose another data folder with FOOTNOTE_DATA_DIR."
            ).format(folder=folder, strerror=error.strerror or error)
        ) from error


def _write_holder(folder: Path) -> None:
    """Record who holds the lock, for error messages in other processes."""
    holder = {
        "pid": os.getpid(),
        "program": Path(sys.argv[0]).name or "python",
        "since": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S"),
    }
    temporary = folder / f"{HOLDER_FILE}.new"
    temporary.write_text(json.dumps(holder), encoding="utf-8")
    temporary.replace(folder / HOLDER_FILE)


def _busy_message(folder: Path, timeout_s: float) -> str:
    return _(
        "{holder} is writing to {folder}; waited {timeout_s} seconds. Let it finish (or stop it),"
        " then try again."
    ).format(holder=_holder(folder), folder=folder, timeout_s=f"{timeout_s:g}")


def _holder(folder: Path) -> str:
    try:
        holder = json.loads((folder / HOLDER_FILE).read_text(encoding="utf-8"))
        return _("Process {pid} ({program}, since {since})").format(
            pid=holder["pid"], program=holder["program"], since=holder["since"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return _("Another process")  # the holder has not recorded its name yet
