"""Programs of other people, run beside this process: bounded in time and output, alone in a folder.

What they start ends with them, and they end with this process, however it ends: by
`loaders/program_guard.py`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from errors import UnreadableNowError

_GUARD = Path(__file__).with_name("program_guard.py")
_LARGEST = 512 * 2**20  # bytes of any file that a program writes, as an archive may unpack to
_SAID = "said.txt"
_SAID_BYTES = 4000
_KEPT = ("PATH", "TESSDATA_PREFIX", "LD_LIBRARY_PATH")
"""What a program sees of the environment: none of our keys."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: its exit code, the end of what it said, and the file it was to make.

    `made` is None where there is no such file.
    """

    code: int
    said: str
    made: bytes | None


class TooSlowError(Exception):
    """A program took longer than it may, and was killed."""


def is_installed(name: str) -> bool:
    """Whether this process would find the program."""
    return shutil.which(name) is not None


def run_program(
    command: Callable[[Path], Sequence[str]],
    given: Mapping[str, bytes],
    made: str = "",
    *,
    timeout_s: float,
) -> Ran:
    """Run a program in an empty folder of its own, which is removed afterwards.

    Args:
        command: What to run, told the folder, which is also where it runs.
        given: Files to put there first, by name.
        made: The file to bring back, by name.
        timeout_s: After so long it is killed.

    Raises:
        TooSlowError: It was killed.
        UnreadableNowError: It could not be run: no room on the disk, no such program any more.
    """
    try:
        with TemporaryDirectory(prefix="footnote-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for file, data in given.items():
                (folder / file).write_bytes(data)
            code = _code(folder, command(folder), timeout_s)
            return Ran(code, _said(folder), _bytes(folder / made) if made else None)
    except OSError as error:
        why = error.strerror or str(error)
        raise UnreadableNowError(f"a program that reads it could not be run ({why})") from error


def _code(folder: Path, command: Sequence[str], timeout_s: float) -> int:
    guarded = [sys.executable, "-I", "-S", str(_GUARD), str(folder), str(_LARGEST), *command]
    with (
        (folder / _SAID).open("wb") as said,
        # Leaving closes the pipe: whatever ends the waiting, the guard kills what still runs.
        subprocess.Popen(  # noqa: S603  # our own guard, and a program found by name
            guarded,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            env=_environment(folder),
            start_new_session=True,
        ) as guard,
    ):
        try:
            return guard.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TooSlowError(f"it took longer than {timeout_s:g} s") from error


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
    return {**kept, **own, "OMP_THREAD_LIMIT": "1"}  # Tesseract's threads are slower than one


def _said(folder: Path) -> str:
    return (folder / _SAID).read_bytes()[-_SAID_BYTES:].decode("utf-8", "replace")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
