"""Runs external programs with limits on time and output, each in its own temporary folder.

When this process ends in any way, `loaders/program_guard.py` kills the program and its children.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from domain.child_processes import clean_environment
from domain.errors import TemporarilyUnreadableError
from domain.messages import _

_GUARD = Path(__file__).with_name("program_guard.py")
_LARGEST = 512 * 2**20  # bytes per output file; also the limit for an unpacked archive
_LOG = "said.txt"
_LOG_TAIL_BYTES = 4000


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended: its exit code, the end of its output, and the file it wrote, if any."""

    code: int
    output: str
    output_file: bytes | None


class TooSlowError(Exception):
    """A program exceeded its time limit and was killed."""


def is_installed(name: str) -> bool:
    """Whether the program is on the search path."""
    return shutil.which(name) is not None


def run_program(
    command: Callable[[Path], Sequence[str]],
    input_files: Mapping[str, bytes],
    output_name: str = "",
    *,
    timeout_s: float,
) -> ProgramResult:
    """Run a program in a temporary folder.

    Args:
        command: Returns the command, given the folder, which is also its working directory.
        input_files: Files to write to the folder first, by name.
        output_name: The name of the file to read afterwards.
        timeout_s: The program is killed after this time.

    Raises:
        TooSlowError: The program was killed.
        TemporarilyUnreadableError: The program could not be run, for example because the disk is
            full.
    """
    try:
        with TemporaryDirectory(prefix="footnote-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for file, data in input_files.items():
                (folder / file).write_bytes(data)
            code = _code(folder, command(folder), timeout_s)
            log_tail = (folder / _LOG).read_bytes()[-_LOG_TAIL_BYTES:].decode("utf-8", "replace")
            output = folder / output_name  # the folder itself if there is no name
            return ProgramResult(code, log_tail, output.read_bytes() if output.is_file() else None)
    except OSError as error:
        reason = error.strerror or str(error)
        raise TemporarilyUnreadableError(
            _("a program needed to read it could not be run ({reason})").format(reason=reason)
        ) from error


def _code(folder: Path, command: Sequence[str], timeout_s: float) -> int:
    guarded = [sys.executable, "-I", "-S", str(_GUARD), str(folder), str(_LARGEST), *command]
    with (
        (folder / _LOG).open("wb") as log,
        # Leaving the block closes the pipe; the guard then kills the program.
        subprocess.Popen(  # noqa: S603  # our own guard and a program found by name
            guarded,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=clean_environment(folder),
            start_new_session=True,
        ) as guard,
    ):
        try:
            return guard.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TooSlowError(f"it took longer than {timeout_s:g} s") from error
