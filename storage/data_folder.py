"""Recognizes the data folder, so that reading from a mistyped one creates nothing."""

from pathlib import Path

from domain.errors import StorageError
from domain.messages import _
from storage.private_files import FILES, FOLDERS


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
