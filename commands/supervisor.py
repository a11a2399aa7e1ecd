"""Supervises child processes: starts them, restarts those that end, and ends them in order."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from domain.logs import get_logger

_log = get_logger("processes")
ABANDONED_IMPORT = 75
"""The exit code of a worker that abandoned an import because it did not stop in time."""

_CHILD = Path(__file__).with_name("child.py")
Module = Sequence[str]
"""A module with its arguments."""

WORKER = ("cli", "worker", "--supervised")
"""The module of a worker process."""

_POLL_S = 0.2
_END_S = 8.0
_STABLE_S = 30.0
_LONGEST_DELAY_S = 60.0


def termination_request() -> threading.Event:
    """An event that is set on SIGINT or SIGTERM, which also raise KeyboardInterrupt.

    Both are needed, because Python loses an interruption that arrives while it imports a module.
    """
    requested = threading.Event()

    def end(_number: int, _frame: object) -> None:
        requested.set()
        raise KeyboardInterrupt

    _on_signals(end)
    return requested


def supervise(
    termination: threading.Event,
    data_dir: Path,
    pages: Module = (),
    workers: Sequence[Module] = (WORKER,),
) -> int | None:
    """Keep the workers and the pages running until the pages end or termination is requested.

    Args:
        termination: From `termination_request`. From now on, signals only set it, so that the
            children can be ended in order.
        data_dir: The data folder of all children; may be relative.
        pages: The pages, which end all workers when they end. If empty, only workers run.
        workers: The workers, which are restarted whenever they end.

    Returns:
        The exit code of the pages; None if termination was requested.
    """
    _on_signals(lambda _number, _frame: termination.set())
    environment = os.environ | {"FOOTNOTE_DATA_DIR": str(data_dir.resolve())}
    page = _Child(pages, environment) if pages else None
    restarted = [_Child(module, environment) for module in workers]
    try:
        while not (page and page.has_ended) and not termination.wait(_POLL_S):
            for one in restarted:
                one.restart_if_due()
    finally:
        _end([*restarted, *([page] if page else [])])
    return None if termination.is_set() or page is None else page.process.returncode


def _on_signals(handler: Callable[[int, object], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


class _Child:
    """A child process that ends when this process ends, even if this process is killed."""

    def __init__(self, module: Module, environment: Mapping[str, str]) -> None:
        self._module = module
        self._environment = environment
        self._delay = 0.0
        self._restart_at: float | None = None
        self._start()

    def _start(self) -> None:
        self._began = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603  # our own command
            [sys.executable, str(_CHILD), *self._module],
            env=self._environment,
            stdin=subprocess.PIPE,
            # Ctrl-C goes to this process only, which then ends its children in order.
            start_new_session=True,
        )

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def restart_if_due(self) -> None:
        """Restart it once it has ended, with an increasing delay if it repeatedly ends early."""
        now = time.monotonic()
        if not self.has_ended:
            return
        if self._restart_at is None:
            self._delay = self._next_delay(now)
            self._restart_at = now + self._delay
        if now >= self._restart_at:
            self._restart_at = None
            self._start()

    def _next_delay(self, now: float) -> float:
        if self.process.returncode == ABANDONED_IMPORT:
            return 0.0
        lived = now - self._began
        _log.warning(
            f"the {self._module[1]} process ended and is restarted",
            exit_code=self.process.returncode,
            lived_s=round(lived, 1),
        )
        return 1.0 if lived > _STABLE_S else min(max(1.0, self._delay * 2), _LONGEST_DELAY_S)


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
