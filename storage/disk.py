"""Room on the disk, and the words for a folder that can't be used."""

import shutil
from pathlib import Path

from errors import DamagedIndexError, StorageError

SPARE_BYTES = 64 * 2**20
"""Kept free whatever is written: a Deep Lake commit on a full disk is reported as done, and
reading its rows afterwards kills the process."""

GROWTH = 4
"""Bytes set aside for each byte given: indexes are merged into new files before the old ones go."""


def require_free_space(folder: Path, payload_bytes: int) -> None:
    """Make sure a commit of that size fits on the disk which holds `folder`.

    Args:
        folder: Where the commit goes; it need not exist yet.
        payload_bytes: Size of what is handed over, before any overhead.

    Raises:
        StorageError: Too little is free; nothing was written.
    """
    free = shutil.disk_usage(_nearest_existing(folder)).free
    needed = SPARE_BYTES + GROWTH * payload_bytes
    if free < needed:
        message = (
            f"The disk of {folder} has only {_mib(free)} MiB free, {_mib(needed)} MiB are needed "
            "to go on safely. Nothing was written in this step. Free some space, or move the data "
            "folder to a larger disk, then do the same again."
        )
        raise StorageError(message)


def unusable(what: str, folder: Path, why: object) -> DamagedIndexError:
    """The error for a derived store that is damaged or from another version."""
    return DamagedIndexError(
        f"The {what} in {folder} can't be used: {why}. The imported documents are kept "
        "elsewhere; rebuild this part from them with: python cli.py reindex"
    )


def unwritable(what: str, folder: Path, why: object) -> StorageError:
    """The error for a derived store that a commit failed in."""
    return StorageError(
        f"Writing the {what} in {folder} failed ({why}); nothing of this step was kept. Check that "
        "the disk has room and can be written to, then do the same again. If it goes on failing, "
        "rebuild this part with: python cli.py reindex"
    )


def _nearest_existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def _mib(size: int) -> int:
    return size // 2**20
