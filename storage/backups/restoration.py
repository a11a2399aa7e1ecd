"""Restores a backup into an empty data folder, in which nothing appears before all is checked."""

import shutil
from contextlib import suppress
from pathlib import Path

from domain.errors import InputError, StorageError
from domain.messages import _
from storage.backups.backup_file import OnProgress, read_backup, read_manifest
from storage.backups.manifest import Manifest
from storage.data_folder import keep_private
from storage.ledger.ledger_location import FILE
from storage.safe_writes import require_free_space

_PART = ".restoring"
_IGNORED = {_PART, "lost+found"}


def check_backup(file: Path, on_progress: OnProgress) -> Manifest:
    """Read a whole backup and compare it with its manifest, without storing anything.

    Raises:
        InputError: It is damaged, or this version of Footnote can't restore it.
        StorageError: It can't be read.
    """
    _require_known_schema(read_manifest(file))
    return read_backup(file, on_progress=on_progress)


def restore_backup(file: Path, data_dir: Path, on_progress: OnProgress) -> Manifest:
    """Restore a backup into an empty or new data folder, which stays empty if that fails.

    Raises:
        InputError: The folder is not empty, the backup is damaged, or this version of Footnote
            can't restore it.
        StorageError: The backup can't be read, or the folder can't be written.
    """
    manifest = read_manifest(file)
    _require_known_schema(manifest)
    _require_empty(data_dir)
    keep_private(data_dir)
    require_free_space(data_dir, manifest.size, growth=1)
    part = data_dir / _PART
    try:
        shutil.rmtree(part, ignore_errors=True)  # left by a killed process
        part.mkdir(parents=True)
        read_backup(file, part, on_progress=on_progress)
        # The ledger last: without it, Footnote does not start.
        for path in sorted(part.iterdir(), key=_is_ledger):
            path.rename(data_dir / path.name)
    except OSError as error:
        raise StorageError(
            _(
                "{folder} can't be written to ({reason}): choose another folder with --data-dir."
            ).format(folder=data_dir, reason=error.strerror or error)
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return manifest


def _require_known_schema(manifest: Manifest) -> None:
    from storage.ledger.migrations.run import is_known  # loads Alembic

    if not is_known(manifest.schema):
        raise InputError(
            _(
                "The backup was written by a newer Footnote ({version}, ledger version {schema}):"
                " restore it with that version or a newer one."
            ).format(version=manifest.version, schema=manifest.schema)
        )


def _require_empty(data_dir: Path) -> None:
    with suppress(FileNotFoundError):
        names = sorted({path.name for path in data_dir.iterdir()} - _IGNORED)
        if names:
            raise InputError(
                _(
                    "The data folder {folder} is not empty (it contains {name}): restore into an"
                    " empty or new folder with --data-dir."
                ).format(folder=data_dir, name=names[0])
            )


def _is_ledger(path: Path) -> bool:
    return path.name == FILE
