"""Runs the benchmarks in sequence and prints ratios before absolute figures.

make bench
python -m benchmarks --only dense_search --only memory --json figures.json
python -m benchmarks --from figures.json --markdown --chart docs/performance.svg
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
from benchmarks.chart import chart_of
from benchmarks.measure import Figure, OtherWork, Report, Table, machine
from benchmarks.show import as_markdown, as_text

PARTS = {
    "embedding": False,
    "dense_search": True,
    "vector_stores": True,
    "keyword_search": True,
    "hybrid_search": True,
    "catalog": True,
    "import_run": False,
    "parallel_imports": False,
    "reading": False,
    "ask": False,
    "answering": False,
    "memory": False,
    "confluence": False,
    "pages": False,
    "api": False,
    "conversation_words": True,
    "host_check": True,
    "logs": False,
}
"""The parts in the order they run, and whether they are held to one thread."""
WITH_OTHERS = {"pages", "api"}
"""Parts with processes that this one does not wait for: their load would count as other work."""


def run(part: str, cache: str, small: bool) -> dict[str, Any]:
    """The report of the part as data; called in a subprocess."""
    module = import_module(f"benchmarks.{part}")
    report: Report = module.measure(cache=cache, **(module.SMALL if small else {}))
    return asdict(report)


def run_parts(names: list[str], *, small: bool) -> dict[str, Report]:
    reports = {}
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as cache:
        for name in names:
            print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
            started, others = time.monotonic(), OtherWork()
            data = call_afresh(
                "benchmarks.__main__:run",
                one_thread=PARTS[name],
                part=name,
                cache=cache,
                small=small,
            )
            reports[name] = as_report(data)
            load = others.percent()
            if load is not None and name not in WITH_OTHERS:
                reports[name].ratio("share of the machine used by other processes", load, "%")
            print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return reports


def as_report(data: dict[str, Any]) -> Report:
    figures = {kind: [Figure(**one) for one in data[kind]] for kind in ("ratios", "absolute")}
    tables = [Table(**one) for one in data["tables"]]
    return Report(data["title"], data["about"], **figures, notes=data["notes"], tables=tables)


def read(file: Path) -> tuple[str, dict[str, Report]]:
    """The machine and the reports saved by an earlier run."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return found["machine"], {name: as_report(part) for name, part in found["parts"].items()}


def write(file: Path, where: str, reports: dict[str, Report], *, small: bool) -> None:
    parts = {name: asdict(report) for name, report in reports.items()}
    found = {"machine": where, "small": small, "parts": parts}
    file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def options_of(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Runs benchmarks.")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--from", type=Path, metavar="FILE", dest="file", help="show these figures, run nothing"
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw p50 by size, an SVG")
    return parser.parse_args(words)


def main() -> None:
    options = options_of()
    if options.file:
        where, reports = read(options.file)
    else:
        selected = [name for name in PARTS if name in (options.only or PARTS)]
        where, reports = machine(), run_parts(selected, small=options.small)
    show = as_markdown if options.markdown else as_text
    print(show(where, list(reports.values())))
    if options.json:
        write(options.json, where, reports, small=options.small)
    if options.chart:
        options.chart.write_text(chart_of(list(reports.values())), encoding="utf-8")


if __name__ == "__main__":
    main()
