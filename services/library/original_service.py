"""Reads the original files of documents: of folders on this machine, and uploaded ones.

Uploaded files are in the data folder or in a bucket.

Every read checks that the principal sees the document and that the file is in its source's folder.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from domain import Principal
from domain.errors import StorageError, TemporarilyUnreadableError, UnreadableError
from domain.messages import _
from domain.public_messages import message_for_everyone
from services.access import Access
from services.library.reader_service import require_document
from storage.ledger.document_store import Documents, StoredDocument
from storage.upload_bucket import UploadBucket

MAX_BYTES = 512 * 2**20
"""The largest file that is read into memory."""
_DIRECTORY, _UPLOAD = "directory", "upload"


class OriginalFile(NamedTuple):
    """An original file; `is_current` is false if it has changed since it was imported.

    `path` is None if the file is in a bucket: `OriginalService.read` returns it.
    """

    name: str
    path: Path | None
    is_current: bool


@dataclass(frozen=True)
class OriginalService:
    """Finds the original files of the documents that a principal can see."""

    documents: Documents
    access: Access
    data_dir: Path
    bucket: UploadBucket | None = None

    def find(
        self, principal: Principal, document_id: str, *, max_bytes: int | None = None
    ) -> OriginalFile:
        """The original file of a document; it can be read now, but may change at any time.

        Raises:
            NotFoundError: The principal has no such document.
            UnreadableError: The document has no file on this machine, or the file no longer exists,
                can't be opened, is no longer in the folder of its source, or has more than
                `max_bytes`.
            TemporarilyUnreadableError: The bucket of uploaded files can't be used now.
        """
        document = self._require(principal, document_id)
        if self.bucket and (location := self._box(document)):
            return _find_in_bucket(self.bucket, location, document, max_bytes)
        name, file = Path(document.location).name, self._inside(document)
        with _errors_of(name):
            status = _status(file, name, max_bytes)
            version = _sha256(file, status.st_mtime_ns, status.st_size)
        return OriginalFile(name, file, version == document.version)

    def read(self, principal: Principal, document_id: str) -> bytes:
        """The bytes of the original file, at most `MAX_BYTES`; raises like `find`."""
        return self._read(self._require(principal, document_id))

    def _read(self, document: StoredDocument) -> bytes:
        if self.bucket and (location := self._box(document)):
            return _read_from_bucket(self.bucket, location, document)
        name, file = Path(document.location).name, self._inside(document)
        with _errors_of(name):
            _status(file, name, MAX_BYTES)
            with file.open("rb") as data:
                return data.read(min(os.fstat(data.fileno()).st_size, MAX_BYTES))

    def page_image(
        self, principal: Principal, document_id: str, page: int, quotes: Sequence[str] = ()
    ) -> bytes:
        """A page of the original PDF, counted from 1, as PNG, with the quotes on it highlighted.

        Raises:
            NotFoundError: The principal has no such document.
            UnreadableError: The document is not a PDF file, the file can't be read (see `read`) or
                has changed since its import, or the page can't be rendered.
        """
        document = self._require(principal, document_id)
        if document.format != "pdf":
            raise UnreadableError(
                _("{title} is not a PDF file, so it has no pages to show.").format(
                    title=document.title
                )
            )
        data = self._read(document)
        if hashlib.sha256(data).hexdigest() != document.version:
            raise UnreadableError(
                _(
                    "The original file {name} has changed since it was imported: import it again to"
                    " see its pages."
                ).format(name=Path(document.location).name)
            )
        from loaders.document_reader import draw_page  # slow to import

        return draw_page(data, page, quotes)

    def _require(self, principal: Principal, document_id: str) -> StoredDocument:
        return require_document(self.documents, self.access, principal, document_id)

    def _box(self, document: StoredDocument) -> str:
        """The location of the document's upload box; "" if it comes from another source."""
        source = self.access.sources.get(document.source_id)
        return source.location if source.kind == _UPLOAD else ""

    def _inside(self, document: StoredDocument) -> Path:
        """The file without symbolic links, if it is still in the folder of its source."""
        path, source = Path(document.location), self.access.sources.get(document.source_id)
        if source.kind not in (_DIRECTORY, _UPLOAD):
            raise UnreadableError(
                _("{title} has no original file on this machine.").format(title=document.title)
            )
        data_dir = self.data_dir.resolve()
        is_upload = source.kind == _UPLOAD
        root = data_dir / source.location if is_upload else Path(source.location)
        try:
            root, file = root.resolve(), path.resolve()
        except (OSError, RuntimeError):  # RuntimeError: circular links
            file = Path("/")
        is_private = not is_upload and file.is_relative_to(data_dir)
        if is_private or not file.is_relative_to(root):
            raise UnreadableError(
                _("The original file {name} is no longer in the folder of its source.").format(
                    name=path.name
                )
            )
        return file


def _find_in_bucket(
    bucket: UploadBucket, location: str, document: StoredDocument, max_bytes: int | None
) -> OriginalFile:
    name = Path(document.location).name
    with _errors_of(name):
        file = bucket.find(location, document.key)
    if max_bytes is not None and file.size > max_bytes:
        raise _too_large(name, file.size, max_bytes)
    return OriginalFile(name, None, is_current=file.version in ("", document.version))


def _read_from_bucket(bucket: UploadBucket, location: str, document: StoredDocument) -> bytes:
    name = Path(document.location).name
    with _errors_of(name):
        file, data = bucket.read(location, document.key, MAX_BYTES)
    if file.size > MAX_BYTES:
        raise _too_large(name, file.size, MAX_BYTES)
    return data


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Raise errors of the operating system as UnreadableError with the name of the file.

    Those of a bucket are raised as TemporarilyUnreadableError.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise UnreadableError(
            _("The original file {name} no longer exists.").format(name=name)
        ) from error
    except StorageError as error:
        raise TemporarilyUnreadableError(message_for_everyone(error)) from error
    except OSError as error:
        raise UnreadableError(
            _("The original file {name} can't be opened ({strerror}).").format(
                name=name, strerror=error.strerror
            )
        ) from error


def _too_large(name: str, size: int, max_bytes: int) -> UnreadableError:
    return UnreadableError(
        _(
            "The original file {name} has {size} MiB, and at most {limit} MiB can be opened here:"
            " open it at its location."
        ).format(name=name, size=f"{size / 2**20:,.1f}", limit=f"{max_bytes / 2**20:,.1f}")
    )


def _status(file: Path, name: str, max_bytes: int | None) -> os.stat_result:
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FileNotFoundError(errno.ENOENT, "not a regular file")
    if max_bytes is not None and status.st_size > max_bytes:
        raise _too_large(name, status.st_size, max_bytes)
    return status


@lru_cache(maxsize=64)
def _sha256(file: Path, modified_ns: int, size: int) -> str:  # noqa: ARG001  # the cache's key
    """The SHA-256 of a file, which is read only if it may have changed since the last call."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
