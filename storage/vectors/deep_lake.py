"""Workarounds that depend on deeplake's internals: loading it offline, and its files on disk.

Loading: only this module imports deeplake, and it prevents deeplake from sending telemetry.

Damage: a full disk leaves files of 0 bytes in a dataset, and reading such a column causes a
segmentation fault. A killed writer also leaves empty files, but no row refers to them.

Commit log: a commit reserves the next number and then writes the log file with that number. If a
writer dies in between, the file is missing, and every later commit that deletes rows waits two
seconds for it. An empty file with that number means that nothing was committed.

Files: columns, metadata, and commits are written once and never deleted. The only mutable file is
each log's counter, `next_base`: 8 bytes with the number of the next commit.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from domain.logs import get_logger
from storage.index_files import FileList, IndexFiles

logger = get_logger("storage")

_DEAD_PORT = "http://127.0.0.1:9"
_PROXIES = tuple(
    name for lower in ("http_proxy", "https_proxy", "all_proxy") for name in (lower, lower.upper())
)
_WHILE_LOADING: Mapping[str, str | None] = {
    **dict.fromkeys(_PROXIES, _DEAD_PORT),
    **dict.fromkeys(("no_proxy", "NO_PROXY")),
    "MIMALLOC_PURGE_DELAY": "0",
}
"""Proxies at a closed port, because importing deeplake sends a report, and the milliseconds until
its allocator returns freed memory."""
_THREADS = 2
"""Threads that read and write files. With the default of 16, nothing is faster, and memory grows
for a thousand commits, because each thread has its own in the allocator (docs/performance.md)."""
_loading = threading.Lock()


def load() -> Any:
    """The deeplake module, imported on the first call with its crash reporter disabled.

    During that call, the proxy variables of this process point to a closed port.
    """
    with _loading:
        return _import()


@cache
def _import() -> Any:
    with _environment(_WHILE_LOADING):
        import deeplake

        _disable_crash_reporter(deeplake)
    storage: Any = deeplake.storage  # the stub lacks set_concurrency
    storage.set_concurrency(_THREADS)
    return deeplake


@contextmanager
def _environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Temporarily set environment variables, or remove them if the value is None."""
    before = {name: os.environ.pop(name, None) for name in variables}
    os.environ.update({name: value for name, value in variables.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _disable_crash_reporter(deeplake: Any) -> None:
    """Close the crash reporter in deeplake's extension module, as no setting disables it."""
    import ctypes  # not needed before deeplake is loaded

    try:
        code = ctypes.CDLL(deeplake._deeplake.__file__).sentry_close()
    except (OSError, AttributeError) as error:
        code = error
    if code != 0:
        logger.warning("Deep Lake's crash reporting could not be switched off: %s", code)


_LOG = "_deeplake_log"
_LOG_SUFFIX = "m00000000.jsonl.lz4"
_COUNTER = "next_base"
_DIGITS = 10
_MOST_GAPS = 1000


def fill_gaps(rows: Path) -> None:
    """Create an empty log file for each reserved but unused number.

    The caller holds the writer lock, because a commit in progress would look like a gap too.

    Raises:
        ValueError: There are too many, so the counter or the name of a file is damaged.
        OSError: The folder can't be read or written.
    """
    for log in (rows / _LOG).iterdir():
        if log.name != "_meta":
            for number in _unused_numbers(log):
                (log / f"{number:0{_DIGITS}}{_LOG_SUFFIX}").touch()


def _unused_numbers(log: Path) -> set[int]:
    used_numbers = {int(file.name[:_DIGITS]) for file in log.glob("[0-9]*")}
    upcoming = int.from_bytes((log / _COUNTER).read_bytes(), "little")
    if upcoming - min(used_numbers) - len(used_numbers) > _MOST_GAPS:
        raise ValueError(f"{log}/{_COUNTER} does not match the commits next to it")
    return set(range(min(used_numbers), upcoming)) - used_numbers


FORMAT_FILE = "format.json"
_NO_NUMBER = -2
_MOST_UNUSED = 16
"""The maximum number of reserved but unused numbers; a killed writer leaves at most one."""


class PassageFiles(IndexFiles):
    """The files of the vector store."""

    what = "passages"
    head = "rows"
    may_be_empty = f"rows/{_LOG}/"

    def commits(self) -> int:
        """The number of commits since the store was created; 0 if that is unknown."""
        return max((number - 1 for _, number in _counters(self.folder) if number > 0), default=0)

    def _immutable_files(self) -> Iterable[str]:
        yield FORMAT_FILE
        yield from _files_below(f"{self.folder}/rows", "rows")

    def _state(self) -> dict[str, Any]:
        return {}

    def _references(self, listed: FileList) -> Iterable[str]:
        return listed.files

    def _state_problems(self, listed: FileList) -> Iterator[str]:
        for log, number in _last_commits(listed).items():
            if not _is_possible(self.folder / log, number):
                yield f"{log}/{_COUNTER} does not match the commits next to it"

    def _unlisted(self, listed: FileList) -> str:
        """The numbers of the next commits of the logs in which these do not follow the list."""
        last = _last_commits(listed)
        upcoming = {f"rows/{_LOG}/{log}": number for log, number in _counters(self.folder)}
        return " ".join(
            f"{log}={number}"
            for log, number in sorted(upcoming.items())
            if number != last.get(log, _NO_NUMBER) + 1
        )

    def _stamp(self) -> tuple[int, int, int] | None:
        return None  # only counters are ever replaced, and their range is checked


def _last_commits(listed: FileList) -> dict[str, int]:
    """The number of the last listed commit by log."""
    last: dict[str, int] = {}
    for name in listed.files:
        log, _, file = name.rpartition("/")
        # Earlier versions listed the counters that killed writers had left half replaced.
        if log.startswith(f"rows/{_LOG}") and not file.startswith(_COUNTER):
            last[log] = max(last.get(log, 0), int(file[:_DIGITS]))
    return last


def _counters(folder: Path) -> Iterator[tuple[str, int]]:
    """The counter of each log; `_NO_NUMBER` if it can't be read."""
    try:
        logs = os.listdir(folder / "rows" / _LOG)
    except OSError:
        return
    for log in logs:
        try:
            counter = (folder / "rows" / _LOG / log / _COUNTER).read_bytes()
            yield log, int.from_bytes(counter, "little")
        except OSError:
            yield log, _NO_NUMBER


def _files_below(folder: str, path: str) -> Iterator[str]:
    """The paths of all immutable files, without hidden files of file managers and NFS.

    A writer that is killed while it replaces a counter leaves `next_base.tmp.*` next to it.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{path}/{entry.name}"
            if entry.is_dir():
                yield from _files_below(entry.path, name)
            elif not entry.name.startswith((".", _COUNTER)) and not entry.name.endswith(".lock"):
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
