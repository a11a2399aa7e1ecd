"""Importing folders: the source, its loader and the import in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain import ImportReport, ImportState, Principal
from services.directory_kind import DirectoryKind
from services.imports import ImportService
from services.progress import Cancelled, OnProgress, ignore, never
from storage.lock import writer_lock
from storage.sources import Sources, StoredSource

LOCK_TIMEOUT_S = 2.0
_BEGUN = {ImportState.RUNNING, ImportState.INTERRUPTED, ImportState.CANCELLED, ImportState.FAILED}


class DirectoryService:
    """Brings the library up to date with folders on this machine."""

    def __init__(
        self, imports: ImportService, sources: Sources, kind: DirectoryKind, samples: Path
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            imports: Runs the imports.
            sources: Where sources are kept.
            kind: Makes the loaders.
            samples: The folder of the documents that ship with Footnote.
        """
        self._imports = imports
        self._sources = sources
        self._kind = kind
        self._samples = samples

    def import_directory(
        self,
        principal: Principal,
        path: Path,
        *,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        collection: str | None = None,
        labels: Sequence[str] | None = None,
        confirm_removals: bool = False,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """Make the library hold what the folder (or single file) holds now.

        `include` and `exclude` are patterns of paths. `collection` and `labels` file all its
        documents, those imported before too, without embedding anything again. Where one is None,
        what was set before still holds. Blank patterns and labels are none, and an empty
        collection is the folder's name again.

        Raises:
            SourceError: There is nothing at `path`, or it can't be listed.
            BusyError: Another import is running.
            StorageError: The data folder can't be written.
            ModelError: Embedding failed.
        """
        draft = self._kind.draft(path, include or (), exclude or ())
        options = {
            "include": None if include is None else draft.options["include"],
            "exclude": None if exclude is None else draft.options["exclude"],
            "collection": None if collection is None else collection.strip(),
            "labels": None if labels is None else _labels(labels),
        }
        told = {name: value for name, value in options.items() if value is not None}
        with writer_lock(self._imports.data_dir, timeout_s=LOCK_TIMEOUT_S):
            source = self._merged(draft, told)
            loader = self._kind.files(source)
            # An import that is refused must not leave its options behind.
            source = self._sources.ensure(
                source.kind, source.location, name=source.name, options=source.options
            )
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

        An import of them that was stopped half-way is gone on with. A library that was emptied
        is no new one.
        """
        sources = self._sources.list()
        samples = [one for one in sources if one.location == _location(self._samples)]
        begun = bool(samples) and self._is_unfinished(principal, samples[0])
        if not begun and (sources or self._imports.has_index):
            return None
        return self.import_samples(principal, on_progress=on_progress)

    def import_samples(
        self, principal: Principal, *, on_progress: OnProgress = ignore
    ) -> ImportReport:
        """Import the sample documents, whatever the library holds; raises as any import."""
        return self.import_directory(principal, self._samples, on_progress=on_progress)

    def _is_unfinished(self, principal: Principal, source: StoredSource) -> bool:
        latest = self._imports.latest(principal, source)
        return latest is None or latest.state in _BEGUN

    def _merged(self, draft: StoredSource, told: Mapping[str, Any]) -> StoredSource:
        """The source with what is told of it now; all else is as it was set before."""
        before = self._sources.find(draft.kind, draft.location) or draft
        return replace(before, options={**draft.options, **before.options, **told})


def _labels(told: Sequence[str]) -> list[str]:
    return sorted({label.strip() for label in told} - {""})


def _location(path: Path) -> str:
    return str(path.resolve())
