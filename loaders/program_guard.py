"""Runs a program and kills it when the calling process ends.

    python program_guard.py FOLDER LARGEST COMMAND ...

The standard input is a pipe that the calling process holds open. When the pipe closes, because the
caller gives up or dies, the guard kills the program with all of its children and removes its
working folder. It runs as a script and imports nothing from Footnote.
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
    """Run the command in FOLDER, limit its files to LARGEST bytes, and return its exit code.

    The exit code is between 0 and 255.
    """
    folder, largest, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), int(largest)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    program = subprocess.Popen(  # noqa: S603  # the caller chose it
        command, stdin=subprocess.DEVNULL, cwd=folder, start_new_session=True
    )
    alone = threading.Event()
    watch = threading.Thread(target=_end_with_pipe, args=(program.pid, folder, alone), daemon=True)
    watch.start()
    code = program.wait()
    if alone.is_set():
        watch.join()  # removes the folder and ends this process
    _kill(program.pid)  # its children may still be running
    return code if code >= 0 else 128 - code


def _end_with_pipe(group: int, folder: str, alone: threading.Event) -> None:
    while os.read(0, 1024):
        pass
    alone.set()
    _kill(group)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # no process left
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
