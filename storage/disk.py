"""Checks free disk space, syncs folders, and creates the errors for unusable ones."""

import os
import shutil
from pathlib import Path

from domain.errors import DamagedIndexError, StorageError
from domain.messages import _

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
    free = shutil.disk_usage(_nearest_existing(folder)).free
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


def _nearest_existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def _mib(size: int) -> int:
    return size // 2**20
