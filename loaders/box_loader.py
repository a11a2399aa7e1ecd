"""Upload boxes that are not folders, with the same documents as folders (`DirectoryLoader`)."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from unicodedata import normalize

from domain import NEVER_IMPORTED, DocumentRef, PreviousImport, Skipped, StoredFile
from domain.errors import SourceUnavailableError, StorageError, UnreadableError
from domain.messages import _
from domain.public_messages import message_for_everyone
from loaders.directory_loader import SAME_NAME
from loaders.document_reader import read_document, size_problem
from loaders.formats import unsupported

if TYPE_CHECKING:
    from langchain_core.documents import Document


class BoxFiles(Protocol):
    """The upload boxes of a bucket, each at a location; all calls may raise StorageError."""

    def url(self, location: str) -> str:
        """The address of a box, without a slash at the end."""

    def files(self, location: str) -> Iterator[StoredFile]:
        """Yield the files in the box, sorted by name."""

    def read(self, location: str, name: str, max_bytes: int) -> tuple[StoredFile, bytes]:
        """A file and its bytes, which are b"" if it has more; may raise FileNotFoundError."""


class BoxLoader:
    """Lists and reads the files of one upload box; it has one file at a time in memory."""

    reads_without_listing = True

    def __init__(self, files: BoxFiles, location: str, max_bytes: int) -> None:
        """Create a loader; `max_bytes` limits each file."""
        self._files = files
        self._location = location
        self._max_bytes = max_bytes

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterator[DocumentRef | Skipped]:  # noqa: ARG002  # always lists everything
        """Yield every file; its key is its path in NFC, and its version the SHA-256 of its bytes.

        A file that another program has stored is read for its version.

        Raises:
            SourceUnavailableError: The box can't be listed now.
        """
        keys: set[str] = set()
        with _source_errors():
            for file in self._files.files(self._location):
                key = normalize("NFC", file.name)
                if key in keys:
                    yield Skipped(key, self._url(file), SAME_NAME)
                else:
                    keys.add(key)
                    yield from self._item(file, key)

    def read(self, ref: DocumentRef) -> "Document":
        """Read a file that `list` yielded; the metadata are those of `DirectoryLoader.read`.

        Raises:
            UnreadableError: The file can't be read or was removed; the message gives the reason.
            SourceUnavailableError: The bucket can't be reached now.
        """
        file, data = self._read(ref.location.removeprefix(f"{self._files.url(self._location)}/"))
        document = read_document(ref.key, data)
        version = hashlib.sha256(data).hexdigest()
        document.metadata |= {"key": ref.key, "version": version, "location": ref.location}
        document.metadata["modified_at"] = file.modified_at
        return document

    def _item(self, file: StoredFile, key: str) -> Iterator[DocumentRef | Skipped]:
        foreign = unsupported(key)
        if reason := foreign or size_problem(file.size, self._max_bytes):
            yield Skipped(key, self._url(file), reason, is_error=not foreign)
            return
        version = file.version
        if not version:
            try:
                version = hashlib.sha256(self._read(file.name)[1]).hexdigest()
            except UnreadableError:  # removed, or replaced, since it was listed
                return
        yield DocumentRef(key, version, self._url(file), size=file.size)

    def _read(self, name: str) -> tuple[StoredFile, bytes]:
        with _source_errors():
            try:
                file, data = self._files.read(self._location, name, self._max_bytes)
            except FileNotFoundError as error:
                raise UnreadableError(_("was removed while the import was running")) from error
        if reason := size_problem(file.size, self._max_bytes):
            raise UnreadableError(reason)
        return file, data

    def _url(self, file: StoredFile) -> str:
        return f"{self._files.url(self._location)}/{file.name}"


@contextmanager
def _source_errors() -> Iterator[None]:
    """Report a bucket that can't be used as an unavailable source: its import is resumed later."""
    try:
        yield
    except StorageError as error:
        raise SourceUnavailableError(message_for_everyone(error)) from error
