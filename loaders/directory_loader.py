"""A folder as a source: its readable files, with keys that are the same on every system."""

import errno
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from domain import HIDDEN_NAMES, NEVER_IMPORTED, DocumentRef, PreviousImport, Skipped, utc_text
from domain.errors import InputError, SourceError, UnreadableError
from domain.messages import _
from loaders.document_reader import read_document, size_problem
from loaders.formats import unsupported

if TYPE_CHECKING:
    from langchain_core.documents import Document


# RE2 matches in linear time; Python's `re` takes seconds for `*a*a*a*a*b`. pathspec uses it, and
# interprets patterns as .gitignore does: `*.md` also matches everything in a folder of that name.
_WILDCARDS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_TOKEN = re.compile(r"\*\*/|\*\*|\[(?P<inside>.[^\]]*)\]|.", re.DOTALL)


class Globs:
    """A set of patterns; it matches a path if any of them does, regardless of Unicode form.

    `*`, `?`, and `[...]` match within one folder; `**` matches any number of folders
    (`docs/**/*.md` also matches `docs/a.md`). A pattern without a slash matches the name alone, at
    any depth. An invalid pattern raises InputError.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        normal = [unicodedata.normalize("NFC", pattern).strip("/") for pattern in patterns]
        self._of_names = [_expression(pattern) for pattern in normal if "/" not in pattern]
        self._of_paths = [_expression(pattern) for pattern in normal if "/" in pattern]

    def match(self, path: str) -> bool:
        """Whether a relative path matches; it must be in NFC with "/" between its parts."""
        name = path.rsplit("/", 1)[-1]
        return any(p.fullmatch(name) for p in self._of_names) or any(
            p.fullmatch(path) for p in self._of_paths
        )


def _expression(pattern: str) -> Any:
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    try:
        return re2.compile(_TOKEN.sub(_translate, pattern), options)
    except re2.error as error:
        raise InputError(
            _(
                "{pattern} is not a valid pattern ({error}): use patterns such as *.md or"
                " docs/**, and ranges such as [a-z]."
            ).format(pattern=pattern, error=error)
        ) from error


def _translate(token: re.Match[str]) -> str:
    glob, inside = token[0], token["inside"]
    if inside is None:
        return _WILDCARDS.get(glob) or re.escape(glob)
    escaped = inside.replace("\\", "\\\\").replace("[", "\\[")
    return f"[^/{escaped[1:]}]" if escaped.startswith("!") else f"[{escaped}]"


_LEADS_NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_NOTHING = _("a broken link")
_NOT_UTF8 = _("its name is not valid UTF-8: rename it")
SAME_NAME = _("another file has the same name in another Unicode form: rename one")
_OUTSIDE = _("a link to a location outside the imported folder")


class FolderEntry(NamedTuple):
    """An entry below the root: a file to read or, with a `reason`, something to skip.

    `may_be_folder` is true if the operating system did not report the type of the entry.
    """

    key: str
    path: Path
    reason: str = ""
    may_be_folder: bool = False


class FolderWalk:
    """Walks a folder; an entry that can't be examined is yielded with the reason."""

    def __init__(
        self, root: Path, include: Globs, exclude: Globs, excluded_folder: Path | None = None
    ) -> None:
        """Create a walk; see `DirectoryLoader` for the arguments. The paths must be resolved."""
        self._root = root
        self._include = include
        self._exclude = exclude
        self._excluded_folder = excluded_folder

    def entries(self) -> Iterator[FolderEntry]:
        """Yield everything below the root that no rule excludes, in arbitrary order.

        Raises:
            OSError: The root itself can't be listed.
        """
        folders = [(self._root, PurePosixPath())]
        while folders:
            folder, relative = folders.pop()
            try:
                entries = _entries(folder)
            except OSError as error:
                if folder == self._root:
                    raise
                reason = _("the folder can't be opened: {why}").format(why=why(error))
                yield FolderEntry(f"{key_of(relative)}/", folder, reason)
                continue
            for entry in entries:
                yield from self._entry(entry, relative / entry.name, folders)

    def _entry(
        self,
        entry: os.DirEntry[str],
        relative: PurePosixPath,
        folders: list[tuple[Path, PurePosixPath]],
    ) -> Iterator[FolderEntry]:
        """Yield the entry unless a rule excludes it; a folder is added to those to walk."""
        path, key = Path(entry.path), key_of(relative)
        if self._is_excluded(path, key):
            return
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append((path, relative))
            elif file := self._file(entry, path, key):
                yield file
        except OSError as error:
            reason = _("it can't be opened: {why}").format(why=why(error))
            yield FolderEntry(key, path, reason, may_be_folder=True)

    def _is_excluded(self, path: Path, key: str) -> bool:
        is_hidden = path.name.startswith(HIDDEN_NAMES)
        return is_hidden or self._exclude.match(key) or path == self._excluded_folder

    def _file(self, entry: os.DirEntry[str], path: Path, key: str) -> FolderEntry | None:
        """The file or link; None if a rule excludes it.

        Raises:
            OSError: The type of the entry or the target of the link can't be determined.
        """
        result: FolderEntry | None = FolderEntry(key, path)
        if printable(entry.path) != entry.path:
            result = FolderEntry(key, path, _NOT_UTF8)
        elif entry.is_symlink():
            result = self._link(path, key)
        return result if self._include.match(key) else None

    def _link(self, path: Path, key: str) -> FolderEntry | None:
        """The link as a file, or the reason to skip it; None if its target is walked anyway."""
        try:
            target = path.resolve(strict=True)
            is_folder = target.is_dir()
        except RuntimeError:  # circular links
            return FolderEntry(key, path, _NOTHING)
        except OSError as error:
            if error.errno in _LEADS_NOWHERE:
                return FolderEntry(key, path, _NOTHING)
            raise
        if not target.is_relative_to(self._root):
            return FolderEntry(f"{key}/" if is_folder else key, path, _OUTSIDE)
        return None if is_folder or self._is_walked(target) else FolderEntry(key, path)

    def _is_walked(self, target: Path) -> bool:
        """Whether the walk finds this file anyway, or it is in the excluded folder."""
        if self._excluded_folder is not None and target.is_relative_to(self._excluded_folder):
            return True
        parts = target.relative_to(self._root).parts
        keys = [key_of(PurePosixPath(*parts[: i + 1])) for i in range(len(parts))]
        is_hidden = any(part.startswith(HIDDEN_NAMES) for part in parts)
        is_excluded = any(map(self._exclude.match, keys))
        return not is_hidden and not is_excluded and self._include.match(keys[-1])


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return [*scan]


def key_of(relative: PurePosixPath) -> str:
    """The key for a path below the root: in NFC and valid UTF-8."""
    return unicodedata.normalize("NFC", printable(relative.as_posix()))


def printable(name: str) -> str:
    """The name with a question mark for everything that is not valid UTF-8."""
    return name.encode("utf-8", "replace").decode("utf-8")


def why(error: Exception) -> str:
    """The operating system's reason, without the path."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


DEFAULT_MAX_BYTES = 100 * 2**20


class DirectoryLoader:
    """Lists and reads the files below a folder, or one file.

    Hidden files and folders, files excluded by the patterns, and links to files that are listed
    anyway are omitted silently. Only links to files inside the root are followed.
    """

    reads_without_listing = True

    def __init__(
        self,
        root: Path,
        *,
        include: Sequence[str] = ("**/*",),
        exclude: Sequence[str] = (),
        max_bytes: int = DEFAULT_MAX_BYTES,
        excluded_folder: Path | None = None,
    ) -> None:
        """Select the files that match `include`, unless they or a parent folder match `exclude`.

        A pattern without a slash matches the name alone, at any depth; `**` matches any number of
        folders. `max_bytes` limits each file. If `root` is a file, the patterns don't apply.
        `excluded_folder` is a folder to omit if it is below the root.
        """
        self._root = root
        self._include = Globs(include)
        self._exclude = Globs(exclude)
        self._max_bytes = max_bytes
        self._excluded_folder = None if excluded_folder is None else excluded_folder.resolve()

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterator[DocumentRef | Skipped]:  # noqa: ARG002  # always lists everything
        """Yield every file, sorted by key; its version is the SHA-256 of its bytes.

        The key is the path below the root in NFC; the location is the path to open. What can't be
        read is not raised but yielded as `Skipped` with the reason; the key of such a folder ends
        in "/". Files are hashed as they are yielded.

        Raises:
            SourceError: The root is missing or can't be opened.
        """
        keys: set[str] = set()
        for key, path, reason, may_be_folder in self._entries(self._resolved_root()):
            if reason:
                location = printable(str(path))
                yield Skipped(key, location, reason, may_be_folder=may_be_folder)
            elif key in keys:
                yield Skipped(key, str(path), SAME_NAME)
            else:
                keys.add(key)
                yield from self._item(path, key)

    def read(self, ref: DocumentRef) -> "Document":
        """Read a file that `list` yielded.

        Returns:
            The document of `read_document`, with key, version, location, and modified_at in its
            metadata. modified_at is in UTC, such as `2026-11-21T10:00:00Z`, and missing if the file
            system has no valid time. The version is that of the bytes read, even if the file has
            changed since it was listed.

        Raises:
            UnreadableError: The file can't be read, was removed since it was listed, or is not (or
                no longer) below the root; the message gives the reason.
            SourceError: The root is missing or can't be opened.
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
            raise SourceError(
                _("there is no file or folder {root}: check the path").format(root=self._root)
            ) from error
        except (OSError, RuntimeError, ValueError) as error:  # link cycle, no home, NUL
            raise SourceError(
                _("{root} can't be opened: {why}").format(root=self._root, why=why(error))
            ) from error

    def _require_inside(self, path: Path, root: Path) -> None:
        try:
            is_inside = path.resolve().is_relative_to(root)
        except (OSError, RuntimeError) as error:  # RuntimeError: circular links
            raise UnreadableError(
                _("the file can't be opened: {why}").format(why=why(error))
            ) from error
        if not is_inside:
            raise UnreadableError(
                _("{path} is not in the folder {root}").format(path=path, root=root)
            )

    def _entries(self, root: Path) -> Sequence[FolderEntry]:
        """The root itself if it is a file; otherwise everything below it, sorted by key."""
        try:
            if root.is_file():
                return [FolderEntry(key_of(PurePosixPath(root.name)), root)]
            walk = FolderWalk(root, self._include, self._exclude, self._excluded_folder)
            return sorted(walk.entries())
        except OSError as error:
            raise SourceError(
                _("{root} can't be opened: {why}").format(root=root, why=why(error))
            ) from error

    def _item(self, path: Path, key: str) -> Iterator[DocumentRef | Skipped]:
        """Yield a reference to the file, or why it is skipped; nothing if it was just removed."""
        try:
            foreign = unsupported(key)
            reason = foreign or self._unfit(path)
            version, size = ("", 0) if reason else _hash(path)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = _("the file can't be opened: {why}").format(why=why(error))
        if reason:
            yield Skipped(key, str(path), reason, is_error=not foreign)
        else:
            yield DocumentRef(key, version, str(path), size=size)

    def _unfit(self, path: Path) -> str | None:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return _("not a regular file")  # a pipe or device: opening it could block forever
        return size_problem(status.st_size, self._max_bytes)

    def _bytes(self, path: Path) -> bytes:
        try:
            if reason := self._unfit(path):
                raise UnreadableError(reason)
            return path.read_bytes()
        except FileNotFoundError as error:
            raise UnreadableError(_("was removed while the import was running")) from error
        except OSError as error:
            raise UnreadableError(
                _("the file can't be opened: {why}").format(why=why(error))
            ) from error


def _modified_at(path: Path) -> dict[str, str]:
    try:
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):  # removed (`read` reports it); a year after 9999
        return {}
    return {"modified_at": utc_text(moment)}


def _hash(path: Path) -> tuple[str, int]:
    """The SHA-256 of the file, and its size in bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
