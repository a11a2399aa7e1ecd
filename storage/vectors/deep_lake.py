"""Workarounds that depend on deeplake's internals: loading it offline, and its files on disk.

Loading: only this module imports deeplake, and it prevents deeplake from sending telemetry.

Damage: a full disk leaves files of 0 bytes in a dataset, and reading such a column causes a
segmentation fault. A killed writer also leaves empty files, but no row refers to them. A dataset
without its list of checksums may contain anything. Only reading it shows whether it is intact, so
a separate process reads it first.

Commit log: a commit reserves the next number and then writes the log file with that number. If a
writer dies in between, the file is missing, and every later commit that deletes rows waits two
seconds for it. An empty file with that number means that nothing was committed.

Files: columns, metadata, and commits are written once and never deleted. The only mutable file is
each log's counter, `next_base`: 8 bytes with the number of the next commit.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from domain.logs import get_logger
from domain.messages import _
from storage.index_files import CHECKSUMS, FileList, IndexFiles
from storage.safe_writes import unusable

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


READING_TIMEOUT_S = 120
_READ_EVERYTHING = """
import sys
from storage.vectors.deep_lake import load
dataset = load().open_read_only(sys.argv[1])
for column in ("id", "text", "embedding", "metadata"):
    dataset[column][:]
"""


def require_readable(folder: Path, rows: Path) -> None:
    """Make sure that reading the dataset in `rows` does not crash this process.

    Raises:
        DamagedIndexError: Reading it would crash.
    """
    sizes = list(_sizes(rows))
    empty = sizes.count(0)
    is_unlisted = bool(sizes) and not (folder / CHECKSUMS).exists()
    if not (empty or is_unlisted) or _survives_reading(rows):
        return
    reason = _("checksums is missing, and the rows can't be read completely")
    if empty:
        reason = _("{empty} of its files are empty, probably because the disk was full").format(
            empty=empty
        )
    raise unusable(_("passages"), folder, reason)


def _sizes(rows: Path) -> Iterator[int]:
    """The sizes of all files except the log, whose lock files are always empty."""
    for folder, folders, names in os.walk(rows):
        if _LOG in folders:
            folders.remove(_LOG)
        for name in names:
            yield os.path.getsize(os.path.join(folder, name))


def _survives_reading(rows: Path) -> bool:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-P", "-c", _READ_EVERYTHING, str(rows.absolute())]
    try:
        completed = subprocess.run(  # noqa: S603 - our own interpreter and program
            command, env=environment, capture_output=True, timeout=READING_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return completed.returncode == 0


_LOG = "_deeplake_log"
_LOG_SUFFIX = "m00000000.jsonl.lz4"
_COUNTER = "next_base"
_DIGITS = 10


def fill_gaps(rows: Path) -> None:
    """Create an empty log file for each reserved but unused number.

    The caller holds the writer lock, because a commit in progress would look like a gap too.
    """
    for log in (rows / _LOG).iterdir():
        if log.name != "_meta":
            for number in _unused_numbers(log):
                (log / f"{number:0{_DIGITS}}{_LOG_SUFFIX}").touch()


def _unused_numbers(log: Path) -> set[int]:
    used_numbers = {int(file.name[:_DIGITS]) for file in log.glob("[0-9]*")}
    upcoming = int.from_bytes((log / _COUNTER).read_bytes(), "little")
    return set(range(min(used_numbers), upcoming)) - used_numbers


FORMAT_FILE = "format.json"
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
            # Earlier versions listed the counters that killed writers had left half replaced.
            if log.startswith(f"rows/{_LOG}") and not file.startswith(_COUNTER):
                last[log] = max(last.get(log, 0), int(file[:_DIGITS]))
        for log, number in last.items():
            if not _is_possible(self.folder / log, number):
                yield f"{log}/{_COUNTER} does not match the commits next to it"

    def _require_readable(self) -> None:
        require_readable(self.folder, self.folder / self.head)

    def _stamp(self) -> tuple[int, int, int] | None:
        return None  # only counters are ever replaced, and their range is checked


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
