"""Share of the time of a warm question and of an import that logging at the default level takes.

The time inside the functions that log is compared with the whole, including that of counting the
lines for metrics, as in a server. It is an upper bound, since it includes reading the clock; runs
with and without logs differ by less than the noise.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.afresh import ROOT
from benchmarks.measure import Report
from bootstrap import Services, build_services
from bootstrap.server_metrics import collect_metrics
from domain import LOCAL_USER
from domain.logs import EventLogger
from services.chat.running_answer import AnswerLog
from services.imports.leased_run import RunLog
from settings import Settings

QUESTION = "How many days of annual leave do new employees get?"
SMALL = {"questions": 2}
BOUND = 10
"""Percent."""
_LOGGING = (
    *((AnswerLog, name) for name in ("__init__", "enter", "end")),
    *((RunLog, name) for name in ("__init__", "note", "end")),
    (EventLogger, "log"),
)


@dataclass
class Clock:
    """Seconds spent inside the timed functions; calls among themselves count once."""

    seconds: float = 0.0
    is_inside: bool = False


def measure(*, cache: str, questions: int = 50) -> Report:
    report = Report(
        "Logging at the default level, and counting for metrics",
        "share of the time of an import of the sample documents with the built-in embedding, and "
        f"of {questions} warm questions without a chat model",
    )
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        shutil.copytree(cache, data / "cache")
        services = build_services(Settings(data_dir=data, _env_file=None))
        collect_metrics("api")
        _add_share(report, "an import of the samples", lambda: _import(services))
        for _ in range(2):
            services.chat.ask(LOCAL_USER, QUESTION)
        _add_share(report, "a warm question", lambda: _ask(services), questions)
    return report


def _add_share(report: Report, name: str, work: Callable[[], object], times: int = 1) -> None:
    with _timed_logging() as clock:
        began = time.perf_counter()
        for _ in range(times):
            work()
        whole = time.perf_counter() - began
    share = 100 * clock.seconds / whole
    report.ratio(f"share of logging in {name}", share, "%")
    report.ratio(f"share of logging in {name} / the bound of {BOUND} %", share / BOUND)
    report.add(f"logging in {name}", 1000 * clock.seconds / times, "ms")
    report.add(name, 1000 * whole / times, "ms")


def _import(services: Services) -> None:
    services.directories.import_directory(LOCAL_USER, ROOT / "samples" / "documents")


def _ask(services: Services) -> None:
    services.chat.ask(LOCAL_USER, QUESTION)


@contextmanager
def _timed_logging() -> Iterator[Clock]:
    clock = Clock()
    with ExitStack() as patches:
        for owner, name in _LOGGING:
            timed = _timed(getattr(owner, name), clock)
            patches.enter_context(patch.object(owner, name, timed))
        yield clock


def _timed(function: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    def timed(*args: Any, **options: Any) -> Any:
        if clock.is_inside:
            return function(*args, **options)
        began, clock.is_inside = time.perf_counter(), True
        try:
            return function(*args, **options)
        finally:
            clock.seconds += time.perf_counter() - began
            clock.is_inside = False

    return timed
