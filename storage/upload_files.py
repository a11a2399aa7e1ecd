"""Uploaded files; each upload box is a folder in the data folder."""

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from storage.safe_writes import require_free_space, write_errors

BOXES = "uploads"


class UploadFiles:
    """Reads and writes upload boxes, identified by their location `uploads/<box id>`."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def folder(self, location: str) -> Path:
        """The folder of a box; if it is missing, no file was ever stored in it, or it was lost."""
        return self._data_dir / location

    def require_space(self, payload_bytes: int) -> None:
        """Make sure that files of this size can be stored and imported.

        Raises:
            StorageError: There is too little disk space.
        """
        require_free_space(self._data_dir, payload_bytes)

    def write(self, location: str, name: str, data: bytes) -> None:
        """Write a file atomically; does nothing if the content is unchanged.

        `name` may be a path in the box, whose folders are created; it must not lead out of it.

        Raises:
            StorageError: The box can't be written; an older file of that name remains.
        """
        folder = self.folder(location)
        file = folder / name
        with write_errors(folder):
            if _has_content(file, data):
                return
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                _write_atomically(file, data)
            except OSError:
                _remove_empty_folders(folder, name)
                raise

    def names(self, location: str) -> list[str]:
        """The sorted paths of the files in the box, without incomplete ones.

        Raises:
            StorageError: The box can't be read.
        """
        folder = self.folder(location)
        with write_errors(folder):
            if not folder.is_dir():
                return []
            return sorted(
                file.relative_to(folder).as_posix()
                for file in folder.rglob("*")
                if not file.name.startswith(".") and not file.is_dir()
            )

    def remove(self, location: str, name: str) -> bool:
        """Delete a file and the folders that it leaves empty; False if it does not exist."""
        folder = self.folder(location)
        if name not in self.names(location):
            return False
        with write_errors(folder):
            (folder / name).unlink(missing_ok=True)
            _remove_empty_folders(folder, name)
        return True

    def remove_all(self, location: str, names: Iterable[str]) -> None:
        """Delete these files and the folders that they leave empty, including that of the box.

        Raises:
            StorageError: The box can't be written.
        """
        folder = self.folder(location)
        with write_errors(folder):
            for name in names:
                (folder / name).unlink(missing_ok=True)
                _remove_empty_folders(folder, name)
        with suppress(OSError):  # the box contains other files or does not exist
            folder.rmdir()

    def remove_box(self, location: str) -> None:
        """Delete the box with all its files, if it exists.

        Raises:
            StorageError: The box can't be deleted.
        """
        folder = self.folder(location)
        with write_errors(folder):
            if folder.exists():
                shutil.rmtree(folder)


def _has_content(file: Path, data: bytes) -> bool:
    return file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data


def _write_atomically(file: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(
        dir=file.parent, prefix=".", suffix=".part", delete=False
    ) as temporary:
        part = Path(temporary.name)
        try:
            temporary.write(data)
            temporary.close()
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)


def _remove_empty_folders(box: Path, name: str) -> None:
    with suppress(OSError):  # a folder with other files, or one that was never created
        for folder in list(PurePosixPath(name).parents)[:-1]:
            (box / folder).rmdir()
