"""The identity of a library in its backups: a random id in the data folder.

Backups do not contain it, so a restored library gets another one and never counts as the original.
"""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from domain.errors import StorageError
from domain.messages import _
from storage.safe_writes import replace_text

WORKING_FOLDER = ".backup"
"""The folder in the data folder for the id, and for the copy while it is written to a backup."""

_FILE = "library.id"


def library_id(data_dir: Path) -> str:
    """The id of the library in this folder, 32 hex digits; "" before its first backup.

    Raises:
        StorageError: It can't be read.
    """
    file = data_dir / WORKING_FOLDER / _FILE
    text = ""
    with _file_errors(file), suppress(FileNotFoundError):
        text = file.read_bytes().decode("ascii", "replace").strip()
    return text if re.fullmatch("[0-9a-f]{32}", text) else ""


def require_library_id(data_dir: Path) -> str:
    """The id of the library, which is created if necessary. The caller holds the lock of backups.

    Raises:
        StorageError: It can't be read or written.
    """
    return library_id(data_dir) or _create(data_dir / WORKING_FOLDER / _FILE)


def _create(file: Path) -> str:
    library = uuid.uuid4().hex
    with _file_errors(file):
        replace_text(file, f"{library}\n")
    return library


@contextmanager
def _file_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            _("{file} can't be used ({reason}): grant this user read and write permission.").format(
                file=file, reason=error.strerror or error
            )
        ) from error
