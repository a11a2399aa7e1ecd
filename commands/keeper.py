"""Keeps a worker running, and pages beside it, or other processes, each one of its own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import typer

LEFT = 75
"""The exit code of a worker that left an import which didn't stop by itself."""

_ROOT = Path(__file__).parents[1]
Module = Sequence[str]
"""A module with its arguments."""

_WORKER = ("cli", "worker", "--supervised")
_POLL_S = 0.2
_END_S = 8.0
_LIVES_S = 30.0
_LONGEST_DELAY_S = 60.0


def told_to_end() -> threading.Event:
    """Is set when this process is told to end; what it is at then is interrupted, as by Ctrl-C.

    Both, because Python forgets an interruption that comes amid loading a module.
    """
    told = threading.Event()

    def end(_number: int, _frame: object) -> None:
        told.set()
        raise KeyboardInterrupt

    _on_signals(end)
    return told


def keep(
    told: threading.Event,
    data_dir: Path,
    pages: Module = (),
    kept: Sequence[Module] = (_WORKER,),
) -> int | None:
    """Keep a worker running, and the pages, until these end or this process is told to.

    Args:
        told: Of `told_to_end`; from now on the children are ended in order first.
        data_dir: Of all of them; may be relative.
        pages: They end with these; without any it is the others alone.
        kept: What is started again when it ends.

    Returns:
        The exit code of the pages; None where this process was told to end.
    """
    _on_signals(lambda _number, _frame: told.set())
    # They run in the program's own folder, from where a relative path leads elsewhere.
    environment = os.environ | {"FOOTNOTE_DATA_DIR": str(data_dir.resolve())}
    page = _Child(pages, environment) if pages else None
    keepers = [_Keeper(module, environment) for module in kept]
    try:
        while not (page and page.has_ended) and not told.wait(_POLL_S):
            for keeper in keepers:
                keeper.look()
    finally:
        _end([*(keeper.child for keeper in keepers), *([page] if page else [])])
    return None if told.is_set() or page is None else page.process.returncode


def _on_signals(handler: Callable[[int, object], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


class _Child:
    """A process that ends with this one, however this one ends."""

    def __init__(self, module: Module, environment: Mapping[str, str]) -> None:
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
    def has_ended(self) -> bool:
        return self.process.poll() is not None


class _Keeper:
    """Starts a process again when it ends; one that dies soon, ever more slowly."""

    def __init__(self, module: Module, environment: Mapping[str, str]) -> None:
        self._module = module
        self._environment = environment
        self._delay = 0.0
        self._again_at: float | None = None
        self.child = _Child(module, environment)

    def look(self) -> None:
        """Start it again where it has ended, and its time has come."""
        now = time.monotonic()
        if not self.child.has_ended:
            return
        if self._again_at is None:
            self._delay = self._next_delay(now)
            self._again_at = now + self._delay
        if now >= self._again_at:
            self._again_at = None
            self.child = _Child(self._module, self._environment)

    def _next_delay(self, now: float) -> float:
        if self.child.process.returncode == LEFT:
            return 0.0
        typer.echo(f"Footnote: its {self._module[1]} has ended and is started again.", err=True)
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
