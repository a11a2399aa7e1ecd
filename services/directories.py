"""Importing folders: the source, its loader and the import in one call."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from domain import ImportReport, ImportState, Principal
from errors import SourceError
from loaders.files import DirectoryFiles
from services.imports import ImportService
from services.progress import Cancelled, OnProgress, ignore, never
from storage.sources import Sources, StoredSource

KIND = "directory"
_SHOWN_CHARS = 300
_BEGUN = {ImportState.RUNNING, ImportState.INTERRUPTED, ImportState.CANCELLED, ImportState.FAILED}


class DirectoryService:
    """Brings the library up to date with folders on this machine."""

    def __init__(
        self, imports: ImportService, sources: Sources, samples: Path, max_file_bytes: int
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            imports: Runs the imports.
            sources: Where sources are kept.
            samples: The folder of the documents that ship with Footnote.
            max_file_bytes: Larger files are skipped, with the reason.
        """
        self._imports = imports
        self._sources = sources
        self._samples = samples
        self._max_file_bytes = max_file_bytes

    def import_directory(
        self,
        principal: Principal,
        path: Path,
        *,
        include: Sequence[str] = ("**/*",),
        exclude: Sequence[str] = (),
        collection: str | None = None,
        labels: Sequence[str] | None = None,
        confirm_removals: bool = False,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """Make the library hold what the folder (or single file) holds now.

        `collection` and `labels` file all its documents, those imported before too, without
        embedding anything again. Where one is None, what an earlier import said still holds; an
        empty collection is the folder's name again, blank labels are none.

        Raises:
            SourceError: There is nothing at `path`, or it can't be listed.
            BusyError: Another import is running.
            StorageError: The data folder can't be written.
            ModelError: Embedding failed.
        """
        loader = self._loader(path, include, exclude)
        filing = {
            "collection": None if collection is None else collection.strip(),
            "labels": None if labels is None else _labels(labels),
        }
        told = {name: value for name, value in filing.items() if value is not None}
        options = {"include": list(include), "exclude": list(exclude), **told}
        source = self._source(path, options)
        return self._imports.run(
            principal,
            source,
            loader,
            on_progress=on_progress,
            cancelled=cancelled,
            confirm_removals=confirm_removals,
        )

    def import_samples_once(
        self, principal: Principal, *, on_progress: OnProgress = ignore
    ) -> ImportReport | None:
        """Import the sample documents into a new library; None where that is behind it.

        An import of them that was stopped half-way is gone on with.
        """
        sources = self._sources.list()
        samples = [one for one in sources if one.location == _location(self._samples)]
        begun = bool(samples) and self._is_unfinished(principal, samples[0])
        if sources and not begun:
            return None
        return self.import_directory(principal, self._samples, on_progress=on_progress)

    def _is_unfinished(self, principal: Principal, source: StoredSource) -> bool:
        latest = self._imports.latest(principal, source)
        return latest is None or latest.state in _BEGUN

    def _loader(self, path: Path, include: Sequence[str], exclude: Sequence[str]) -> DirectoryFiles:
        _require(path)
        own = self._imports.data_dir.resolve()
        if path.resolve() == own:
            raise SourceError(f"{path} is Footnote's data folder: import a folder of your own.")
        return DirectoryFiles(
            path, include=include, exclude=exclude, max_bytes=self._max_file_bytes, leave_out=own
        )

    def _source(self, path: Path, options: Mapping[str, Any]) -> StoredSource:
        """The source with these options, beside those of an earlier import not named here."""
        before = self._sources.find(KIND, _location(path))
        kept = before.options if before else {}
        return self._sources.ensure(
            KIND, _location(path), name=path.resolve().name, options={**kept, **options}
        )


def _labels(told: Sequence[str]) -> list[str]:
    return sorted({label.strip() for label in told} - {""})


def _require(path: Path) -> None:
    shown = str(path).encode(errors="replace").decode()
    try:
        path.stat()
    except PermissionError as error:
        raise SourceError(
            f"{shown} can't be opened: give the user who runs Footnote the right to read it."
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a name that holds NUL
        raise SourceError(
            f"There is nothing at {shown[:_SHOWN_CHARS]}: check the path and its spelling."
        ) from error
    if shown != str(path):
        raise SourceError(f"The name of {shown} is not valid UTF-8: rename it.")


def _location(path: Path) -> str:
    return str(path.resolve())
