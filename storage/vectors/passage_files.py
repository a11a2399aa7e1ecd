"""The files of a Deep Lake dataset of passages.

Columns, metadata, and commits are written once and never deleted. The only mutable file is each
log's counter, `next_base`: 8 bytes with the number of the next commit.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from storage.index_files import FileList, IndexFiles

FORMAT_FILE = "format.json"
_LOG = "rows/_deeplake_log"
_COUNTER = "next_base"
_DIGITS = 10
_MOST_UNUSED = 16
"""The maximum number of reserved but unused numbers; a killed writer leaves at most one."""


class PassageFiles(IndexFiles):
    """The files of the vector store."""

    what = "passages"
    head = "rows"

    def _immutable_files(self) -> Iterable[str]:
        yield FORMAT_FILE
        yield from _files_below(f"{self.folder}/rows", "rows")

    def _state(self) -> dict[str, Any]:
        return {}

    def _references(self, listed: FileList) -> Iterable[str]:
        return listed.files

    def _state_problems(self, listed: FileList) -> Iterator[str]:
        last: dict[str, int] = {}
        for name in listed.files:
            log, _, file = name.rpartition("/")
            if log.startswith(_LOG):
                last[log] = max(last.get(log, 0), int(file[:_DIGITS]))
        for log, number in last.items():
            if not _is_possible(self.folder / log, number):
                yield f"{log}/{_COUNTER} does not match the commits next to it"

    def _require_readable(self) -> None:
        from storage.vectors.deep_lake import require_readable  # rarely needed

        require_readable(self.folder, self.folder / self.head)

    def _stamp(self) -> tuple[int, int, int] | None:
        return None  # only counters are ever replaced, and their range is checked


def _files_below(folder: str, path: str) -> Iterator[str]:
    """The paths of all immutable files, without hidden files of file managers and NFS."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{path}/{entry.name}"
            if entry.is_dir():
                yield from _files_below(entry.path, name)
            elif not entry.name.startswith(".") and not entry.name.endswith((_COUNTER, ".lock")):
                yield name


def _is_possible(log: Path, listed: int) -> bool:
    """Whether a log's counter is plausible, given the number of its last listed commit."""
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
