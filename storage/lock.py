"""One writer at a time to a folder, across processes and threads."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from errors import BusyError, StorageError

LOCK_FILE = "writer.lock"
HOLDER_FILE = "writer.json"


@contextmanager
def writer_lock(folder: Path, timeout_s: float = 30.0) -> Iterator[None]:
    """Hold the right to write to `folder`, which is made if need be.

    The operating system releases the lock of a process that dies. It is not re-entrant: a second
    request from the same thread waits for its own first one, and so ends in `BusyError`.

    Args:
        folder: Each folder has a lock of its own, independent of those above and below it.
        timeout_s: How long to wait for another writer; 0 asks once.

    Raises:
        BusyError: Another writer still holds the lock; the message names it.
        StorageError: The folder can't be written to.
    """
    from filelock import FileLock  # loads asyncio, and who only reads needs no lock

    lock = FileLock(folder / LOCK_FILE)
    with _explained(folder, timeout_s):
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=timeout_s)
    try:
        with _explained(folder, timeout_s):
            _leave_name(folder)
        yield
    finally:
        lock.release()


@contextmanager
def _explained(folder: Path, timeout_s: float) -> Iterator[None]:
    from filelock import Timeout

    try:
        yield
    except Timeout as error:
        raise BusyError(_busy_message(folder, timeout_s)) from error
    except OSError as error:
        message = (
            f"{folder} can't be written to ({error.strerror or error}). Give this user the right "
            "to write there, or choose another data folder with FOOTNOTE_DATA_DIR."
        )
        raise StorageError(message) from error


def _leave_name(folder: Path) -> None:
    """Write down who holds the lock, for the message that others get."""
    holder = {
        "pid": os.getpid(),
        "program": Path(sys.argv[0]).name or "python",
        "since": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S"),
    }
    temporary = folder / f"{HOLDER_FILE}.new"
    temporary.write_text(json.dumps(holder), encoding="utf-8")
    temporary.replace(folder / HOLDER_FILE)


def _busy_message(folder: Path, timeout_s: float) -> str:
    return (
        f"{_holder(folder)} is writing to {folder}; waited {timeout_s:g} seconds. Let it finish "
        "(or stop it) and do the same again."
    )


def _holder(folder: Path) -> str:
    try:
        holder = json.loads((folder / HOLDER_FILE).read_text(encoding="utf-8"))
        return f"Process {holder['pid']} ({holder['program']}, since {holder['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "Another process"  # it has the lock, but has not written its name yet
