"""A soak: people, editors, and visitors repeat what they do, and usage of each process is sampled.

A least-squares fit over the second half of the samples shows how fast the memory that each process
keeps between tasks grows. The first half is the warm-up, in which caches fill and memory settles.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from statistics import median
from typing import Any

import httpx
import numpy as np

from benchmarks.load.documents import Writer
from benchmarks.load.people import Answers, Crowd, dialogs
from benchmarks.load.program import Manager, Program
from benchmarks.load.visitors import Visitors
from benchmarks.measure import Cell, Report
from benchmarks.processes import LOOPS, Sample, Usage, Watch

SAMPLED_S = 10.0
BOUND_MIB_PER_HOUR = 5.0
"""In half an hour, slower growth (2.5 MiB) is indistinguishable from the allocator's noise."""
HANDLES = 2
"""By how much open files and threads may differ: they depend on what runs at the moment."""
LOOP_TOLERANCE = 8
"""By how much event loops may differ. Streamlit gives each browser session one, and keeps a closed
session for two minutes, at most 128 of them. Here, these are about 24, give or take 3; in ten
minutes, 120 are closed."""
ROLES = ("API", "pages", "worker", "supervisor")
PEOPLE, THINK_S, CANCELS = 10, 10.0, 0.2
VISITORS = 3
FOLDER_DOCUMENTS, CHANGED, BOX_DOCUMENTS = 60, 6, 3
EDITOR_PAUSE_S, CLIENT_PAUSE_S = 0.5, 3.0
"""Editors pause less, because memory settles only after hundreds of imports."""
GROUPS = 30
"""Groups of neighboring samples. Only the lowest sample of each counts toward growth: an embedding
takes some 40 MiB while it runs, and then returns it."""
PARTS = 10
"""Equal parts of the time, for which the memory is reported."""
LONG_CHARS = 600
"""The first question is long, so that what only long texts need is loaded in the warm-up: the full
tokenizer of the built-in model takes some 40 MiB once, and 400 characters or less don't need it."""


@dataclass
class Work:
    """What editors and clients did, by name."""

    done: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


def measure_soak(program: Program, minutes: float) -> tuple[Report, bool]:
    """The report, and whether every process stayed flat and nothing failed."""
    watch = Watch(program.pids, min(SAMPLED_S, 2 * minutes))  # at least 30 samples
    began = time.monotonic()
    work, answers, visitors = asyncio.run(_work(program, 60 * minutes))
    watch.end()
    report = Report("Soak", f"{minutes:g} minutes; growth is that of the second half")
    _add_work(report, work, answers, visitors)
    middle = began + 30 * minutes
    growth = {role: growth_of(role, watch.samples, middle) for role in ROLES}
    _add_growth(report, growth)
    _add_curve(report, watch.samples)
    failures = work.failed + answers.failed + visitors.failed
    report.note(f"failed {times} times: {what}" for what, times in failures.items())
    report.add("failures", sum(failures.values()), "")
    return report, all(map(is_flat, growth.values())) and not failures


async def _work(program: Program, seconds: float) -> tuple[Work, Answers, Visitors]:
    stop, work = asyncio.Event(), Work()
    crowd = Crowd(program.api, program.secrets[1 : PEOPLE + 1], THINK_S, CANCELS, stop=stop)
    visitors = Visitors(program.pages, VISITORS, _questions(), stop)
    everyone = asyncio.gather(
        crowd.ask(),
        visitors.visit(),
        _repeat(Editor(program, work).edit, EDITOR_PAUSE_S, stop),
        _repeat(Client(program, work).use, CLIENT_PAUSE_S, stop),
    )
    await asyncio.wait([everyone], timeout=seconds)
    stop.set()
    await everyone
    return work, crowd.answers, visitors


def _questions() -> list[str]:
    questions = [one[0] for one in dialogs()]
    return [" ".join(questions)[:LONG_CHARS], *questions]


async def _repeat(work: Any, pause_s: float, stop: asyncio.Event) -> None:
    for number in count():
        if stop.is_set():
            return
        await asyncio.to_thread(work, number)
        await asyncio.sleep(pause_s)


class Editor:
    """Changes a folder and imports it, and fills, imports, and deletes upload boxes."""

    def __init__(self, program: Program, work: Work) -> None:
        self._manager = Manager(program)
        self._work = work
        folder = program.folder / "edited"
        self._writer = Writer(folder, seed=3)
        self._writer.write(FOLDER_DOCUMENTS)
        self._source_id = self._manager.add_folder(folder)

    def edit(self, number: int) -> None:
        """Change some documents, delete some, restore those deleted before, and import."""
        numbers = [(number * CHANGED + n) % FOLDER_DOCUMENTS for n in range(3 * CHANGED)]
        for one in numbers[: 2 * CHANGED]:
            self._writer.write_one(one)
        for one in numbers[2 * CHANGED :]:
            self._writer.write_one(one).unlink()
        self._manager.wait_for(self._manager.queue_import(self._source_id))
        self._work.done["imports"] += 1
        if number % 2 == 0:
            self._fill_and_delete_box(number)

    def _fill_and_delete_box(self, number: int) -> None:
        files = [
            ("files", (f"{n}.md", f"# Note {n}\n\nNote {n} of round {number}.".encode()))
            for n in range(BOX_DOCUMENTS)
        ]
        manager, params = self._manager, {"box": f"Box {number}"}
        added = manager.call("POST", "/uploads", params=params, files=files)
        manager.wait_for(added["queued"]["id"])
        manager.call("DELETE", f"/sources/{added['source_id']}")
        self._work.done["upload boxes"] += 1


class Client:
    """Searches, exports, lists, and deletes what its own conversations contain."""

    def __init__(self, program: Program, work: Work) -> None:
        headers = {"Authorization": f"Bearer {program.secrets[0]}"}
        self._http = httpx.Client(base_url=program.api, headers=headers, timeout=60)
        self._root = program.api.removesuffix("/api/v1")
        self._work = work
        self._questions = _questions()

    def use(self, number: int) -> None:
        """Use each part of the API once."""
        question = self._questions[number % len(self._questions)]
        self._call("POST", "/search", json={"query": question, "explain": True})
        self._call("POST", "/search/compare", json={"query": question})
        turn = self._call("POST", "/ask", json={"question": question}).json()
        conversation = f"/conversations/{turn['conversation_id']}"
        for export in ("md", "html", "json"):
            self._call("GET", f"{conversation}/export", params={"format": export})
        self._call("PUT", f"/ratings/{turn['id']}", json={"grade": 1})
        self._call("GET", "/conversations", params={"words": question.split()[0]})
        self._call("DELETE", conversation)
        for document in self._call("GET", "/documents").json()["items"][:3]:
            self._call("GET", f"/documents/{document['id']}/text")
        self._call("GET", f"{self._root}/metrics")

    def _call(self, method: str, path: str, **request: Any) -> httpx.Response:
        response = self._http.request(method, path, **request)
        name = f"{method} {path.removeprefix(self._root).split('/')[1]}"
        if response.is_error and not _is_deleted(path, response):
            self._work.failed[f"{name}: {response.text[:150]}"] += 1
        self._work.done[name] += 1
        return response


def _is_deleted(path: str, response: httpx.Response) -> bool:
    """Whether the editor deleted a document after it was listed."""
    return path.startswith("/documents/") and response.status_code == httpx.codes.NOT_FOUND


def _add_work(report: Report, work: Work, answers: Answers, visitors: Visitors) -> None:
    report.add("answers", len(answers.complete), "")
    report.add("canceled answers", answers.canceled, "")
    report.add("browser sessions", visitors.sessions, "")
    report.add("runs of page scripts", visitors.runs, "")
    for name, times in sorted(work.done.items()):
        report.add(name, times, "")


@dataclass(frozen=True)
class Growth:
    """How a role grows after its warm-up.

    `slope` and its standard `error` are in MiB per hour. `files` (without those of event loops),
    `threads`, and `kinds` (of open files) are by how much the last third of the samples has more
    than the first. `before` is the rise during the warm-up in MiB.
    """

    before: float
    slope: float
    error: float
    files: float
    threads: float
    kinds: Mapping[str, float]
    last: Usage


def growth_of(role: str, samples: Sequence[Sample], begin: float) -> Growth:
    """The growth of a role from `begin` on (`time.monotonic`); at least four samples are later."""
    used = [(one.at, one.usage[role]) for one in samples if role in one.usage]
    late = [(at, usage) for at, usage in used if at >= begin]
    slope, error = slope_of(*lowest([at / 3600 for at, _ in late], [one.own for _, one in late]))
    files = _difference([usage.other_files for _, usage in late])
    threads = _difference([usage.threads for _, usage in late])
    kinds = {
        kind: _difference([usage.files[kind] for _, usage in late])
        for kind in sorted({LOOPS}.union(*(usage.files for _, usage in late)))
    }
    before = late[0][1].own - used[0][1].own
    return Growth(before, slope, error, files, threads, kinds, late[-1][1])


def is_flat(growth: Growth) -> bool:
    """Whether memory grows more slowly than the bound for certain, and handles stay."""
    is_slow = growth.slope + 2 * growth.error < BOUND_MIB_PER_HOUR
    has_same_files = growth.files <= HANDLES and growth.kinds[LOOPS] <= LOOP_TOLERANCE
    return is_slow and has_same_files and growth.threads <= HANDLES


def lowest(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """The point with the lowest `y` of each group of neighbors, in order of `x`."""
    groups = np.array_split(np.arange(len(x)), min(GROUPS, len(x)))
    at = [min(group, key=y.__getitem__) for group in groups]
    return [x[n] for n in at], [y[n] for n in at]


def slope_of(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """The slope of the least-squares line and its standard error; at least four points.

    Memory rises in steps, so neighboring samples tell less than independent ones would: the error
    is corrected for their autocorrelation at lag 1.
    """
    (slope, intercept), covariance = np.polyfit(x, y, 1, cov=True)
    residuals = np.asarray(y) - (slope * np.asarray(x) + intercept)
    return float(slope), float(np.sqrt(covariance[0, 0] * _inflation(residuals)))


def _inflation(residuals: "np.ndarray") -> float:
    """By how much autocorrelation increases the variance of the slope; at least 1."""
    total = float(residuals @ residuals)
    correlation = float(residuals[1:] @ residuals[:-1]) / total if total else 0.0
    return max(1.0, (1 + correlation) / (1 - correlation))


def _difference(values: Sequence[float]) -> float:
    third = max(1, len(values) // 3)
    return median(values[-third:]) - median(values[:third])


def _add_growth(report: Report, growth: Mapping[str, Growth]) -> None:
    rows: list[list[Cell]] = [
        [role, one.before, one.slope, one.error, one.files, one.threads, one.last.own, one.last.pss]
        for role, one in growth.items()
    ]
    columns = ["", "warm-up MiB", "MiB/h", "standard error", "other files", "threads"]
    report.table("Growth, and memory at the end", [*columns, "own MiB", "PSS MiB"], rows)
    kinds = [
        [f"{role}: {kind}", one.last.files[kind], added]
        for role, one in growth.items()
        for kind, added in one.kinds.items()
    ]
    report.table("Open files by kind", ["", "at the end", "growth"], kinds)


def _add_curve(report: Report, samples: Sequence[Sample]) -> None:
    ends = [len(samples) * n // PARTS for n in range(PARTS + 1)]
    parts = [samples[begin:end] for begin, end in pairwise(ends)]
    rows: list[list[Cell]] = [
        [role, *(_median_memory(part, role) for part in parts)] for role in ROLES
    ]
    columns = [f"{n}/{PARTS}" for n in range(1, PARTS + 1)]
    report.table("Memory by part of the time, median in MiB", ["", *columns], rows)


def _median_memory(samples: Sequence[Sample], role: str) -> float:
    return median(one.usage.get(role, Usage()).own for one in samples)
