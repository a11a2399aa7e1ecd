"""Detects damaged files of an index before a library reads them, which may crash the process.

Deep Lake crashes on a truncated or zeroed file, and tantivy searches a modified file without an
error. Both write most files once, under unique names, so a list of sizes and checksums, written at
the end of each commit, can verify them. The few files that change are checked by content.

A crash between a commit and its list leaves unlisted files. They are accepted, and the next commit
lists them.

A list says that files are as they were written, not by whom. Unless the list was written in this
folder, or the files have been read before, another process reads them first
(`storage/index_reader.py`).
"""

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import xxhash

from domain.errors import BusyError, StorageError
from domain.messages import _
from storage.index_reader import ReadableStates, reading_problem
from storage.safe_writes import holds_lock, is_below, replace_private_text, unusable, writer_lock

CHECKSUMS = "checksums"
"""The name of the list; its first line is the checksum of the rest, which is JSON."""


class FileDigest(NamedTuple):
    """Size in bytes and checksum of a file at the end of its commit."""

    size: int
    checksum: str


@dataclass(frozen=True)
class FileList:
    """The immutable files of a store by their paths within its folder.

    `state` describes the mutable files in the store's own format.
    """

    files: Mapping[str, FileDigest] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def body(self) -> bytes:
        """The list as it is stored, without its checksum."""
        return json.dumps({"files": self.files, "state": self.state}).encode()

    @cached_property
    def checksum(self) -> str:
        """The checksum of `body`."""
        return xxhash.xxh3_64_hexdigest(self.body)


def read_list(folder: Path) -> FileList | None:
    """Read the list in a folder; None if there is none yet.

    Raises:
        ValueError: The list is damaged; the message starts with its name.
    """
    try:
        data = (folder / CHECKSUMS).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"{CHECKSUMS} can't be read ({error.strerror})") from error
    checksum, _, body = data.partition(b"\n")
    if checksum.decode(errors="replace") != xxhash.xxh3_64_hexdigest(body):
        raise ValueError(f"{CHECKSUMS} is damaged: its checksum differs")
    try:
        content = json.loads(body)
        files = {_inside(name): FileDigest(*digest) for name, digest in content["files"].items()}
        return FileList(files, dict(content["state"]))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{CHECKSUMS} is damaged: it is not a list of files") from error


def _inside(name: str) -> str:
    """The name, which must not lead out of the folder: a list may come from somebody else."""
    if not is_below(PurePath(name)):
        raise ValueError(name)
    return name


def write_list(folder: Path, file_list: FileList) -> None:
    """Replace the list atomically.

    Raises:
        OSError: The list can't be written; the old one remains.
    """
    # Synced, because an empty list after a power failure would look like damage.
    replace_private_text(folder / CHECKSUMS, f"{file_list.checksum}\n{file_list.body.decode()}")


def with_new_files(folder: Path, listed: FileList, names: Iterable[str]) -> dict[str, FileDigest]:
    """Sizes and checksums of these files; only files that are not listed are read.

    Raises:
        OSError: A file can't be read.
    """
    return {name: listed.files.get(name) or file_digest(folder / name) for name in names}


def file_digest(path: Path) -> FileDigest:
    """Size and checksum of a file on disk.

    Raises:
        OSError: The file can't be read.
    """
    with path.open("rb", buffering=0) as file:
        checksum = hashlib.file_digest(file, xxhash.xxh3_64).hexdigest()
        return FileDigest(file.tell(), checksum)


_MAX_CHECKS = 5
"""The maximum number of checks if a writer keeps replacing files."""

_Stamp = tuple[int, int, int] | None


class IndexFiles(ABC):
    """The files of one store in a folder; threads may share it.

    With `must_exist`, a store without files counts as damaged, not as new: the ledger lists
    passages in it, or another process has deleted its files.
    """

    what: str
    """The store's name in messages."""
    head: str
    """A path that exists once the store has been created."""
    may_be_empty: str = "\0"
    """The beginning of the paths of files that may be empty; no other file of a commit may be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.must_exist = False
        self._verified: set[str] = set()
        self._readable = ReadableStates(folder)
        self._unreadable: dict[str, str] = {}  # the reason by state
        self._cached_list: tuple[_Stamp, FileList] = (None, FileList())

    @abstractmethod
    def _immutable_files(self) -> Iterable[str]:
        """The files to list after a commit, as paths within the folder."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """The description of the mutable files for the list."""

    @abstractmethod
    def _references(self, listed: FileList) -> Iterable[str]:
        """The listed files that the store refers to.

        Raises:
            ValueError: The file that names them is damaged; the message starts with its name.
        """

    @abstractmethod
    def _state_problems(self, listed: FileList) -> Iterator[str]:
        """Problems of the mutable files, like `problems`; raises ValueError like `_references`."""

    @abstractmethod
    def _unlisted(self, listed: FileList) -> str:
        """A value that describes what the store refers to but the list does not; "" if nothing."""

    @abstractmethod
    def _stamp(self) -> _Stamp:
        """A value that changes with each commit."""

    def exist(self) -> bool:
        """Whether the store has been created."""
        return (self.folder / self.head).exists()

    def record(self) -> None:
        """List the files of a commit; reads only new files. The caller holds the writer lock.

        The commit is valid even if the list can't be written.
        """
        with suppress(OSError):
            listed = self._list()
            files = with_new_files(self.folder, listed, self._immutable_files())
            new_list = FileList(files, self._state())
            # On a full disk, Deep Lake leaves empty files, and calls the commit successful.
            empty = {name for name in files.keys() - listed.files if not files[name].size}
            if all(name.startswith(self.may_be_empty) for name in empty):
                self._readable.add(new_list.checksum)  # before another process sees the list
            write_list(self.folder, new_list)

    def record_first(self) -> None:
        """List the files of a store without a list, which an earlier version of Footnote wrote.

        Raises:
            BusyError: Another process is writing to the store.
            DamagedIndexError: The files can't be read; nothing was listed.
            StorageError: The folder can't be written to.
        """
        if self.exist() and not (self.folder / CHECKSUMS).exists():
            with writer_lock(self.folder, timeout_s=0):
                self.require_sound()
                self.record()

    def require_readable(self) -> None:
        """Check the contents of a store that is not known to be readable; see `problems`.

        Raises:
            DamagedIndexError: A file is missing or modified, or the store can't be read.
        """
        try:
            if not self.exist() or self._current_state(self._list()) in self._readable:
                return
        except ValueError:  # `problems` reports it
            pass
        self.require_sound()

    def require_sound(self, *, contents: bool = True) -> None:
        """Make sure that the store can be read safely; see `problems`.

        Raises:
            DamagedIndexError: A file is missing or modified; the message names the first one.
        """
        if problems := self.problems(contents=contents):
            raise unusable(self.what, self.folder, problems[0])

    def problems(self, *, contents: bool = True) -> list[str]:
        """Descriptions of all problems, each starting with the path of its file.

        Args:
            contents: Whether to read each file that this process has not verified yet, and to let
                another process read files of unknown origin. Otherwise only sizes are compared,
                about a millisecond for 500 files.
        """
        problems: list[str] = []
        for _unused in range(_MAX_CHECKS):
            stamps, problems = self._stamps(), list(self._problems(contents=contents))
            if not problems or stamps == self._stamps():
                break
        return problems

    def _problems(self, *, contents: bool) -> Iterator[str]:
        try:
            listed = self._list()
            if not self.exist():
                if listed.files or self.must_exist:
                    yield _("{head} is missing").format(head=self.head)
                return
            problems = list(self._listed_problems(listed, contents=contents))
            if contents and not problems:
                problems = list(self._reading_problems(listed))
            yield from problems
        except ValueError as error:
            yield str(error)

    def _listed_problems(self, listed: FileList, *, contents: bool) -> Iterator[str]:
        if not listed.files:
            return
        names = list(self._references(listed))
        problems = [*self._size_problems(names, listed), *self._state_problems(listed)]
        yield from problems
        if contents and not problems:
            yield from self._content_problems(names, listed)

    def _size_problems(self, names: Iterable[str], listed: FileList) -> Iterator[str]:
        for name in names:
            try:
                size = os.stat(f"{self.folder}/{name}").st_size  # three times as fast as Path
            except OSError as error:
                yield _unreadable(name, error)
                continue
            if size != listed.files[name].size:
                yield _("{name} has {size} bytes instead of {expected}").format(
                    name=name, size=size, expected=listed.files[name].size
                )

    def _content_problems(self, names: Iterable[str], listed: FileList) -> Iterator[str]:
        for name in names:
            if name in self._verified:
                continue
            try:
                digest = file_digest(self.folder / name)
            except OSError as error:
                yield _unreadable(name, error)
                continue
            if digest == listed.files[name]:
                self._verified.add(name)
            else:
                yield _("{name} is damaged: its checksum differs").format(name=name)

    def _reading_problems(self, listed: FileList) -> Iterator[str]:
        """Let another process read the store, unless one has, or the last writer listed it."""
        state = self._current_state(listed)
        if state in self._readable or self._is_being_listed(listed):
            return
        if state not in self._unreadable:
            self._unreadable[state] = reading_problem(self.what, self.folder)
        if reason := self._unreadable[state]:
            top = self.head.partition("/")[0]
            yield _("{head} can't be read: {reason}").format(head=top, reason=reason)
        else:
            self._readable.add(state)

    def _current_state(self, listed: FileList) -> str:
        """A value for `ReadableStates`; without a list, it depends on the files themselves.

        Raises:
            ValueError: A file or folder can't be read; the message starts with its path.
        """
        try:
            if listed.files:
                return f"{listed.checksum} {self._unlisted(listed)}".rstrip()
            stamps = [(name, stamp_of(self.folder / name)) for name in self._immutable_files()]
        except OSError as error:
            raise ValueError(_unreadable(self.head, error)) from error
        return xxhash.xxh3_64_hexdigest(json.dumps(sorted(stamps)).encode())

    def _is_being_listed(self, listed: FileList) -> bool:
        """Whether another process is listing its commit, or just has, so it is not from a crash."""
        if listed.checksum not in self._readable or holds_lock(self.folder):
            return False
        try:
            with writer_lock(self.folder, timeout_s=0):
                return self._list() is not listed
        except BusyError:
            return True
        except StorageError:  # the folder can't be written to
            return False

    def _list(self) -> FileList:
        """The current list; empty if there is none."""
        stamp = stamp_of(self.folder / CHECKSUMS)
        if stamp is None or stamp != self._cached_list[0]:
            self._cached_list = (stamp, read_list(self.folder) or FileList())
        return self._cached_list[1]

    def _stamps(self) -> tuple[_Stamp, _Stamp]:
        return stamp_of(self.folder / CHECKSUMS), self._stamp()


def _unreadable(name: str, error: OSError) -> str:
    return _("{name} can't be read ({strerror})").format(name=name, strerror=error.strerror)


def stamp_of(path: Path) -> _Stamp:
    """A value that changes when the file is replaced; None if it does not exist."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
