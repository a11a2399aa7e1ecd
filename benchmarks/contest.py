"""Runs contenders on the same questions, each in its own processes, and compares them.

A contest is a module with `CONTENDERS` (`Contender` by name), `inputs(place)` (from which an
index is built), and `questions(place)`; both read a folder that the benchmark has filled.
"""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.afresh import call_afresh
from benchmarks.growth import add_growth
from benchmarks.measure import Report, Times, milliseconds_of, resident_mib

Searches = dict[str, Callable[[Any], list[int]]]
"""By kind ("ids", "texts", "filtered"): from a question to the numbers of passages, best first."""

ROUNDS = 2
LEAST = 3
"""So many questions are asked however long they take."""


@dataclass(frozen=True)
class Contender:
    """How an index is built and opened.

    `open` receives the folders of the inputs and of the index. Without `build` the index is in
    memory only, and `open` builds it.
    """

    open: Callable[[Path, Path], Searches]
    build: Callable[[Any, Path], None] | None = None
    package: str = "numpy"
    """What it needs; where that is not installed, it takes no part."""
    in_background: bool = False
    """Whether its first answer begins work in threads; the timed questions come after that."""


@dataclass(frozen=True)
class Answers:
    """Times of the questions, and the passages found for each."""

    milliseconds: list[float]
    found: list[list[int]]

    @property
    def times(self) -> Times:
        """Percentiles of the times."""
        return Times(self.milliseconds)


@dataclass(frozen=True)
class Outcome:
    """The results of a contender."""

    build_s: float
    """Making the index; for one in memory that is opening it."""
    open_s: float
    """Opening it in a new process, the first answer included."""
    ready_s: float
    """After the first answer, until what it began in the background was done."""
    resident_mib: float
    """The whole process after all its answers."""
    answers: Mapping[str, Answers]
    """By kind of search."""


def contest_by_size(
    part: str,
    report: Report,
    sizes: Sequence[int],
    prepare: Callable[[Path, int], Any],
    *,
    apart: bool,
    budget_s: float,
) -> Iterator[tuple[int, Any, dict[str, Outcome]]]:
    """For each size, the result of `prepare` and the contenders' outcomes; then their growth.

    Args:
        part: As in `contest`.
        report: Receives the notes, and finally the table of growth.
        sizes: Numbers of passages, ascending.
        prepare: Fills a folder with inputs of that size and questions.
        apart: As in `contest`.
        budget_s: As in `contest`.
    """
    p50 = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            prepared = prepare(Path(folder), size)
            outcomes, notes = contest(part, Path(folder), size=size, apart=apart, budget_s=budget_s)
        report.note(notes)
        p50[size] = {name: each.answers["ids"].times.p50 for name, each in outcomes.items()}
        yield size, prepared, outcomes
    add_growth(report, p50)


def contest(
    part: str, place: Path, *, size: int, apart: bool, budget_s: float
) -> tuple[dict[str, Outcome], list[str]]:
    """Outcomes of the part's contenders, and notes on those that did not run.

    Args:
        part: The module, such as "benchmarks.vector_stores".
        place: The folder with its inputs and questions.
        size: Number of passages in the inputs.
        apart: Run each contender in a subprocess; otherwise memory is not measured separately.
        budget_s: Time limit of a contender for each kind of search; slow contenders answer
            fewer questions.
    """
    call: Callable[..., Any] = call_afresh if apart else call_here
    outcomes, notes = {}, []
    for name, contender in import_module(part).CONTENDERS.items():
        if find_spec(contender.package) is None:
            notes.append(f"{name} took no part: {contender.package} is not installed")
        else:
            started = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                what = {"part": part, "name": name, "place": str(place), "folder": folder}
                built = call("benchmarks.contest:build", one_thread=True, **what, apart=apart)
                shown = call(
                    "benchmarks.contest:ask",
                    one_thread=True,
                    **what,
                    budget_s=budget_s,
                    apart=apart,
                )
            outcomes[name] = as_outcome(built, shown)
            print(
                f"\n  {name}, {size:,}: {time.monotonic() - started:.0f} s",
                end=" ",
                file=sys.stderr,
            )
    return outcomes, notes


def call_here(function: str, *, one_thread: bool, **arguments: Any) -> Any:  # noqa: ARG001  # as `call_afresh`
    module, name = function.split(":")
    return getattr(import_module(module), name)(**arguments)


def as_outcome(built: float | None, shown: dict[str, Any]) -> Outcome:
    answers = {kind: Answers(**each) for kind, each in shown["answers"].items()}
    opening = shown["open_s"]
    making = opening if built is None else built
    return Outcome(making, opening, shown["ready_s"], shown["resident_mib"], answers)


def build(part: str, name: str, place: str, folder: str, apart: bool) -> float | None:
    """Seconds to build the index; None if that is part of opening it."""
    module = prepared(part, apart)
    contender: Contender = module.CONTENDERS[name]
    if contender.build is None:
        return None
    inputs = module.inputs(Path(place))
    started = time.perf_counter()
    contender.build(inputs, Path(folder))
    return time.perf_counter() - started


def ask(
    part: str, name: str, place: str, folder: str, budget_s: float, apart: bool
) -> dict[str, Any]:
    """The answers of each kind, and the time to open the index, as data."""
    module = prepared(part, apart)
    contender: Contender = module.CONTENDERS[name]
    questions = module.questions(Path(place))
    others = set(threading.enumerate())
    started = time.perf_counter()
    searches = contender.open(Path(place), Path(folder))
    searches["ids"](questions[0])
    seconds_to_open = time.perf_counter() - started
    if contender.in_background:
        wait_for(set(threading.enumerate()) - others)
    ready = time.perf_counter() - started - seconds_to_open
    answers = {kind: answers_of(search, questions, budget_s) for kind, search in searches.items()}
    memory = resident_mib()
    return {"open_s": seconds_to_open, "ready_s": ready, "resident_mib": memory, "answers": answers}


def wait_for(threads: Iterable[threading.Thread]) -> None:
    """Wait for threads to finish, except daemons."""
    for thread in threads:
        if not thread.daemon:
            thread.join()


def prepared(part: str, apart: bool) -> Any:
    """The part's module, with this process pinned to one core: some libraries ignore variables."""
    if apart and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return import_module(part)


def answers_of(
    search: Callable[[Any], list[int]], questions: Sequence[Any], budget_s: float
) -> dict[str, Any]:
    """Times and results as data: every question twice, or as many as the budget allows."""
    search(questions[0])
    end = time.perf_counter() + budget_s
    times: list[float] = []
    found: list[list[int]] = []
    for number in range(ROUNDS * len(questions)):
        if number >= LEAST and time.perf_counter() > end:
            break
        question = questions[number % len(questions)]
        times.append(milliseconds_of(lambda q: found.append(search(q)), question))
    return {"milliseconds": times, "found": found[: len(questions)]}


def recall(found: Sequence[Sequence[int]], expected: Sequence[Sequence[int]]) -> float:
    """The mean share of relevant passages that were found, for questions that have any."""
    pairs = [(have, want) for have, want in zip(found, expected, strict=False) if len(want)]
    shares = [len(set(have) & set(want)) / len(want) for have, want in pairs]
    return sum(shares) / len(shares) if shares else 0.0
