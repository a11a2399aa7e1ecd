"""Recognizes the data folder, and restricts it to the user who runs Footnote.

Reading from a mistyped folder creates nothing. Folders get the mode 0700, and files 0600.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from domain.errors import StorageError
from domain.logs import get_logger
from domain.messages import _


def require_data_folder(data_dir: Path) -> None:
    """Check that the folder is empty or contains Footnote's files.

    Raises:
        StorageError: There is no such folder, or it contains only other files.
    """
    if _is_missing(data_dir):
        raise StorageError(
            _(
                "There is no data folder {data_dir}: check --data-dir or FOOTNOTE_DATA_DIR, or"
                " import documents into it first."
            ).format(data_dir=data_dir.absolute())
        )
    if _has_only_other_files(data_dir):
        raise StorageError(
            _(
                "{data_dir} contains files, but none of Footnote's: choose another folder with"
                " --data-dir or FOOTNOTE_DATA_DIR."
            ).format(data_dir=data_dir.absolute())
        )


def _is_missing(data_dir: Path) -> bool:
    try:
        return not data_dir.exists()
    except OSError:  # a parent is not accessible: opening the ledger reports why
        return False


def _has_only_other_files(data_dir: Path) -> bool:
    """Whether it has files, but none of Footnote's; hidden files do not count."""
    try:
        names = {path.name for path in data_dir.iterdir() if not path.name.startswith(".")}
    except OSError:  # not a folder, or not readable: opening the ledger reports why
        return False
    names.discard("lost+found")  # of a new volume
    return bool(names) and names.isdisjoint((*FILES, *FOLDERS))


_OTHERS = 0o077
_LEDGER = "footnote.db"
_LEDGER_FILES = (_LEDGER, f"{_LEDGER}-wal", f"{_LEDGER}-shm")
FILES = (*_LEDGER_FILES, "encryption.key", "settings.json", "writer.lock", "writer.json")
"""The names of Footnote's files in the data folder."""

FOLDERS = ("indexes", "uploads", "cache")
"""The names of its folders there."""

_log = get_logger("storage")


def keep_private(data_dir: Path) -> None:
    """Create the data folder, and make all files in it private to this user.

    Sets the umask, so all files of this process and its child processes are private. Restricts
    files that an earlier version of Footnote left accessible, if this user owns them. Does not
    change shared folders such as /tmp. If the folder can't be created, opening the ledger reports
    why. Does nothing on Windows, where files inherit the permissions of the folder.
    """
    if os.name == "nt":
        return
    with suppress(OSError):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.umask(_OTHERS)
    if is_open_to_others(data_dir) or is_open_to_others(data_dir / _LEDGER):
        _close_all(data_dir)


def is_open_to_others(path: Path) -> bool:
    """Whether other users have any permission; False if that can't be determined."""
    return os.name != "nt" and bool(_mode(path) & _OTHERS)


def close_to_others(path: Path) -> bool:
    """Remove all permissions of other users, except for links; returns whether it is private."""
    with suppress(OSError):  # another user's file, or deleted in the meantime
        if is_open_to_others(path) and not path.is_symlink() and path.stat().st_uid == os.geteuid():
            path.chmod(_mode(path) & ~_OTHERS)
    return not is_open_to_others(path)


def _close_all(data_dir: Path) -> None:
    ledger = data_dir / _LEDGER
    is_for_everybody = bool(_mode(data_dir) & stat.S_ISVTX)
    if is_for_everybody or not close_to_others(data_dir.resolve()):
        _log.warning(
            "Other users can read the data folder %s: use a separate folder that belongs to the"
            " user who runs Footnote, and restrict it with chmod -R go=.",
            data_dir,
        )
        return
    exposed = [path for path in _own_files(data_dir) if is_open_to_others(path)]
    still_open = [path for path in exposed if not close_to_others(path)]
    if len(exposed) > len(still_open):  # a new, empty folder exposes nothing
        _log.warning(
            "Other users could read the data folder %s: permissions fixed.",
            data_dir,
        )
    if ledger in still_open:
        _log.warning("Other users can read the ledger %s: run chmod 600 on it.", ledger)


def _own_files(data_dir: Path) -> Iterator[Path]:
    """Footnote's files in the folder, which may contain others too."""
    yield from (data_dir / name for name in (*FILES, *FOLDERS))
    for name in FOLDERS:
        if (data_dir / name).is_symlink():  # for example, to a shared cache
            continue
        for folder, folders, files in os.walk(data_dir / name):
            yield from (Path(folder, one) for one in (*folders, *files))


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:  # missing or not accessible
        return 0
