"""Workarounds that depend on deeplake's internals: loading it offline, and its files on disk.

Loading: only this module imports deeplake, and it prevents deeplake from sending telemetry.

Damage: a full disk leaves files of 0 bytes in a dataset, and reading such a column causes a
segmentation fault. A killed writer also leaves empty files, but no row refers to them. A dataset
without its list of checksums may contain anything. Only reading it shows whether it is intact, so
a separate process reads it first.

Commit log: a commit reserves the next number and then writes the log file with that number. If a
writer dies in between, the file is missing, and every later commit that deletes rows waits two
seconds for it. An empty file with that number means that nothing was committed.
"""

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from domain.logs import get_logger
from domain.messages import _
from storage.disk import unusable
from storage.index_files import CHECKSUMS

logger = get_logger("storage")

_DEAD_PORT = "http://127.0.0.1:9"
_PROXIES = tuple(
    name for lower in ("http_proxy", "https_proxy", "all_proxy") for name in (lower, lower.upper())
)
_EXEMPTIONS = ("no_proxy", "NO_PROXY")
_PURGE_DELAY = "MIMALLOC_PURGE_DELAY"
"""Milliseconds until deeplake's allocator returns freed memory; deeplake reads it on import."""
_loading = threading.Lock()


def load() -> Any:
    """The deeplake module, imported on the first call with its crash reporter disabled.

    During that call, the proxy variables of this process point to a closed port.
    """
    with _loading:
        return _import()


@cache
def _import() -> Any:
    with _dead_proxies(), _environment({_PURGE_DELAY: "0"}):
        import deeplake

        _disable_crash_reporter(deeplake)
    return deeplake


@contextmanager
def _dead_proxies() -> Iterator[None]:
    """Point all proxies to a closed port, because importing deeplake sends a report."""
    with _environment(dict.fromkeys(_EXEMPTIONS) | dict.fromkeys(_PROXIES, _DEAD_PORT)):
        yield


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
        if "_deeplake_log" in folders:
            folders.remove("_deeplake_log")
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


_LOG_SUFFIX = "m00000000.jsonl.lz4"
_LOG_DIGITS = 10


def fill_gaps(rows: Path) -> None:
    """Create an empty log file for each reserved but unused number.

    The caller holds the writer lock, because a commit in progress would look like a gap too.
    """
    for log in (rows / "_deeplake_log").iterdir():
        if log.name != "_meta":
            for number in _unused_numbers(log):
                (log / f"{number:0{_LOG_DIGITS}}{_LOG_SUFFIX}").touch()


def _unused_numbers(log: Path) -> set[int]:
    used_numbers = {int(file.name[:_LOG_DIGITS]) for file in log.glob("[0-9]*")}
    upcoming = int.from_bytes((log / "next_base").read_bytes(), "little")
    return set(range(min(used_numbers), upcoming)) - used_numbers
