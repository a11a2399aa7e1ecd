"""Files that people give: kept in boxes, each a source of its own."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import normalize

from domain import Principal
from errors import ConflictError, InputError, NotFoundError
from loaders.files import DirectoryFiles
from loaders.formats import SUFFIXES, unsupported
from services.file_names import safe_name
from storage.conversations import Conversations
from storage.sources import Sources, StoredSource
from storage.upload_files import BOXES, UploadFiles

KIND = "upload"
DEFAULT_BOX = "Uploads"
CONVERSATION, OWNER = "conversation_id", "user_id"
_MIB = 2**20


class Upload(NamedTuple):
    """A file as a person gives it."""

    name: str
    data: bytes


class Refused(NamedTuple):
    """A file that was not taken, and why, for people."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of files that were given.

    `accepted` are the keys of those in the box now, in the order given. `source_id` is the box;
    None where nothing was taken and there was no box.
    """

    source_id: str | None
    accepted: tuple[str, ...]
    refused: tuple[Refused, ...]


class UploadService:
    """Keeps given files in boxes; that of a conversation is searched there alone."""

    def __init__(
        self,
        files: UploadFiles,
        sources: Sources,
        conversations: Conversations,
        max_file_bytes: int,
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            files: Where the files are kept.
            sources: Where boxes are listed.
            conversations: Tells whose a conversation is.
            max_file_bytes: Larger files are refused.
        """
        self._files = files
        self._sources = sources
        self._conversations = conversations
        self._max_bytes = max_file_bytes

    @property
    def max_file_mb(self) -> int:
        """The largest file that is taken, in MiB."""
        return self._max_bytes // _MIB

    @property
    def extensions(self) -> tuple[str, ...]:
        """The ends of the names of files that can be read, without their dots."""
        return tuple(suffix[1:] for suffix in SUFFIXES)

    def add(
        self,
        principal: Principal,
        files: Iterable[Upload | tuple[str, bytes]],
        *,
        conversation_id: str | None = None,
        box: str | None = None,
    ) -> Uploaded:
        """Put files into a box: of the conversation, the one named `box`, or "Uploads".

        A file replaces an older one of its name; the same bytes again change nothing. What can't
        be used is refused with the reason, the others are taken all the same. An import of the
        source makes them answer.

        Raises:
            NotFoundError: The person has no such conversation.
            InputError: The box's name is blank.
            ConflictError: The box is being removed.
            StorageError: The disk is full or can't be written.
        """
        place = self._place(principal, conversation_id, box)
        given = [Upload(*file) for file in files]
        reasons = [self._unfit(file) for file in given]
        refused = [Refused(file.name, why) for file, why in zip(given, reasons, strict=True) if why]
        # Of two files with one name the later one is meant.
        fit = {
            safe_name(file.name): file.data
            for file, why in zip(given, reasons, strict=True)
            if not why
        }
        source = self._keep(place, fit) if fit else self._sources.find(KIND, place.location)
        return Uploaded(source.id if source else None, tuple(fit), tuple(refused))

    def _keep(self, place: "_Place", fit: dict[str, bytes]) -> StoredSource:
        known = self._sources.find(KIND, place.location)
        if known and self._sources.is_leaving(known.id):
            raise ConflictError(
                f"The box {known.name} is being removed, and the files would go with it: give them"
                " again once it is gone, or cancel its removal on the import page first."
            )
        self._files.require_room(sum(map(len, fit.values())))
        for key, data in fit.items():
            self._files.write(place.location, key, data)
        # What was set since on the sources' page still holds.
        return known or self._sources.ensure(
            KIND, place.location, name=place.name, options=place.options
        )

    def boxes(self, principal: Principal) -> list[StoredSource]:
        """Everybody's boxes and those of the person's own conversations, by name."""
        return [
            source
            for source in self._sources.list()
            if source.kind == KIND and source.options.get(OWNER) in (None, principal.user_id)
        ]

    def box_of(self, principal: Principal, conversation_id: str) -> StoredSource | None:
        """The box of the conversation; None where nothing was put into it.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        self._conversations.get(principal, conversation_id)
        return self._sources.find(KIND, _location(conversation_id))

    def keys(self, principal: Principal, source_id: str) -> list[str]:
        """The files in the box, by name.

        Raises:
            NotFoundError: The person has no such box.
        """
        return self._files.names(self._box(principal, source_id).location)

    def delete(self, principal: Principal, source_id: str, key: str) -> None:
        """Take a file out of its box; the next import takes it out of the library.

        Raises:
            NotFoundError: The person has no such box, or the box no such file.
            StorageError: The box can't be written.
        """
        if not self._files.remove(self._box(principal, source_id).location, key):
            raise NotFoundError(f"There is no file {key!r} in this box: it was taken out already.")

    def abandoned(self) -> list[StoredSource]:
        """The boxes of conversations that were removed for good, to be removed as well."""
        return self._sources.of_lost_conversations()

    def loader(self, source: StoredSource) -> DirectoryFiles:
        """Lists and reads the files of the box."""
        return DirectoryFiles(self._files.folder(source.location), max_bytes=self._max_bytes)

    def _place(
        self, principal: Principal, conversation_id: str | None, box: str | None
    ) -> "_Place":
        if conversation_id is not None:
            title = self._conversations.get(principal, conversation_id).title
            options = {CONVERSATION: conversation_id, OWNER: principal.user_id}
            return _Place(_location(conversation_id), title or DEFAULT_BOX, options)
        name = normalize("NFC", DEFAULT_BOX if box is None else box).strip()
        if not name:
            raise InputError("The box has no name: give it one.")
        shared = (one for one in self.boxes(principal) if not one.conversation_id)
        same = next((one for one in shared if name in (one.id, one.name)), None)
        return _Place(same.location if same else _location(uuid.uuid4().hex), name, {})

    def _box(self, principal: Principal, source_id: str) -> StoredSource:
        for source in self.boxes(principal):
            if source.id == source_id:
                return source
        raise NotFoundError(f"There is no upload box {source_id}.")

    def _unfit(self, file: Upload) -> str | None:
        """Why a file is refused, before anything of it is written."""
        name = safe_name(file.name)
        if not name:
            return "its name holds no letters: rename it"
        if reason := unsupported(name):
            return reason
        if not file.data:
            return "the file is empty"
        if len(file.data) > self._max_bytes:
            size, most = (f"{count / _MIB:.1f} MiB" for count in (len(file.data), self._max_bytes))
            return f"{size} is more than the limit of {most} (FOOTNOTE_MAX_FILE_MB): split it"
        return None


class _Place(NamedTuple):
    """Where a box is, and how it is called when it is made."""

    location: str
    name: str
    options: dict[str, str]


def _location(box_id: str) -> str:
    return f"{BOXES}/{box_id}"
