"""The command line: see the package."""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import machine
from tests.deploy.containers import missing_programs
from tests.faults.plan import planned_faults
from tests.faults.topology import topology
from tests.faults.trial import run


def main() -> int:
    """Print the report; 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep data and logs in this empty folder")
    options = parser.parse_args()
    if problem := missing_programs():
        sys.exit(problem)
    with tempfile.TemporaryDirectory(prefix="footnote-faults-") as temporary:
        with topology(options.folder or Path(temporary)) as running:
            result = run(running, planned_faults(options.faults, options.seed), options.seed, _show)
    _show(f"python -m tests.faults --faults {options.faults} --seed {options.seed} on {machine()}")
    for line in result.lines():
        _show(line)
    return 1 if result.violations else 0


def _show(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
