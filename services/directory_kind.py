"""Folders of this machine as a kind of source."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain import Principal, Wait
from errors import SourceError
from loaders.files import DirectoryFiles
from services.import_run import Loader
from services.local_paths import from_home, require_there, shown
from services.source_fields import Field, FieldType, Given, lines, required
from services.source_kinds import Added, Seen, keep_once, look
from storage.sources import Sources, StoredSource, unsaved

DIRECTORY = "directory"
EVERYTHING = ("**/*",)


class DirectoryKind:
    """A folder, or a single file, by its path on the machine that Footnote runs on."""

    name = DIRECTORY
    fields = (
        Field("path", required=True, fixed=True),
        Field("include", FieldType.LINES),
        Field("exclude", FieldType.LINES),
    )

    def __init__(self, sources: Sources, data_dir: Path, max_file_bytes: int) -> None:
        """Args are kept, nothing is opened.

        Args:
            sources: Where sources are kept.
            data_dir: The folder of the library, which is never imported.
            max_file_bytes: Larger files are skipped, with the reason.
        """
        self._sources = sources
        self._data_dir = data_dir
        self._max_file_bytes = max_file_bytes

    def check(self, principal: Principal, given: Given) -> Seen:  # noqa: ARG002  # every call names who asks
        """The beginning of what is there."""
        draft = self._draft(given)
        return replace(look(self.files(draft), draft.location), warnings=self._shared(draft))

    def add(self, principal: Principal, given: Given) -> Added:  # noqa: ARG002  # every call names who asks
        """Keep the folder as a source."""
        draft = self._draft(given)
        return replace(keep_once(self._sources, draft), warnings=self._shared(draft))

    def draft(self, path: Path, include: Sequence[str], exclude: Sequence[str]) -> StoredSource:
        """The source at a path that may be relative to the folder the program runs in.

        Raises:
            SourceError: There is nothing, or it is Footnote's own.
        """
        self._require(path)
        options = _patterns(include, exclude)
        return unsaved(DIRECTORY, str(path.resolve()), name=path.resolve().name, options=options)

    def given(self, source: StoredSource) -> Given:
        """Its path and patterns."""
        include = [one for one in source.options.get("include", ()) if one not in EVERYTHING]
        exclude = list(source.options.get("exclude", ()))
        return {"path": source.location, "include": include, "exclude": exclude}

    def edited(self, source: StoredSource, given: Given) -> Mapping[str, Any]:
        """Other patterns for the same folder."""
        options = _patterns(lines(given, "include"), lines(given, "exclude"))
        look(self.files(replace(source, options={**source.options, **options})), source.location)
        return options

    def loader(self, source: StoredSource, wait: Wait) -> Loader:  # noqa: ARG002  # a folder asks for no patience
        """The files below the folder."""
        return self.files(source)

    def files(self, source: StoredSource) -> DirectoryFiles:
        """The files below the folder.

        Raises:
            SourceError: There is nothing, or it is Footnote's own.
        """
        path = Path(source.location)
        self._require(path)
        return DirectoryFiles(
            path,
            include=source.options.get("include", EVERYTHING),
            exclude=source.options.get("exclude", ()),
            max_bytes=self._max_file_bytes,
            leave_out=self._data_dir.resolve(),
        )

    def forget(self, source: StoredSource) -> None:
        """The folder stays where it is."""

    def _draft(self, given: Given) -> StoredSource:
        path = from_home(required(given, "path", "The path of the folder"))
        if not path.is_absolute():
            raise SourceError(
                f"{shown(path)} is not an absolute path: write it from the top, such as"
                " /home/me/handbook."
            )
        return self.draft(path, lines(given, "include"), lines(given, "exclude"))

    def _shared(self, draft: StoredSource) -> tuple[str, ...]:
        """What is to be known of sources that hold this folder, or lie within it."""
        others = [one for one in self._sources.list() if one.kind == DIRECTORY]
        return tuple(
            f"The source {one.name} has files of this folder too, and each would be found twice:"
            " exclude them in one of the two."
            for one in others
            if one.location != draft.location and _one_holds_the_other(one, draft)
        )

    def _require(self, path: Path) -> None:
        require_there(path)
        if path.resolve().is_relative_to(self._data_dir.resolve()):
            raise SourceError(
                f"{shown(path)} belongs to Footnote's data folder: import a folder of your own."
            )


def _one_holds_the_other(one: StoredSource, other: StoredSource) -> bool:
    here, there = Path(one.location), Path(other.location)
    return here.is_relative_to(there) or there.is_relative_to(here)


def _patterns(include: Sequence[str], exclude: Sequence[str]) -> dict[str, list[str]]:
    """As they are kept: blank ones are left out, and to include nothing is to include all."""
    return {"include": _told(include) or list(EVERYTHING), "exclude": _told(exclude)}


def _told(patterns: Sequence[str]) -> list[str]:
    return [one for one in patterns if one.strip()]
