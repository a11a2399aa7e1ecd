"""Footnote as users start it: `cli.py serve` with its pages and its worker."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers import free_port, wait_for_imports

ROOT = Path(__file__).parents[2]
START_S = 300  # the first start prepares the model and imports the sample documents
END_S = 20


@dataclass(frozen=True)
class Program:
    """A running instance."""

    address: str
    process: subprocess.Popen

    def kill_worker(self) -> None:
        """Kill the import process, as the out-of-memory killer would."""
        os.kill(self._worker(), signal.SIGKILL)

    def _worker(self) -> int:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                command = (folder / "cmdline").read_text().split("\0")
            except OSError:  # it has already exited
                continue
            if parent == self.process.pid and "worker" in command:
                return int(folder.name)
        pytest.fail("no worker is running")


@contextmanager
def running(
    environment: Mapping[str, str],
    *,
    waits_for_imports: bool = True,
    footnote: Sequence[str] = (sys.executable, "cli.py"),
    cwd: Path = ROOT,
    port: int = 0,
    output: Path | None = None,
) -> Iterator[Program]:
    """Run the program over the data folder in the environment until the end of the block.

    The block begins when the pages are served and no import is unfinished. A port of 0 is replaced
    with a free one. What the program prints goes to the file `output`, if there is one.
    """
    port = port or free_port()
    command = [*footnote, "serve", "--port", str(port)]
    with output.open("w") if output else nullcontext() as file:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=file)
    try:
        _wait_until_healthy(process, port)
        if waits_for_imports:
            wait_for_imports(Path(environment["FOOTNOTE_DATA_DIR"]), START_S)
        yield Program(f"http://localhost:{port}", process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            process.kill()  # its children exit with it
            process.wait(timeout=END_S)


def _wait_until_healthy(process: subprocess.Popen, port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the program ended with code {process.returncode}"
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"the program did not answer within {START_S} s")
