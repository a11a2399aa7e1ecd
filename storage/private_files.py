"""Keeps the data folder to the user who runs Footnote: folders of mode 0700, files of 0600."""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077
_LEDGER = "footnote.db"
_LEDGER_FILES = (_LEDGER, f"{_LEDGER}-wal", f"{_LEDGER}-shm")
_OURS = (*_LEDGER_FILES, "encryption.key", "writer.lock", "writer.json")
_OUR_FOLDERS = ("indexes", "uploads", "cache")

_log = logging.getLogger(__name__)


def keep_private(data_dir: Path) -> None:
    """Make the data folder, and let nobody but this user open what is or will be in it.

    What this process makes from now on is private wherever it lies, and so is what the programs
    make that it starts: the umask belongs to the process. What an earlier version left open is
    closed, where this user owns it; folders that are meant for everybody, such as /tmp, are not.
    Where a folder can't be made, opening the ledger says why. On Windows nothing is done: files
    inherit their rights from the folder there.
    """
    if os.name == "nt":
        return
    with suppress(OSError):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.umask(_OTHERS)
    if is_open(data_dir) or is_open(data_dir / _LEDGER):
        _close_all(data_dir)


def is_open(path: Path) -> bool:
    """Whether other users of this machine have any right to it; False where nobody can tell."""
    return os.name != "nt" and bool(_mode(path) & _OTHERS)


def close_to_others(path: Path) -> bool:
    """Take every right from other users, and say whether they have none; links stay as they are."""
    with suppress(OSError):  # not ours, or gone: whether it is open now is what counts
        if is_open(path) and not path.is_symlink() and path.stat().st_uid == os.geteuid():
            path.chmod(_mode(path) & ~_OTHERS)
    return not is_open(path)


def _close_all(data_dir: Path) -> None:
    ledger = data_dir / _LEDGER
    is_for_everybody = bool(_mode(data_dir) & stat.S_ISVTX)
    if is_for_everybody or not close_to_others(data_dir.resolve()):
        _log.warning(
            "Other users of this machine can look into the data folder %s: give Footnote a folder"
            " of its own, which belongs to the user who runs it, and close it with chmod -R go=.",
            data_dir,
        )
        return
    exposed = [path for path in _own_files(data_dir) if is_open(path)]
    left = [path for path in exposed if not close_to_others(path)]
    if len(exposed) > len(left):  # a folder that somebody has just made held nothing yet
        _log.warning(
            "Other users of this machine could look into the data folder %s: closed to them.",
            data_dir,
        )
    if ledger in left:
        _log.warning("Other users can read the ledger %s: chmod 600 it.", ledger)


def _own_files(data_dir: Path) -> Iterator[Path]:
    """What Footnote has made; the folder may hold things of others."""
    yield from (data_dir / name for name in (*_OURS, *_OUR_FOLDERS))
    for name in _OUR_FOLDERS:
        if (data_dir / name).is_symlink():  # say to a cache that others share
            continue
        for folder, folders, files in os.walk(data_dir / name):
            yield from (Path(folder, one) for one in (*folders, *files))


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:  # it is not there, or beyond what this user may look at
        return 0
