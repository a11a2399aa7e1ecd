"""Folders on this machine as a kind of source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from domain import Action, ImportReport, ImportState, Principal, Role, Wait
from domain.errors import SourceError
from domain.messages import _
from loaders.directory_loader import DirectoryLoader
from services.access import Access, require_role
from services.audit_service import AuditService
from services.imports.import_plan import Loader
from services.imports.import_service import ImportService
from services.long_work import OnProgress, ignore
from services.sources.server_folders import DIRECTORY, readable_overlaps, require_permitted
from services.sources.source_kinds import (
    Field,
    FieldType,
    FieldValues,
    SourceAddition,
    SourcePreview,
    display_path,
    keep_once,
    lines,
    look,
    require_there,
    server_path,
)
from storage.ledger.source_store import Sources, StoredSource, new_source

EVERYTHING = ("**/*",)


@dataclass(frozen=True)
class DirectoryKind:
    """A folder or a single file on the machine that runs Footnote.

    Nothing in `data_dir`, the folder of the library, is imported. Files of more than
    `max_file_bytes` are skipped.
    """

    name = DIRECTORY
    fields = (
        Field("path", required=True, fixed=True),
        Field("include", FieldType.LINES),
        Field("exclude", FieldType.LINES),
    )

    access: Access
    data_dir: Path
    max_file_bytes: int

    def check(self, principal: Principal, values: FieldValues) -> SourcePreview:
        """List the first files."""
        draft = self._permitted_draft(principal, values)
        preview = look(self.files(draft), draft.location)
        return replace(preview, warnings=self._overlap_warnings(principal, draft))

    def add(self, principal: Principal, values: FieldValues) -> SourceAddition:
        """Save the folder as a source."""
        draft = self._permitted_draft(principal, values)
        added = keep_once(self.access, principal, draft)
        return replace(added, warnings=self._overlap_warnings(principal, draft))

    def draft(self, path: Path, include: Sequence[str], exclude: Sequence[str]) -> StoredSource:
        """An unsaved source at a path, which may be relative to the working folder.

        Raises:
            SourceError: The path does not exist or is in Footnote's data folder.
        """
        self._require(path)
        options = _patterns(include, exclude)
        return new_source(DIRECTORY, str(path.resolve()), name=path.resolve().name, options=options)

    def field_values(self, source: StoredSource) -> FieldValues:
        """The folder's path and patterns."""
        include = [one for one in source.options.get("include", ()) if one not in EVERYTHING]
        exclude = list(source.options.get("exclude", ()))
        return {"path": source.location, "include": include, "exclude": exclude}

    def edited_options(self, source: StoredSource, values: FieldValues) -> Mapping[str, Any]:
        """The new patterns, after checking that they match files."""
        options = _patterns(lines(values, "include"), lines(values, "exclude"))
        look(self.files(replace(source, options={**source.options, **options})), source.location)
        return options

    def loader(self, source: StoredSource, wait: Wait) -> Loader:  # noqa: ARG002  # a folder has no rate limit
        """A loader for the files in the folder and its subfolders."""
        return self.files(source)

    def files(self, source: StoredSource) -> DirectoryLoader:
        """A loader for the files in the folder and its subfolders.

        Raises:
            SourceError: The path does not exist or is in Footnote's data folder.
        """
        path = Path(source.location)
        self._require(path)
        return DirectoryLoader(
            path,
            include=source.options.get("include", EVERYTHING),
            exclude=source.options.get("exclude", ()),
            max_bytes=self.max_file_bytes,
            excluded_folder=self.data_dir.resolve(),
        )

    def forget(self, source: StoredSource) -> None:
        """Do nothing: the folder stays."""

    def _permitted_draft(self, principal: Principal, values: FieldValues) -> StoredSource:
        path = server_path(values, _("The path of the folder"), "/home/me/handbook")
        draft = self.draft(path, lines(values, "include"), lines(values, "exclude"))
        require_permitted(self.access, principal, path)
        return draft

    def _overlap_warnings(self, principal: Principal, draft: StoredSource) -> tuple[str, ...]:
        """Warnings about readable sources that contain this folder or are in it."""
        return tuple(
            _(
                "The source {name} also contains files of this folder, which would be"
                " imported twice: exclude them from one of the two sources."
            ).format(name=one.name)
            for one in readable_overlaps(self.access, principal, Path(draft.location))
        )

    def _require(self, path: Path) -> None:
        require_there(path)
        if path.resolve().is_relative_to(self.data_dir.resolve()):
            raise SourceError(
                _("{path} is in Footnote's data folder: choose another folder.").format(
                    path=display_path(path)
                )
            )


def _patterns(include: Sequence[str], exclude: Sequence[str]) -> dict[str, list[str]]:
    """The patterns to store, without blank ones; no include patterns means all files."""
    return {"include": _not_blank(include) or list(EVERYTHING), "exclude": _not_blank(exclude)}


def _not_blank(patterns: Sequence[str]) -> list[str]:
    return [one for one in patterns if one.strip()]


LOCK_TIMEOUT_S = 2.0
_BEGUN = {ImportState.RUNNING, ImportState.INTERRUPTED, ImportState.CANCELLED, ImportState.FAILED}


@dataclass(frozen=True)
class DirectoryService:
    """Brings the library up to date with folders on this machine."""

    imports: ImportService
    sources: Sources
    kind: DirectoryKind
    sample_folder: Path
    audit: AuditService

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
    ) -> ImportReport:
        """Bring the library up to date with a folder or a single file.

        `include` and `exclude` are path patterns. `collection` and `labels` apply to all documents
        of the folder, including those imported earlier, which are not embedded again. None keeps
        the earlier setting. Blank patterns and labels are ignored; an empty `collection` resets the
        collection to the folder's name.

        Raises:
            ForbiddenError: The principal is no editor.
            SourceError: `path` does not exist or can't be listed.
            BusyError: Another import of the folder or a reindex is running.
            StorageError: The data folder can't be written.
            ModelError: Embedding failed.
        """
        require_role(principal, Role.EDITOR)
        draft = self.kind.draft(path, include or (), exclude or ())
        options = {
            "include": None if include is None else draft.options["include"],
            "exclude": None if exclude is None else draft.options["exclude"],
            "collection": None if collection is None else collection.strip(),
            "labels": None if labels is None else _labels(labels),
        }
        set_options = {name: value for name, value in options.items() if value is not None}
        with self.imports.lock.hold(LOCK_TIMEOUT_S):
            source = self._merge(draft, set_options)
            self.imports.require_idle(source)
            loader = self.kind.files(source)
            # If the import fails before this point, the options must not change.
            source = self._save(principal, source)
        return self.imports.run(
            principal,
            source,
            loader,
            on_progress=on_progress,
            confirm_removals=confirm_removals,
        )

    def add_samples_once(self, principal: Principal) -> StoredSource | None:
        """Add the sample documents as a source to a new library; None if it is not new.

        Returns the source again if its import has failed or was canceled. A library that was
        emptied is not new.
        """
        sources = self.sources.list()
        samples = [one for one in sources if one.location == _location(self.sample_folder)]
        if samples and self._is_unfinished(principal, samples[0]):
            return samples[0]
        if sources or self.imports.has_index:
            return None
        draft = self.kind.draft(self.sample_folder, (), ())
        return self._save(principal, draft)

    def import_samples(
        self, principal: Principal, *, on_progress: OnProgress = ignore
    ) -> ImportReport:
        """Import the sample documents into any library; raises like `import_directory`."""
        return self.import_directory(principal, self.sample_folder, on_progress=on_progress)

    def samples(self, principal: Principal) -> StoredSource | None:  # noqa: ARG002  # every use case takes a principal
        """The source of the sample documents, or None if they are not in the library."""
        return self.sources.find(DIRECTORY, _location(self.sample_folder))

    def _is_unfinished(self, principal: Principal, source: StoredSource) -> bool:
        latest = self.imports.latest(principal, source)
        return latest is None or latest.state in _BEGUN

    def _save(self, principal: Principal, source: StoredSource) -> StoredSource:
        before = self.sources.find(source.kind, source.location)
        after = self.sources.ensure(
            source.kind, source.location, name=source.name, options=source.options
        )
        if before is None or before.options != after.options:
            action = Action.SOURCE_EDITED if before else Action.SOURCE_ADDED
            self.audit.record_source(principal, action, after)
        return after

    def _merge(self, draft: StoredSource, options: Mapping[str, Any]) -> StoredSource:
        """The source with these options; its other options stay as stored earlier."""
        before = self.sources.find(draft.kind, draft.location) or draft
        return replace(before, options={**draft.options, **before.options, **options})


def _labels(labels: Sequence[str]) -> list[str]:
    return sorted({label.strip() for label in labels} - {""})


def _location(path: Path) -> str:
    return str(path.resolve())
