"""Folders of this machine as a kind of source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from errors import SourceError
from loaders.files import DirectoryFiles
from services.import_run import Loader
from services.source_kinds import Draft, Field, FieldType, Given, lines, required
from storage.sources import StoredSource

DIRECTORY = "directory"
EVERYTHING = ("**/*",)
_SHOWN_CHARS = 300


class DirectoryKind:
    """A folder, or a single file, by its path on the machine that Footnote runs on."""

    name = DIRECTORY
    fields = (
        Field("path", required=True),
        Field("include", FieldType.LINES),
        Field("exclude", FieldType.LINES),
    )

    def __init__(self, data_dir: Path, max_file_bytes: int) -> None:
        """Args are kept, nothing is opened.

        Args:
            data_dir: The folder of the library, which is never imported.
            max_file_bytes: Larger files are skipped, with the reason.
        """
        self._data_dir = data_dir
        self._max_file_bytes = max_file_bytes

    def draft(self, given: Given) -> Draft:
        """The source at an absolute path; see `SourceKind.draft`."""
        path = Path(required(given, "path", "The path of the folder"))
        if not path.expanduser().is_absolute():
            raise SourceError(
                f"{_shown(path)} is not an absolute path: write it from the top, such as"
                " /home/me/handbook."
            )
        return self.draft_of(path.expanduser(), lines(given, "include"), lines(given, "exclude"))

    def draft_of(self, path: Path, include: list[str], exclude: list[str]) -> Draft:
        """The source at a path that may be relative to the folder the program runs in.

        Raises:
            SourceError: There is nothing, or it is Footnote's own.
        """
        self._require(path)
        options = {"include": include or list(EVERYTHING), "exclude": exclude}
        return Draft(DIRECTORY, str(path.resolve()), path.resolve().name, options)

    def given(self, source: StoredSource) -> Given:
        """Its path and patterns."""
        include = list(source.options.get("include", EVERYTHING))
        return {
            "path": source.location,
            "include": [] if include == list(EVERYTHING) else include,
            "exclude": list(source.options.get("exclude", ())),
        }

    def loader(self, location: str, options: Mapping[str, Any]) -> Loader:
        """The files below the folder."""
        path = Path(location)
        self._require(path)
        return DirectoryFiles(
            path,
            include=options.get("include", EVERYTHING),
            exclude=options.get("exclude", ()),
            max_bytes=self._max_file_bytes,
            leave_out=self._data_dir.resolve(),
        )

    def _require(self, path: Path) -> None:
        _require_there(path)
        if path.resolve().is_relative_to(self._data_dir.resolve()):
            raise SourceError(
                f"{_shown(path)} belongs to Footnote's data folder: import a folder of your own."
            )


def _require_there(path: Path) -> None:
    shown = str(path).encode(errors="replace").decode()
    try:
        path.stat()
    except PermissionError as error:
        raise SourceError(
            f"{_shown(path)} can't be opened: give the user who runs Footnote the right to read it."
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a name that holds NUL
        raise SourceError(
            f"There is nothing at {_shown(path)}: check the path and its spelling."
        ) from error
    if shown != str(path):
        raise SourceError(f"The name of {_shown(path)} is not valid UTF-8: rename it.")


def _shown(path: Path) -> str:
    return str(path).encode(errors="replace").decode()[:_SHOWN_CHARS]
