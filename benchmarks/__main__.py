"""Runs the benchmarks one after the other and prints ratios first, absolute figures second.

make bench
python -m benchmarks --only dense_search --only memory --json figures.json
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.afresh import call_afresh
from benchmarks.measure import Figure, OtherWork, Report, machine

PARTS = {
    "embedding": False,
    "dense_search": True,
    "keyword_search": True,
    "import_run": False,
    "memory": False,
}
"""The parts in the order they run, and whether they are held to one thread."""


def run(part: str, cache: str, small: bool) -> dict[str, Any]:
    """What the part reports, as data; called in a process of its own."""
    module = import_module(f"benchmarks.{part}")
    report: Report = module.measure(cache=cache, **(module.SMALL if small else {}))
    return asdict(report)


def run_parts(names: list[str], *, small: bool) -> dict[str, Report]:
    reports = {}
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as cache:
        for name in names:
            print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
            started, others = time.monotonic(), OtherWork()
            found = call_afresh(
                "benchmarks.__main__:run",
                one_thread=PARTS[name],
                part=name,
                cache=cache,
                small=small,
            )
            reports[name] = as_report(found)
            taken = others.percent()
            if taken is not None:
                reports[name].ratio("other work's share of the machine meanwhile", taken, "%")
            print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return reports


def as_report(found: dict[str, Any]) -> Report:
    figures = {kind: [Figure(**one) for one in found[kind]] for kind in ("ratios", "absolute")}
    return Report(found["title"], found["about"], **figures, notes=found["notes"])


def print_reports(where: str, reports: list[Report]) -> None:
    print(f"Footnote on {where}\n\nRATIOS")
    for report in reports:
        print(f"\n{report.title}: {report.about}")
        print_figures(report.ratios)
        for note in report.notes:
            print(f"  {note}")
    print("\nABSOLUTE FIGURES")
    for report in reports:
        print(f"\n{report.title}")
        print_figures(report.absolute)


def print_figures(figures: list[Figure]) -> None:
    width = max((len(figure.name) for figure in figures), default=0)
    for figure in figures:
        print(f"  {figure.name:<{width}}  {figure}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Runs benchmarks.")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args()
    where = machine()
    chosen = [name for name in PARTS if name in (options.only or PARTS)]
    reports = run_parts(chosen, small=options.small)
    print_reports(where, list(reports.values()))
    if options.json:
        parts = {name: asdict(report) for name, report in reports.items()}
        found = {"machine": where, "small": options.small, "parts": parts}
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
