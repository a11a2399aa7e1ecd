"""Detects damaged files of an index before a library reads them, which may crash the process.

Deep Lake crashes on a truncated or zeroed file, and tantivy searches a modified file without an
error. Both write most files once, under unique names, so a list of sizes and checksums, written at
the end of each commit, can verify them. The few files that change are checked by content.

A crash between a commit and its list leaves unlisted files. They are accepted, and the next commit
lists them.
"""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from domain.messages import _
from storage.safe_writes import unusable, writer_lock

CHECKSUMS = "checksums"
"""The name of the list; its first line is the checksum of the rest, which is JSON."""

_BLOCK = 2**20


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
    content = json.loads(body)
    files = {name: FileDigest(*digest) for name, digest in content["files"].items()}
    return FileList(files, content["state"])


def write_list(folder: Path, file_list: FileList) -> None:
    """Replace the list atomically.

    Raises:
        OSError: The list can't be written; the old one remains.
    """
    body = json.dumps({"files": file_list.files, "state": file_list.state}).encode()
    temporary = folder / f"{CHECKSUMS}.new"
    with temporary.open("wb") as file:
        file.write(xxhash.xxh3_64_hexdigest(body).encode() + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())  # an empty list after a power failure would look like damage
    temporary.replace(folder / CHECKSUMS)


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
    checksum, size = xxhash.xxh3_64(), 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            checksum.update(block)
            size += len(block)
    return FileDigest(size, checksum.hexdigest())


_MAX_CHECKS = 5
"""The maximum number of checks if a writer keeps replacing files."""

_Stamp = tuple[int, int, int] | None


class IndexFiles(ABC):
    """The files of one store in a folder; threads may share it.

    With `must_exist`, a store without files counts as damaged, not as new, because the ledger lists
    passages in it.
    """

    what: str
    """The store's name in messages."""
    head: str
    """A path that exists once the store has been created."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.must_exist = False
        self._verified: set[str] = set()
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
    def _require_readable(self) -> None:
        """Raise a DamagedIndexError if reading unlisted files would crash the process."""

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
            files = with_new_files(self.folder, self._list(), self._immutable_files())
            write_list(self.folder, FileList(files, self._state()))

    def record_first(self) -> None:
        """List the files of a store without a list, which an earlier version of Footnote wrote.

        Raises:
            BusyError: Another process is writing to the store.
            DamagedIndexError: Reading the files could crash this process; nothing was listed.
            StorageError: The folder can't be written to.
        """
        if self.exist() and not (self.folder / CHECKSUMS).exists():
            with writer_lock(self.folder, timeout_s=0):
                self._require_readable()
                self.record()

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
            contents: Whether to read each file that this process has not verified yet. Otherwise
                only sizes are compared, about a millisecond for 500 files.
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
            if not listed.files:
                return
            names = list(self._references(listed))
            problems = [*self._size_problems(names, listed), *self._state_problems(listed)]
            yield from problems
            if contents and not problems:
                yield from self._content_problems(names, listed)
        except ValueError as error:
            yield str(error)

    def _size_problems(self, names: Iterable[str], listed: FileList) -> Iterator[str]:
        for name in names:
            try:
                size = os.stat(f"{self.folder}/{name}").st_size  # three times as fast as Path
            except OSError as error:
                yield _("{name} can't be read ({strerror})").format(
                    name=name, strerror=error.strerror
                )
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
                yield _("{name} can't be read ({strerror})").format(
                    name=name, strerror=error.strerror
                )
                continue
            if digest == listed.files[name]:
                self._verified.add(name)
            else:
                yield _("{name} is damaged: its checksum differs").format(name=name)

    def _list(self) -> FileList:
        """The current list; empty if there is none."""
        stamp = stamp_of(self.folder / CHECKSUMS)
        if stamp is None or stamp != self._cached_list[0]:
            self._cached_list = (stamp, read_list(self.folder) or FileList())
        return self._cached_list[1]

    def _stamps(self) -> tuple[_Stamp, _Stamp]:
        return stamp_of(self.folder / CHECKSUMS), self._stamp()


def stamp_of(path: Path) -> _Stamp:
    """A value that changes when the file is replaced; None if it does not exist."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
