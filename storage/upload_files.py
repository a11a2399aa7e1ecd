"""The files that people gave, each box a folder below the data folder."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from errors import StorageError
from storage.disk import require_free_space

BOXES = "uploads"


class UploadFiles:
    """Reads and writes the boxes; a box is named by its location, `uploads/<box id>`."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def folder(self, location: str) -> Path:
        """The box's folder, made if need be.

        Raises:
            StorageError: It can't be made.
        """
        folder = self._data_dir / location
        with _explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def require_room(self, payload_bytes: int) -> None:
        """Make sure files of that size can be stored and imported.

        Raises:
            StorageError: The disk has too little room.
        """
        require_free_space(self._data_dir, payload_bytes)

    def write(self, location: str, name: str, data: bytes) -> None:
        """Put a file into the box in one step; the same bytes again leave it untouched.

        Raises:
            StorageError: The box can't be written; an older file of that name is still there.
        """
        folder = self.folder(location)
        with _explained(folder):
            if not _holds(folder / name, data):
                _write_at_once(folder / name, data)

    def names(self, location: str) -> list[str]:
        """The files of the box, by name; those half written are none.

        Raises:
            StorageError: The box can't be opened.
        """
        folder = self._data_dir / location
        with _explained(folder):
            if not folder.is_dir():
                return []
            return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))

    def remove(self, location: str, name: str) -> bool:
        """Take a file out of the box; whether it was there."""
        folder = self._data_dir / location
        if name not in self.names(location):
            return False
        with _explained(folder):
            (folder / name).unlink(missing_ok=True)
        return True

    def remove_box(self, location: str) -> None:
        """Delete the box with every file in it; where there is none, nothing happens.

        Raises:
            StorageError: It can't be deleted.
        """
        folder = self._data_dir / location
        with _explained(folder):
            if folder.exists():
                shutil.rmtree(folder)


def _holds(file: Path, data: bytes) -> bool:
    return file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data


def _write_at_once(file: Path, data: bytes) -> None:
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


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = (
            f"{folder} can't be written to ({error.strerror or error}). Give this user the right "
            "to write there, or choose another data folder with FOOTNOTE_DATA_DIR."
        )
        raise StorageError(message) from error
