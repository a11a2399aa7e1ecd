"""Uploaded files, stored in boxes; each box is a source."""

import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from unicodedata import normalize

from domain import Action, Principal, Role, Skipped, Wait
from domain.errors import ConflictError, InputError, NotFoundError, SourceError, StorageError
from domain.messages import _
from loaders.box_loader import BoxLoader
from loaders.directory_loader import DirectoryLoader
from loaders.formats import SUFFIXES, unsupported
from services.access import OWNER, Access, require_role
from services.audit_service import AuditService
from services.imports.import_plan import Loader
from services.sources.file_names import BoxNames
from services.sources.source_kinds import (
    TITLES,
    Field,
    FieldType,
    FieldValues,
    SourceAddition,
    SourcePreview,
    required,
)
from services.sources.upload_archives import Rejection, Upload, extract_archives
from services.sources.upload_limits import UploadLimits
from storage.ledger.conversation_store import Conversations
from storage.ledger.source_store import StoredSource
from storage.upload_bucket import UploadBucket
from storage.upload_files import BOXES, UploadFiles

KIND = "upload"
DEFAULT_BOX = "Uploads"
CONVERSATION = "conversation_id"
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The result of an upload.

    `accepted` are the keys of the stored files in order. `source_id` is the box, or None if no file
    was accepted and the box did not exist.
    """

    source_id: str | None
    accepted: tuple[str, ...]
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True)
class UploadService:
    """Stores files in boxes; the box of a conversation is searched only there.

    Files of more than `max_file_bytes` are rejected.
    """

    files: UploadFiles | UploadBucket
    access: Access
    conversations: Conversations
    max_file_bytes: int
    audit: AuditService
    limits: UploadLimits

    @property
    def max_file_mb(self) -> int:
        """The size limit of a file in MiB."""
        return self.max_file_bytes // _MIB

    @property
    def extensions(self) -> tuple[str, ...]:
        """The supported file name extensions without dots."""
        return tuple(suffix[1:] for suffix in SUFFIXES)

    def add(
        self,
        principal: Principal,
        files: Iterable[Upload | tuple[str, bytes]],
        *,
        conversation_id: str | None = None,
        box: str | None = None,
        unpack: bool = False,
    ) -> UploadResult:
        """Store files in the box of the conversation, the one named `box`, or "Uploads".

        A file replaces an older one with the same name; unchanged files are not written again.
        Unusable files are rejected with a reason, and the others are stored. They become searchable
        when the box is imported.

        With `unpack`, the files of zip archives are stored instead of the archives, with paths. If
        an archive is in the box as one file, that file is deleted when files of the archive are
        stored, because the library would contain its documents twice.

        Raises:
            NotFoundError: The principal has no such conversation.
            InputError: The box's name is blank.
            ConflictError: The box is being removed, or the upload exceeds a limit of the person.
            LimitError: The person has uploaded too much within the last day; nothing is stored.
            StorageError: The disk is full or not writable.
        """
        target = self._target(principal, conversation_id, box)
        if not unpack:
            return self._add(principal, target, (Upload(*one) for one in files))
        extraction = extract_archives(files, self.files.names(target.location))
        result = self._add(principal, target, extraction.files)
        accepted = set(result.accepted)
        for archive, keys in extraction.archives.items():
            if archive not in accepted and not accepted.isdisjoint(keys):
                self._remove(target.location, archive)
        return replace(result, rejections=(*extraction.rejections, *result.rejections))

    def _add(
        self, principal: Principal, target: "_TargetBox", uploads: Iterable[Upload]
    ) -> UploadResult:
        names = BoxNames(self.files.names(target.location))
        fit, rejections = dict[str, bytes](), list[Rejection]()
        for file in uploads:
            if reason := self._unfit(file) or names.conflict(file.key):
                rejections.append(Rejection(file.name, reason))
            else:  # of two files with the same name, the later one wins
                names.add(file.key)
                fit[file.key] = file.data
        source = (
            self._store(principal, target, fit)
            if fit
            else self.access.sources.find(KIND, target.location)
        )
        return UploadResult(source.id if source else None, tuple(fit), tuple(rejections))

    def _store(
        self, principal: Principal, target: "_TargetBox", fit: dict[str, bytes]
    ) -> StoredSource:
        existing = self.access.sources.find(KIND, target.location)
        if existing and self.access.sources.is_being_removed(existing.id):
            raise ConflictError(
                _(
                    "The box {name} is being removed together with its files: upload them again"
                    " afterwards, or cancel the removal on the import page first."
                ).format(name=existing.name)
            )
        self.files.require_space(sum(map(len, fit.values())))
        sizes = {key: len(data) for key, data in fit.items()}
        upload_id = self.limits.reserve(principal, target.location, sizes)
        try:
            source = self._write(target, fit, existing)
        except BaseException:
            with suppress(StorageError):
                self.limits.uploads.release(upload_id)
            raise
        self.limits.uploads.store(upload_id, principal.user_id, target.location, sizes)
        self.audit.record_documents(principal, Action.UPLOAD_ADDED, source, fit)
        return source

    def _write(
        self, target: "_TargetBox", fit: dict[str, bytes], existing: StoredSource | None
    ) -> StoredSource:
        new_keys = list[str]()
        try:
            for key, data in fit.items():
                new_keys.append(key)  # a bucket may store a file although its answer is lost
                self.files.write(target.location, key, data)
            # An existing box keeps its settings.
            return existing or self.access.sources.ensure(
                KIND, target.location, name=target.name, options=target.options
            )
        except BaseException:
            with suppress(StorageError):
                self._remove_stray(target.location, new_keys)
            raise

    def _remove_stray(self, location: str, keys: Iterable[str]) -> None:
        """Delete these files if the box has no source, which would delete them with the box.

        Another upload may be storing its files in the same new box, or may have just created it.
        """
        if self.access.sources.find(KIND, location) is None:
            self.files.remove_all(location, keys)

    def boxes(self, principal: Principal) -> list[StoredSource]:
        """The shared boxes and those of the principal's conversations, sorted by name."""
        own = self.access.own_sources(principal).values()
        return [source for source in own if source.kind == KIND]

    def box_of(self, principal: Principal, conversation_id: str) -> StoredSource | None:
        """The box of a conversation, if it has one.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        self.conversations.get(principal, conversation_id)
        return self.access.sources.find(KIND, _location(conversation_id))

    def keys(self, principal: Principal, source_id: str) -> list[str]:
        """The sorted names of the files in a box.

        Raises:
            NotFoundError: The principal has no such box.
        """
        return self.files.names(self._box(principal, source_id).location)

    def delete(self, principal: Principal, source_id: str, key: str) -> None:
        """Delete a file from its box; the next import removes it from the library.

        Raises:
            NotFoundError: The principal has no such box, or the box has no such file.
            StorageError: The box can't be written.
        """
        box = self._box(principal, source_id)
        self.access.managed_source(principal, source_id)
        if not self._remove(box.location, key):
            raise NotFoundError(
                _("There is no file {key} in this box: it was already deleted.").format(
                    key=repr(key)
                )
            )
        self.audit.record_documents(principal, Action.UPLOAD_DELETED, box, [key])

    def forget_box(self, location: str) -> None:
        """Delete a box with all its files, if it exists.

        Raises:
            StorageError: The box can't be deleted.
        """
        self.files.remove_box(location)
        self.limits.uploads.forget_box(location)

    def _remove(self, location: str, key: str) -> bool:
        """Delete a file from a box; False if it does not exist."""
        exists = self.files.remove(location, key)
        self.limits.uploads.forget(location, [key])
        return exists

    def check_bucket(self) -> None:
        """Write, list, read, and delete an object, if uploaded files are in a bucket.

        Raises:
            StorageUnavailableError: One of them fails; the message says what to do.
        """
        if isinstance(self.files, UploadBucket):
            self.files.check()

    def loader(self, source: StoredSource) -> DirectoryLoader | BoxLoader:
        """A loader for the files in the box."""
        if isinstance(self.files, UploadBucket):
            return BoxLoader(self.files, source.location, self.max_file_bytes)
        return DirectoryLoader(self.files.folder(source.location), max_bytes=self.max_file_bytes)

    def _target(
        self, principal: Principal, conversation_id: str | None, box: str | None
    ) -> "_TargetBox":
        if conversation_id is not None:
            title = self.conversations.get(principal, conversation_id).title
            options = {CONVERSATION: conversation_id, OWNER: principal.user_id}
            return _TargetBox(_location(conversation_id), title or DEFAULT_BOX, options)
        require_role(principal, Role.EDITOR)
        name = _box_name(DEFAULT_BOX if box is None else box)
        if not name:
            raise InputError(_("The box has no name: enter one."))
        same = box_called(name, self.boxes(principal))
        return _TargetBox(same.location if same else _location(uuid.uuid4().hex), name, {})

    def _box(self, principal: Principal, source_id: str) -> StoredSource:
        for source in self.boxes(principal):
            if source.id == source_id:
                return source
        raise NotFoundError(_("There is no upload box {source_id}.").format(source_id=source_id))

    def _unfit(self, file: Upload) -> str | None:
        """Why a file is rejected; None if it is accepted."""
        name = file.key
        if not name:
            return _("its name has no usable characters: rename it")
        if reason := unsupported(name):
            return reason
        if not file.data:
            return _("the file is empty")
        if len(file.data) > self.max_file_bytes:
            size, limit = (
                f"{count / _MIB:.1f} MiB" for count in (len(file.data), self.max_file_bytes)
            )
            return _(
                "{size} exceeds the limit of {limit} (FOOTNOTE_MAX_FILE_MB): split the file"
            ).format(size=size, limit=limit)
        return None


class _TargetBox(NamedTuple):
    """The box of an upload, with its name and options if it must be created."""

    location: str
    name: str
    options: dict[str, str]


def box_called(name: str, sources: Iterable[StoredSource]) -> StoredSource | None:
    """The shared box among the sources with this name or id; None if there is none."""
    boxes = (one for one in sources if one.kind == KIND and not one.conversation_id)
    return next((one for one in boxes if _box_name(name) in (one.id, one.name)), None)


def _box_name(entered: str) -> str:
    return normalize("NFC", entered).strip()


def _location(box_id: str) -> str:
    return f"{BOXES}/{box_id}"


@dataclass(frozen=True)
class UploadKind:
    """Uploads to a named box; new files replace older ones with the same name."""

    name = KIND
    fields = (
        Field("files", FieldType.FILES, required=True, fixed=True),
        Field("box", required=True, fixed=True, default=DEFAULT_BOX),
    )

    uploads: UploadService

    def check(self, principal: Principal, values: FieldValues) -> SourcePreview:  # noqa: ARG002  # every use case takes a principal
        """Preview the files to upload."""
        names = tuple(upload.name for upload in _uploads(values))
        return SourcePreview(len(names), names[:TITLES])

    def add(self, principal: Principal, values: FieldValues) -> SourceAddition:
        """Store the files in the box, creating it if necessary."""
        box = required(values, "box", _("The name of the box"))
        done = self.uploads.add(principal, _uploads(values), box=box, unpack=True)
        rejections = tuple(Skipped(name, name, reason) for name, reason in done.rejections)
        if done.source_id is None:
            first = rejections[0]
            raise SourceError(
                _("None of the files can be used. {key}: {reason}.").format(
                    key=first.key, reason=first.reason
                )
            )
        return SourceAddition(self.uploads.access.sources.get(done.source_id), rejections)

    def field_values(self, source: StoredSource) -> FieldValues:
        """The name of the box."""
        return {"box": source.name}

    def edited_options(self, source: StoredSource, values: FieldValues) -> Mapping[str, Any]:  # noqa: ARG002  # a box has no options of its own
        """No options: a box has none."""
        return {}

    def loader(self, source: StoredSource, wait: Wait) -> Loader:  # noqa: ARG002  # local files have no rate limit
        """A loader for the files in the box."""
        return self.uploads.loader(source)

    def forget(self, source: StoredSource) -> None:
        """Delete the box's folder with its files."""
        self.uploads.forget_box(source.location)


def _uploads(values: FieldValues) -> list[Upload]:
    files = [Upload(*file) for file in values.get("files") or ()]
    if not files:
        raise SourceError(_("No file is selected: choose at least one."))
    return files
