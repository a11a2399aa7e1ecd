"""A folder as a source: its readable files, by paths that stay the same on every system."""

import hashlib
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from domain import NOTHING_BEFORE, Before, DocumentRef, Skipped
from errors import SourceError, UnreadableError
from loaders.folder_walk import FolderEntry, FolderWalk, key_of, printable, why
from loaders.formats import read_document, unsupported
from loaders.globs import Globs

if TYPE_CHECKING:  # slow, and a folder without news needs none of it
    from langchain_core.documents import Document

DEFAULT_MAX_BYTES = 100 * 2**20
_BLOCK = 2**20


class DirectoryFiles:
    """Lists and reads the files below a folder, or one file.

    Hidden files and folders are left out silently, as is what the patterns leave out, and links
    to what is listed anyway. Links are followed to files inside the root only.
    """

    def __init__(
        self,
        root: Path,
        *,
        include: Sequence[str] = ("**/*",),
        exclude: Sequence[str] = (),
        max_bytes: int = DEFAULT_MAX_BYTES,
        leave_out: Path | None = None,
    ) -> None:
        """Take the files that match an `include` pattern and, like their folders, no `exclude`.

        A pattern without a slash is asked of the name alone, at any depth; `**` crosses folders.
        `max_bytes` bounds each file. Where `root` is a file, the patterns don't apply.
        `leave_out` is a folder that is not looked into, should it lie below the root.
        """
        self._root = root
        self._include = Globs(include)
        self._exclude = Globs(exclude)
        self._max_bytes = max_bytes
        self._leave_out = None if leave_out is None else leave_out.resolve()

    def list(self, before: Before = NOTHING_BEFORE) -> Iterator[DocumentRef | Skipped]:  # noqa: ARG002  # all is looked at each time
        """Yield every file, sorted by key, its version the SHA-256 of its bytes.

        A key is the path below the root in NFC; the location is the path by which it opens.
        What can't be read is yielded as `Skipped` with the reason, and never raised; a folder
        with a key that ends in "/". Files are hashed as they are yielded.

        Raises:
            SourceError: The root is missing, or can't be opened.
        """
        seen: set[str] = set()
        for key, path, reason, may_be_folder in self._found(self._resolved_root()):
            if reason:
                location = printable(str(path))
                yield Skipped(key, location, reason, may_be_folder=may_be_folder)
            elif key in seen:
                reason = "another file has the same name in another Unicode form: rename one"
                yield Skipped(key, str(path), reason)
            else:
                seen.add(key)
                yield from self._item(path, key)

    def read(self, ref: DocumentRef) -> "Document":
        """Read a file that `list` has yielded.

        Returns:
            The document as `read_document` gives it, with key, version, location and
            modified_at (UTC, as `2026-11-21T10:00:00Z`; not there where the file system knows no
            such time) in its metadata; the version is of the bytes read, should the file have
            changed meanwhile.

        Raises:
            UnreadableError: With the reason; also where the file was removed meanwhile, or is
                not below the root (any more).
            SourceError: The root is missing, or can't be opened.
        """
        path = Path(ref.location)
        root = self._resolved_root()
        self._require_inside(path, root)
        modified_at = _modified_at(path)
        data = self._bytes(path)
        document = read_document(ref.key, data)
        version = hashlib.sha256(data).hexdigest()
        document.metadata |= {"key": ref.key, "version": version, "location": ref.location}
        document.metadata |= modified_at
        return document

    def _resolved_root(self) -> Path:
        try:
            return self._root.expanduser().resolve(strict=True)
        except FileNotFoundError as error:
            raise SourceError(f"there is no file or folder {self._root}: check the path") from error
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, no home; NUL
            raise SourceError(f"{self._root} can't be opened: {why(error)}") from error

    def _require_inside(self, path: Path, root: Path) -> None:
        try:
            is_inside = path.resolve().is_relative_to(root)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
            raise UnreadableError(f"the file can't be opened: {why(error)}") from error
        if not is_inside:
            raise UnreadableError(f"{path} is not in the folder {root}")

    def _found(self, root: Path) -> Sequence[FolderEntry]:
        """The root where it is a file, else everything below it, by key."""
        try:
            if root.is_file():
                return [FolderEntry(key_of(PurePosixPath(root.name)), root)]
            walk = FolderWalk(root, self._include, self._exclude, self._leave_out)
            return sorted(walk.entries())
        except OSError as error:
            raise SourceError(f"{root} can't be opened: {why(error)}") from error

    def _item(self, path: Path, key: str) -> Iterator[DocumentRef | Skipped]:
        """The file as a reference, or why not; nothing where it has just been removed."""
        try:
            foreign = unsupported(key)
            reason = foreign or self._unfit(path)
            version = "" if reason else _hash(path)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = f"the file can't be opened: {why(error)}"
        if reason:
            yield Skipped(key, str(path), reason, is_error=not foreign)
        else:
            yield DocumentRef(key, version, str(path))

    def _unfit(self, path: Path) -> str | None:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"  # a pipe or device: opening it could wait for ever
        return self._too_large(status.st_size)

    def _too_large(self, size: int) -> str | None:
        if size <= self._max_bytes:
            return None
        return (
            f"{_megabytes(size)} is more than the limit of {_megabytes(self._max_bytes)}: split it"
        )

    def _bytes(self, path: Path) -> bytes:
        try:
            if reason := self._unfit(path):
                raise UnreadableError(reason)
            return path.read_bytes()
        except FileNotFoundError as error:
            raise UnreadableError("was removed while the import was running") from error
        except OSError as error:
            raise UnreadableError(f"the file can't be opened: {why(error)}") from error


def _modified_at(path: Path) -> dict[str, str]:
    try:
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):  # gone: reading tells; or a year beyond 9999
        return {}
    return {"modified_at": moment.isoformat(timespec="seconds").replace("+00:00", "Z")}


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
