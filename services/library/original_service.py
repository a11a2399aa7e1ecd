"""Reads the original files of documents: of folders on this machine, and uploaded ones."""

import errno
import hashlib
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from domain import Principal
from domain.messages import _
from errors import NotFoundError, UnreadableError
from services.access import sees
from services.library.reader_service import NOT_THERE
from storage.ledger.document_store import Documents, StoredDocument
from storage.ledger.source_store import Sources, StoredSource

_BLOCK = 2**20
_DIRECTORY, _UPLOAD = "directory", "upload"


class OriginalFile(NamedTuple):
    """An original file; `is_current` is false if it has changed since it was imported."""

    name: str
    path: Path
    is_current: bool


@dataclass(frozen=True)
class OriginalService:
    """Finds the original files of the documents that a principal can see."""

    documents: Documents
    sources: Sources
    data_dir: Path

    def find(self, principal: Principal, document_id: str) -> OriginalFile:
        """The original file of a document; it can be read now, but may change at any time.

        Raises:
            NotFoundError: The principal has no such document.
            UnreadableError: The document has no file on this machine, or the file no longer exists,
                can't be opened, or is no longer in the folder of its source.
        """
        document = self._require(principal, document_id)
        path = Path(document.location)
        file = self._inside(path, self.sources.get(document.source_id), document)
        try:
            version = _version(file)
        except FileNotFoundError as error:
            raise UnreadableError(
                _("The original file {name} no longer exists.").format(name=path.name)
            ) from error
        except OSError as error:
            raise UnreadableError(
                _("The original file {name} can't be opened ({strerror}).").format(
                    name=path.name, strerror=error.strerror
                )
            ) from error
        return OriginalFile(path.name, file, version == document.version)

    def read(self, principal: Principal, document_id: str) -> bytes:
        """The bytes of the original file; raises like `find`."""
        return self.find(principal, document_id).path.read_bytes()

    def _require(self, principal: Principal, document_id: str) -> StoredDocument:
        document = self.documents.get(document_id)
        if not sees(self.sources, principal, document.source_id):
            raise NotFoundError(NOT_THERE)
        return document

    def _inside(self, path: Path, source: StoredSource, document: StoredDocument) -> Path:
        """The file without symbolic links, if it is still in the folder of its source."""
        if source.kind not in (_DIRECTORY, _UPLOAD):
            raise UnreadableError(
                _("{title} has no original file on this machine.").format(title=document.title)
            )
        data_dir = self.data_dir.resolve()
        is_upload = source.kind == _UPLOAD
        root = (data_dir / source.location if is_upload else Path(source.location)).resolve()
        try:
            file = path.resolve()
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


def _version(file: Path) -> str:
    """The SHA-256 of a file, which is read only if it may have changed since the last call."""
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FileNotFoundError(errno.ENOENT, "not a regular file")
    return _sha256(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _sha256(file: Path, modified_ns: int, size: int) -> str:  # noqa: ARG001  # the cache's key
    digest = hashlib.sha256()
    with file.open("rb") as data:
        while block := data.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
