"""Runs a program that ends with whoever wanted it.

    python program_guard.py FOLDER LARGEST COMMAND ...

Its standard input is a pipe that the asking process holds open. When the pipe closes, because that
process has had enough or is dead in whatever way, the program is killed with all that it started,
and the folder it worked in is removed. It is run alone, and imports nothing of Footnote.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress


def main() -> int:
    """Run the command in FOLDER, none of its files above LARGEST bytes; its exit code, 0 to 255."""
    folder, largest, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), int(largest)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    program = subprocess.Popen(  # noqa: S603  # the one who asks has chosen it
        command, stdin=subprocess.DEVNULL, cwd=folder, start_new_session=True
    )
    alone = threading.Event()
    watch = threading.Thread(target=_end_with_pipe, args=(program.pid, folder, alone), daemon=True)
    watch.start()
    code = program.wait()
    if alone.is_set():
        watch.join()  # it removes the folder, and ends this process
    _kill(program.pid)  # what it may have left running
    return code if code >= 0 else 128 - code


def _end_with_pipe(group: int, folder: str, alone: threading.Event) -> None:
    while os.read(0, 1024):
        pass
    alone.set()
    _kill(group)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, all of it
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
