"""Reads the files of a store in a child process first, because they may crash the process.

Checksums show that files have changed since they were written, not that they can be read: files of
unknown origin come with checksums of their own. Libraries in compiled code crash, hang, or take all
memory when they read such files. The child runs `storage/index_reader_main.py`, and does what a
search does.
"""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from domain.child_processes import exit_reason, python_environment
from domain.errors import StorageError
from domain.messages import _
from storage.safe_writes import replace_text

READABLE = "readable"
"""The name of the file with the states of a store that can be read; it is not part of backups."""

_MAIN = Path(__file__).with_name("index_reader_main.py")
_MIB = 2**20
_MOST_STATES = 8
BASE_S = 20
"""Processor time in seconds for the smallest store, which takes one; 100,000 passages take five."""
_FROM_OUTSIDE = (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGKILL", signal.SIGTERM))
"""Signals that the files can't cause: the child was stopped, or the machine had no memory left."""
ELAPSED_PER_PROCESSOR_S = 3
"""Time limit for each second of processor time, for busy machines."""
NO_MEMORY = 3
"""The exit code of the child if it reached its limit."""


class ReadableStates:
    """The states in which a store is known to be readable, as `IndexFiles` describes them.

    A process that deletes or overwrites an entry of another one only causes another reading.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / READABLE
        self._known: set[str] = set()

    def __contains__(self, state: str) -> bool:
        if state not in self._known:
            self._known.update(self._stored())
        return state in self._known

    def add(self, state: str) -> None:
        """Remember the state; for this process only if the file can't be written."""
        self._known.add(state)
        with suppress(OSError):
            states = [one for one in self._stored() if one != state]
            replace_text(self._file, "\n".join([*states, state][-_MOST_STATES:]))

    def _stored(self) -> list[str]:
        try:
            return self._file.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return []


def reading_problem(store: str, folder: Path) -> str:
    """Why the store can't be read safely; "" if it can.

    Args:
        store: `what` of the store.
        folder: The folder of the store.

    Raises:
        StorageError: The child can't be started, or was stopped with this program.
    """
    size_mib = math.ceil(sum(_sizes(folder)) / _MIB)
    processor_s, memory_mib = BASE_S + size_mib // 2, 2048 + 4 * size_mib
    elapsed_s = ELAPSED_PER_PROCESSOR_S * processor_s
    arguments = [store, str(folder.absolute()), str(processor_s), str(memory_mib * _MIB)]
    try:
        code = _exit_code(arguments, elapsed_s)
    except (OSError, subprocess.SubprocessError) as error:
        raise _not_checked(folder, error) from error
    if code is not None and -code in _FROM_OUTSIDE:
        raise _not_checked(folder, exit_reason(code))
    match code:
        case 0:
            return ""
        case None:
            return _("reading it took more than {seconds} s").format(seconds=f"{elapsed_s:g}")
        case _ if code == NO_MEMORY:
            return _("reading it took more than {memory} MiB of memory").format(memory=memory_mib)
    return _("the process that read it failed ({reason})").format(reason=exit_reason(code))


def _sizes(folder: Path) -> Iterator[int]:
    for path, _folders, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # deleted meanwhile
                yield os.stat(os.path.join(path, name)).st_size


def _exit_code(arguments: list[str], timeout_s: float) -> int | None:
    """The exit code of the child; None if it was killed because it took too long."""
    with TemporaryDirectory(prefix="footnote-", ignore_cleanup_errors=True) as name:
        command = [sys.executable, "-P", "-W", "ignore", str(_MAIN), *arguments]
        try:
            return subprocess.run(  # noqa: S603  # our own interpreter and program
                command,
                cwd=name,
                env=python_environment(Path(name)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C goes to this process only
                timeout=timeout_s,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return None


def _not_checked(folder: Path, reason: object) -> StorageError:
    return StorageError(
        _(
            "The process that checks {folder} could not be run ({reason}): check the free memory"
            " and disk space, and try again"
        ).format(folder=folder, reason=reason)
    )
