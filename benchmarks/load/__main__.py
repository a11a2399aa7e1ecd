"""People ask while documents are imported; with --soak, what grows while everything repeats.

python -m benchmarks.load                    # 50 people, 5,000 documents
python -m benchmarks.load --soak 30          # minutes
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.load.load_run import Plan, measure_load
from benchmarks.load.program import running
from benchmarks.load.soak import PEOPLE, measure_soak
from benchmarks.measure import machine
from benchmarks.show import as_text


def options_of(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--documents", type=int, default=5000, help="documents to import")
    parser.add_argument(
        "--before", type=int, default=500, help="documents imported before, at least 1"
    )
    parser.add_argument("--think", type=float, default=25, help="mean pause of a person in s")
    parser.add_argument("--warm-up", type=float, default=30, help="seconds that do not count")
    parser.add_argument("--baseline", type=float, default=120, help="seconds without an import")
    parser.add_argument("--soak", type=float, help="minutes of a soak, instead of the load")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Run the load or the soak; 1 if a goal was missed or something failed."""
    options = options_of(words)
    people = PEOPLE + 1 if options.soak else options.people
    with (
        tempfile.TemporaryDirectory(prefix="footnote-load-") as folder,
        running(Path(folder), people) as program,
    ):
        if options.soak:
            report, is_good = measure_soak(program, options.soak)
        else:
            report, is_good = measure_load(program, _plan(options))
    print(as_text(machine(), [report]))
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return 0 if is_good else 1


def _plan(options: argparse.Namespace) -> Plan:
    return Plan(
        options.people,
        options.documents,
        options.before,
        options.think,
        options.warm_up,
        options.baseline,
    )


if __name__ == "__main__":
    sys.exit(main())
