"""Finds damaged files of an index before a library reads them, which may kill the process.

Deep Lake dies over a truncated or zeroed file, and tantivy searches a changed one without a word.
Both write a file once, under a name of its own: so a list of sizes and checksums, made at the end
of each commit, says what must be there. The few files that do change are judged by what they say.

A crash between a commit and its list leaves files that the list does not name: they are accepted,
and listed by the next commit.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from storage.checksums import CHECKSUMS, FileList, read_list, with_new_files, write_list, written_as
from storage.disk import unusable
from storage.lock import writer_lock

_LOOKS = 5
"""So often is looked where a writer replaces files meanwhile."""

_Stamp = tuple[int, int, int] | None


class IndexFiles(ABC):
    """The files of one store in a folder; threads may share it.

    With `must_exist` a store without files is damaged, not new: the ledger counts its passages.
    """

    what: str
    """What the store holds, for messages."""
    head: str
    """The path that is there once the store was begun."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.must_exist = False
        self._sound: set[str] = set()
        self._known: tuple[_Stamp, FileList] = (None, FileList())

    @abstractmethod
    def _unchanging(self) -> Iterable[str]:
        """The files that are to be listed after a commit, by their paths within the folder."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """What is to be listed of the files that do change."""

    @abstractmethod
    def _referenced(self, listed: FileList) -> Iterable[str]:
        """The listed files that the store refers to.

        Raises:
            ValueError: The file that names them is damaged; the message begins with its name.
        """

    @abstractmethod
    def _wrong_state(self, listed: FileList) -> Iterator[str]:
        """What is wrong with the files that do change; as `problems`, and raises as above."""

    @abstractmethod
    def _stamp(self) -> _Stamp:
        """Another one after each commit."""

    def exist(self) -> bool:
        """Whether the store was ever begun."""
        return (self.folder / self.head).exists()

    def record(self) -> None:
        """List what a commit wrote; only new files are read. For the holder of the writer lock.

        The commit stands even where the list can't be written.
        """
        with suppress(OSError):
            files = with_new_files(self.folder, self._listed(), self._unchanging())
            write_list(self.folder, FileList(files, self._state()))

    def record_first(self) -> None:
        """List the files of a store that has no list, as they are: an earlier version wrote it.

        Raises:
            BusyError: Another process writes to the store.
            StorageError: The folder can't be written to.
        """
        if self.exist() and not (self.folder / CHECKSUMS).exists():
            with writer_lock(self.folder, timeout_s=0):
                self.record()

    def require_sound(self, *, contents: bool = True) -> None:
        """Make sure that the store may be read; see `problems`.

        Raises:
            DamagedIndexError: A file is missing, or is not what was written; it is named. There
                may be more of them.
        """
        if found := self.problems(contents=contents):
            raise unusable(self.what, self.folder, found[0])

    def problems(self, *, contents: bool = True) -> list[str]:
        """What is wrong, each with the path of its file first; nothing where all is well.

        Args:
            contents: Whether to read each file that was not found sound before. Without, sizes
                alone are compared: about a millisecond for 500 files.
        """
        found: list[str] = []
        for _ in range(_LOOKS):
            stamps, found = self._stamps(), list(self._problems(contents=contents))
            if not found or stamps == self._stamps():
                break
        return found

    def _problems(self, *, contents: bool) -> Iterator[str]:
        try:
            listed = self._listed()
            if not self.exist():
                if listed.files or self.must_exist:
                    yield f"{self.head} is missing"
                return
            if not listed.files:
                return
            names = list(self._referenced(listed))
            wrong = [*self._wrong_sizes(names, listed), *self._wrong_state(listed)]
            yield from wrong
            if contents and not wrong:
                yield from self._wrong_contents(names, listed)
        except ValueError as error:
            yield str(error)

    def _wrong_sizes(self, names: Iterable[str], listed: FileList) -> Iterator[str]:
        for name in names:
            try:
                size = os.stat(f"{self.folder}/{name}").st_size  # thrice as fast as by a Path
            except OSError as error:
                yield f"{name} can't be read ({error.strerror})"
                continue
            if size != listed.files[name].size:
                yield f"{name} has {size} bytes, {listed.files[name].size} were written"

    def _wrong_contents(self, names: Iterable[str], listed: FileList) -> Iterator[str]:
        for name in names:
            if name in self._sound:
                continue
            try:
                found = written_as(self.folder / name)
            except OSError as error:
                yield f"{name} can't be read ({error.strerror})"
                continue
            if found == listed.files[name]:
                self._sound.add(name)
            else:
                yield f"{name} is not what was written: its checksum differs"

    def _listed(self) -> FileList:
        """The list as it is now; an empty one where none was made yet."""
        stamp = stamp_of(self.folder / CHECKSUMS)
        if stamp is None or stamp != self._known[0]:
            self._known = (stamp, read_list(self.folder) or FileList())
        return self._known[1]

    def _stamps(self) -> tuple[_Stamp, _Stamp]:
        return stamp_of(self.folder / CHECKSUMS), self._stamp()


def stamp_of(path: Path) -> _Stamp:
    """Another one whenever the file was replaced; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
