"""Safe writes to folders: one writer at a time, enough space, and files that are never half new."""

import errno
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from domain.errors import BusyError, DamagedIndexError, StorageError
from domain.messages import _

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK_FILE = "writer.lock"
HOLDER_FILE = "writer.json"
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no EDQUOT


class _ThreadLocks(threading.local):
    """The folders whose lock the current thread holds."""

    def __init__(self) -> None:
        self.folders: set[Path] = set()


_locks = _ThreadLocks()
_POLL_S = 0.02


def just_wait() -> None:
    """Do nothing while waiting for a lock."""


def attempt(action: Callable[[], bool], timeout_s: float, on_wait: Callable[[], None]) -> bool:
    """Repeat the action until it succeeds or the time is over; return whether it succeeded.

    `on_wait` is called before each wait, and may raise an error.
    """
    deadline = time.monotonic() + timeout_s
    while not action():
        if time.monotonic() >= deadline:
            return False
        on_wait()
        time.sleep(_POLL_S)
    return True


@contextmanager
def writer_lock(
    folder: Path, timeout_s: float = 30.0, on_wait: Callable[[], None] = just_wait
) -> Iterator[None]:
    """Lock `folder` for writing, creating it if necessary.

    If the process dies, the operating system releases the lock. The lock is not reentrant: a second
    request in the same thread raises `BusyError`.

    Args:
        folder: Each folder has its own lock, independent of parent folders and subfolders.
        timeout_s: How long to wait for another writer; 0 tries once.
        on_wait: Called repeatedly while waiting; an error that it raises ends the wait.

    Raises:
        BusyError: Another writer still holds the lock; the message names it.
        StorageError: The folder can't be written to.
    """
    from filelock import FileLock  # loads asyncio; readers don't need it

    lock = FileLock(folder / LOCK_FILE)
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not attempt(partial(_try, lock), timeout_s, on_wait):
            raise BusyError(_busy_message(folder, timeout_s))
    _locks.folders.add(folder)
    try:
        with write_errors(folder):
            _write_holder(folder)
        yield
    finally:
        _locks.folders.discard(folder)
        lock.release()


def _try(lock: "BaseFileLock") -> bool:
    from filelock import Timeout

    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


def holds_lock(folder: Path) -> bool:
    """Whether this thread is in a `writer_lock` of the folder."""
    return folder in _locks.folders


@contextmanager
def write_errors(folder: Path) -> Iterator[None]:
    """Convert errors of the operating system to a StorageError about the folder."""
    try:
        yield
    except OSError as error:
        raise full_disk(folder, error) or StorageError(
            _(
                "{folder} can't be written to ({strerror}). Grant this user write permission, or"
                " choose another data folder with FOOTNOTE_DATA_DIR."
            ).format(folder=folder, strerror=error.strerror or error)
        ) from error


def is_below(path: PurePath) -> bool:
    """Whether the path leads to a place in the folder to which it is relative, by its names."""
    return not path.is_absolute() and not path.drive and ".." not in path.parts


def full_disk(path: Path, error: OSError) -> StorageError | None:
    """The error for a full disk or an exceeded quota; None if `error` has another reason."""
    if error.errno not in _FULL:
        return None
    return StorageError(
        _(
            "The disk of {path} is full ({strerror}). Free some space or use a larger disk, then"
            " try again."
        ).format(path=path, strerror=error.strerror)
    )


def _write_holder(folder: Path) -> None:
    """Record who holds the lock, for error messages in other processes."""
    holder = {
        "pid": os.getpid(),
        "program": Path(sys.argv[0]).name or "python",
        "since": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S"),
    }
    replace_text(folder / HOLDER_FILE, json.dumps(holder))


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


def replace_text(path: Path, text: str) -> None:
    """Replace a file atomically; readers see either the old text or all of the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def replace_private_text(path: Path, text: str) -> None:
    """Replace a file atomically by one that only this user can ever read, and sync it."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)  # left by a killed process
    private = partial(os.open, mode=0o600)
    with open(new, "x", encoding="utf-8", newline="\n", opener=private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def stamp_of(path: Path) -> str:
    """A text that differs after each change of a file; "" if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ""
    # The time of the last change of the status, because new permissions can make it readable.
    return f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_size}-{status.st_ino}"


SPARE_BYTES = 64 * 2**20
"""Bytes that always stay free: Deep Lake reports a commit on a full disk as successful, and reading
its rows afterwards crashes the process."""

GROWTH = 4
"""Bytes required per payload byte, because merges write new files before deleting old ones."""


def require_free_space(folder: Path, payload_bytes: int, growth: int = GROWTH) -> None:
    """Make sure that a commit of this size fits on the disk of `folder`.

    Args:
        folder: The folder of the commit; it need not exist yet.
        payload_bytes: The size of the data without overhead.
        growth: Bytes required per byte of it.

    Raises:
        StorageError: There is too little space; nothing was written.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    needed = SPARE_BYTES + growth * payload_bytes
    if free < needed:
        raise StorageError(
            _(
                "The disk of {folder} has only {free} MiB free, but {needed} MiB are needed to"
                " continue safely. Nothing was written in this step. Free some space or use a"
                " larger disk, then try again."
            ).format(folder=folder, free=_mib(free), needed=_mib(needed))
        )


def sync_folder(folder: Path) -> None:
    """Make the names of new files in the folder survive a power failure."""
    if os.name == "nt":  # Windows can't open folders and needn't sync them
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unusable(what: str, folder: Path, reason: object) -> DamagedIndexError:
    """The error for an index store that is damaged or was written by another version."""
    return DamagedIndexError(
        _(
            "The {what} in {folder} can't be used: {reason}. The imported documents are stored"
            " elsewhere; rebuild this part from them with: python cli.py reindex"
        ).format(what=what, folder=folder, reason=reason)
    )


def unwritable(what: str, folder: Path, reason: object) -> StorageError:
    """The error for a failed commit to an index store."""
    return StorageError(
        _(
            "Writing the {what} in {folder} failed ({reason}); nothing was saved in this step."
            " Check that the disk is writable and has free space, then try again. If it keeps"
            " failing, rebuild this part with: python cli.py reindex"
        ).format(what=what, folder=folder, reason=reason)
    )


def _mib(size: int) -> int:
    return size // 2**20
