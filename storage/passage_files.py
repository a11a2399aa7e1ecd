"""The files of a Deep Lake dataset of passages.

Columns, metadata and commits are written once each and never deleted. What changes is the counter
of each log, `next_base`: 8 bytes, the number that the next commit takes.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from storage.checksums import FileList
from storage.index_files import IndexFiles
from storage.passage_format import FORMAT_FILE

_LOG = "rows/_deeplake_log"
_COUNTER = "next_base"
_DIGITS = 10
_MOST_UNUSED = 16
"""Numbers that killed writers may have taken without a commit: each leaves one at most."""


class PassageFiles(IndexFiles):
    """The files of the vector store."""

    what = "passages"
    head = "rows"

    def _unchanging(self) -> Iterable[str]:
        yield FORMAT_FILE
        yield from _files_below(f"{self.folder}/rows", "rows")

    def _state(self) -> dict[str, Any]:
        return {}

    def _referenced(self, listed: FileList) -> Iterable[str]:
        return listed.files

    def _wrong_state(self, listed: FileList) -> Iterator[str]:
        last: dict[str, int] = {}
        for name in listed.files:
            log, _, file = name.rpartition("/")
            if log.startswith(_LOG):
                last[log] = max(last.get(log, 0), int(file[:_DIGITS]))
        for log, number in last.items():
            if not _is_possible(self.folder / log, number):
                yield f"{log}/{_COUNTER} does not fit the commits beside it"

    def _stamp(self) -> tuple[int, int, int] | None:
        return None  # nothing is ever replaced but the counters, which are judged by their range


def _files_below(folder: str, path: str) -> Iterator[str]:
    """The paths of all files that never change.

    Hidden ones are none of Deep Lake's: file managers and NFS make and delete them as they like.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{path}/{entry.name}"
            if entry.is_dir():
                yield from _files_below(entry.path, name)
            elif not entry.name.startswith(".") and not entry.name.endswith((_COUNTER, ".lock")):
                yield name


def _is_possible(log: Path, listed: int) -> bool:
    """Whether the counter of a log, whose last listed commit has that number, can be right."""
    try:
        counter = (log / _COUNTER).read_bytes()
    except OSError:
        return False
    upcoming = int.from_bytes(counter, "little")
    if len(counter) != 8 or upcoming <= listed:
        return False
    if upcoming == listed + 1:
        return True
    last = max((int(file.name[:_DIGITS]) for file in log.glob("[0-9]*")), default=0)
    return upcoming <= last + 1 + _MOST_UNUSED
