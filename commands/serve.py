"""`cli.py serve`: the pages and a worker, each in a process of its own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from commands.running import INTERRUPTED, DataDir, open_services, progress_bar
from commands.worker import LEFT
from domain import LOCAL_USER

_ROOT = Path(__file__).parents[1]
_POLL_S = 0.2
_END_S = 8.0
_LIVES_S = 30.0
_LONGEST_DELAY_S = 60.0


def serve(port: int = 8501, data_dir: DataDir = None) -> None:
    """Serve the pages and do their imports; the very first start imports the sample documents."""
    with open_services(data_dir) as services:
        with progress_bar() as progress:
            report = services.directories.import_samples_once(LOCAL_USER, on_progress=progress)
        if report is not None:
            typer.echo("The sample documents are imported.")
        # The page runs in the program's own folder, from where a relative path leads elsewhere.
        chosen = {"FOOTNOTE_DATA_DIR": str(services.imports.data_dir.resolve())}
    pages = ["streamlit", "run", "app.py", f"--server.port={port}"]
    raise typer.Exit(_serve(pages, ["cli", "worker", "--supervised"], os.environ | chosen))


def _serve(pages: Sequence[str], worker: Sequence[str], environment: Mapping[str, str]) -> int:
    """Keep both running until the pages end or this process is told to; the exit code."""
    told: list[int] = []
    stop = threading.Event()

    def end(number: int, _frame: object) -> None:
        told.append(number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    page = _Child(pages, environment)
    keeper = _Keeper(worker, environment)
    try:
        while page.code is None and not stop.wait(_POLL_S):
            keeper.look()
    finally:
        _end([page, keeper.child])
    return INTERRUPTED if told else page.code or 0


class _Child:
    """A process that ends with this one, however this one ends."""

    def __init__(self, module: Sequence[str], environment: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "commands.child", *module]
        self.began = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603  # our own command
            command,
            cwd=_ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            # Ctrl-C is for this process, which then ends its children in order.
            start_new_session=True,
        )

    @property
    def code(self) -> int | None:
        """How it ended; None while it lives."""
        return self.process.poll()


class _Keeper:
    """Starts the worker again when it ends; one that dies soon, ever more slowly."""

    def __init__(self, module: Sequence[str], environment: Mapping[str, str]) -> None:
        self._module = module
        self._environment = environment
        self._delay = 0.0
        self._again_at: float | None = None
        self.child = _Child(module, environment)

    def look(self) -> None:
        """Start the worker again where it has ended, and its time has come."""
        now = time.monotonic()
        if self.child.code is None:
            return
        if self._again_at is None:
            self._delay = self._next_delay(now)
            self._again_at = now + self._delay
        if now >= self._again_at:
            self._again_at = None
            self.child = _Child(self._module, self._environment)

    def _next_delay(self, now: float) -> float:
        if self.child.code == LEFT:
            return 0.0
        typer.echo("Footnote: the import worker has ended and is started again.", err=True)
        lived = now - self.child.began
        return 1.0 if lived > _LIVES_S else min(max(1.0, self._delay * 2), _LONGEST_DELAY_S)


def _end(children: Sequence[_Child]) -> None:
    for child in children:
        child.process.terminate()
    deadline = time.monotonic() + _END_S
    for child in children:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()
