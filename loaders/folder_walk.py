"""What lies below a folder: the files to import, and what has to be skipped, with the reason."""

import errno
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from loaders.globs import Globs

_HIDDEN = (".", "~$")  # "~$" is what Office leaves beside an open file
_LEADS_NOWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_NOTHING = "a link to nothing"
_NOT_UTF8 = "its name is not valid UTF-8: rename it"
_OUTSIDE = "a link to something outside the folder that is imported"


class FolderEntry(NamedTuple):
    """An entry below the root: a file to read or, with a `reason`, something to skip.

    `may_be_folder` is true where the operating system refused to say what it is.
    """

    key: str
    path: Path
    reason: str = ""
    may_be_folder: bool = False


class FolderWalk:
    """Walks a folder; an entry that can't be looked at is found with the reason."""

    def __init__(
        self, root: Path, include: Globs, exclude: Globs, leave_out: Path | None = None
    ) -> None:
        """Args are as for `DirectoryFiles`; `root` and `leave_out` are resolved."""
        self._root = root
        self._include = include
        self._exclude = exclude
        self._leave_out = leave_out

    def entries(self) -> Iterator[FolderEntry]:
        """Everything below the root that no rule leaves out, in no order.

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
                reason = f"the folder can't be opened: {why(error)}"
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
        """The entry, unless a rule leaves it out; a folder joins those that are to be walked."""
        path, key = Path(entry.path), key_of(relative)
        if self._is_left_out(path, key):
            return
        try:
            if entry.is_dir(follow_symlinks=False):
                folders.append((path, relative))
            elif found := self._file(entry, path, key):
                yield found
        except OSError as error:
            reason = f"it can't be opened: {why(error)}"
            yield FolderEntry(key, path, reason, may_be_folder=True)

    def _is_left_out(self, path: Path, key: str) -> bool:
        is_hidden = path.name.startswith(_HIDDEN)
        return is_hidden or self._exclude.match(key) or path == self._leave_out

    def _file(self, entry: os.DirEntry[str], path: Path, key: str) -> FolderEntry | None:
        """The file or link; None where a rule leaves it out.

        Raises:
            OSError: The operating system does not say what it is, or what it leads to.
        """
        found: FolderEntry | None = FolderEntry(key, path)
        if not _is_utf8(entry.path):
            found = FolderEntry(key, path, _NOT_UTF8)
        elif entry.is_symlink():
            found = self._link(path, key)
        return found if self._include.match(key) else None

    def _link(self, path: Path, key: str) -> FolderEntry | None:
        """The link as a file, or why it is skipped; None where its target is walked anyway."""
        try:
            target = path.resolve(strict=True)
            is_folder = target.is_dir()
        except RuntimeError:  # a loop of links
            return FolderEntry(key, path, _NOTHING)
        except OSError as error:
            if error.errno in _LEADS_NOWHERE:
                return FolderEntry(key, path, _NOTHING)
            raise
        if not target.is_relative_to(self._root):
            return FolderEntry(f"{key}/" if is_folder else key, path, _OUTSIDE)
        return None if is_folder or self._is_walked(target) else FolderEntry(key, path)

    def _is_walked(self, target: Path) -> bool:
        """Whether the walk meets this file, or may not: the data folder stays out by links too."""
        if self._leave_out is not None and target.is_relative_to(self._leave_out):
            return True
        parts = target.relative_to(self._root).parts
        keys = [key_of(PurePosixPath(*parts[: i + 1])) for i in range(len(parts))]
        is_hidden = any(part.startswith(_HIDDEN) for part in parts)
        is_excluded = any(map(self._exclude.match, keys))
        return not is_hidden and not is_excluded and self._include.match(keys[-1])


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return [*found]


def key_of(relative: PurePosixPath) -> str:
    """The path below the root as keys are: in NFC, and storable."""
    return unicodedata.normalize("NFC", printable(relative.as_posix()))


def printable(name: str) -> str:
    """The name with what is not valid UTF-8 in it as question marks."""
    return name.encode("utf-8", "replace").decode("utf-8")


def why(error: Exception) -> str:
    """The reason that the operating system gives, without the path."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _is_utf8(name: str) -> bool:
    return printable(name) == name
