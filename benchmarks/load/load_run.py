"""Answer times of many people before and while documents are imported."""

import asyncio
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.load.documents import Writer
from benchmarks.load.people import Answers, Crowd
from benchmarks.load.program import Manager, Program
from benchmarks.measure import Report, Times
from benchmarks.processes import Sample, Usage, Watch

GOAL_S = 1.0
SAMPLED_S = 5.0
KIB_PER_PASSAGE = 6.0
"""Memory that a process may take for each new passage: its vector of 384 numbers in single
precision (1.5 KiB), which is copied once while it grows, and as much again for its ids."""
CONSTANT_MIB = 150.0
"""Memory that a process may take in addition: models and libraries that an import needs."""


@dataclass(frozen=True)
class Plan:
    """The size of a run: documents, people, and times in seconds."""

    people: int
    documents: int
    documents_before: int
    think_s: float
    warm_up_s: float
    baseline_s: float


@dataclass(frozen=True)
class Phases:
    """When the phases began, by `time.monotonic`, and the record of the import."""

    baseline: float
    importing: float
    end: float
    run: dict[str, Any]


def measure_load(program: Program, plan: Plan) -> tuple[Report, bool]:
    """The report, and whether no answer failed and the goals were met."""
    with Manager(program) as manager:
        before = _import(manager, program.folder / "before", plan.documents_before, seed=1)
        documents = program.folder / "documents"
        Writer(documents, seed=2).write(plan.documents)
        source_id = manager.add_folder(documents)
        watch = Watch(program.pids, SAMPLED_S)
        crowd = Crowd(program.api, program.secrets[: plan.people], plan.think_s)
        phases = asyncio.run(_ask_and_import(crowd, manager, source_id, plan))
        watch.end()
    passages = phases.run["passages_embedded"]
    report = Report("Load", _about(plan, before["passages_embedded"], passages))
    is_fast = _add_times(report, crowd.answers, phases)
    is_bounded = _add_memory(report, watch.samples, phases, passages)
    _add_import(report, phases, plan.documents)
    return report, is_fast and is_bounded and not crowd.answers.failed


def _import(manager: Manager, folder: Path, documents: int, seed: int) -> dict[str, Any]:
    Writer(folder, seed).write(documents)
    return manager.wait_for(manager.queue_import(manager.add_folder(folder)))


async def _ask_and_import(crowd: Crowd, manager: Manager, source_id: str, plan: Plan) -> Phases:
    asking = asyncio.create_task(crowd.ask())
    _say(f"{plan.people} people ask")
    await asyncio.sleep(plan.warm_up_s)
    baseline = time.monotonic()
    await asyncio.sleep(plan.baseline_s)
    importing = time.monotonic()
    _say("and the import begins")
    import_id = await asyncio.to_thread(manager.queue_import, source_id)
    run = await asyncio.to_thread(manager.wait_for, import_id)
    phases = Phases(baseline, importing, time.monotonic(), run)
    _say("the import has ended")
    crowd.stop.set()
    await asking
    return phases


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def _about(plan: Plan, before: int, passages: int) -> str:
    return (
        f"{plan.people} people who think for {plan.think_s:g} s on average (exponential) between"
        f" an answer and the next question; the samples and {plan.documents_before:,} documents"
        f" ({before:,} passages), then {plan.documents:,} documents ({passages:,} passages) are"
        f" imported; pages, a worker, and one API process, which share the machine with the people"
    )


def _add_times(report: Report, answers: Answers, phases: Phases) -> bool:
    spans = {
        "before": answers.between(phases.baseline, phases.importing),
        "while importing": answers.between(phases.importing, phases.end),
    }
    times = {name: Times([1000 * one.seconds for one in part]) for name, part in spans.items()}
    rows = [
        [name, len(each.milliseconds), each.p50, each.p95, max(each.milliseconds)]
        for name, each in times.items()
    ]
    report.table("Answers", ["", "answers", "p50 ms", "p95 ms", "slowest ms"], rows)
    added = (times["while importing"].p95 - times["before"].p95) / 1000
    report.ratio("added p95 / goal", added / GOAL_S)
    report.add("added p95", added, "s")
    report.add("answers that failed", sum(answers.failed.values()), "")
    report.note(f"failed {count} times: {what}" for what, count in answers.failed.items())
    return added < GOAL_S


def _add_import(report: Report, phases: Phases, documents: int) -> None:
    seconds = phases.end - phases.importing
    report.add("duration of the import", seconds, "s")
    report.add("documents per second", documents / seconds, "/s")
    report.add("passages per second", phases.run["passages_embedded"] / seconds, "/s")


def _add_memory(report: Report, samples: list[Sample], phases: Phases, passages: int) -> bool:
    """Add the memory by role; returns whether no process exceeded its bound."""
    middle = (phases.importing + phases.end) / 2
    moments = [_nearest(samples, at) for at in (phases.importing, middle, phases.end)]
    peaks = {role: _peak(samples, role) for sample in samples for role in sample.usage}
    rows = []
    for role, peak in sorted(peaks.items()):
        usage = [moment.usage.get(role, Usage()) for moment in moments]
        rows.append([role, *(one.pss for one in usage), peak.pss, usage[-1].rss, peak.rss])
    columns = ["MiB", "PSS before", "halfway", "at the end", "peak", "RSS at the end", "peak RSS"]
    report.table("Memory", columns, rows)
    bound = CONSTANT_MIB + KIB_PER_PASSAGE * passages / 1024
    grown = {role: _grown(moments, role) for role in peaks if role != "document reader"}
    report.add("bound of the growth of each process", bound, "MiB")
    for role, growth in grown.items():
        report.add(f"growth of the {role}", growth, "MiB")
    return max(grown.values()) < bound


def _nearest(samples: list[Sample], at: float) -> Sample:
    return min(samples, key=lambda sample: abs(sample.at - at))


def _peak(samples: list[Sample], role: str) -> Usage:
    each = [sample.usage[role] for sample in samples if role in sample.usage]
    pss, rss = max(one.pss for one in each), max(one.rss for one in each)
    return replace(each[0], pss=pss, rss=rss)


def _grown(moments: list[Sample], role: str) -> float:
    first, _, last = (moment.usage.get(role, Usage()).pss for moment in moments)
    return last - first
