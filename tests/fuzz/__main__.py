"""Reads thousands of damaged files of every format and reports what became of them.

    python -m tests.fuzz --mutants 20000 --seed 1

Each file must become text, or an error that says why it can't be read, within the limits of the
reader process. All other files, and those at which a reader process crashed or reached a limit, are
saved. Exits with 1 if a file failed.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.fuzz.reading import Mutant, Outcome, outcome_of, save
from tests.fuzz.seeds import SLOW, formats

SLOW_SHARE = 0.002
"""The share of the mutants for each format that another program reads."""
LONG_S = 10.0
EXPECTED = ("text", "rejected")


def mutants_of(number: int, seed: int, suffixes: Sequence[str]) -> Iterator[Mutant]:
    """This many mutants in all, most of them for formats that are read quickly."""
    slow = [one for one in suffixes if one in SLOW]
    fast = [one for one in suffixes if one not in SLOW]
    share = int(number * SLOW_SHARE) if fast else number // len(slow)
    counts = dict.fromkeys(slow, share)
    left = number - share * len(slow)
    counts |= {one: left // len(fast) + (n < left % len(fast)) for n, one in enumerate(fast)}
    for index in range(max(counts.values())):
        yield from (Mutant(one, index, seed) for one in suffixes if index < counts[one])


def outcomes(mutants: Sequence[Mutant], jobs: int) -> Iterator[Outcome]:
    """The outcomes in order; raises BrokenProcessPool if a mutant ends the process that imports."""
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(outcome_of, mutants)


def table(counts: dict[str, Counter[str]], longest: dict[str, float]) -> str:
    """A Markdown table with a row for each format."""
    kinds = sorted({kind for one in counts.values() for kind in one}, key="text rejected".find)
    rows = [["format", "mutants", *kinds, "longest"], ["---"] * (len(kinds) + 3)]
    for suffix, one in sorted(counts.items()):
        figures = (f"{one[kind]:,}" for kind in kinds)
        rows.append([suffix, f"{one.total():,}", *figures, f"{longest[suffix]:.1f} s"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def run(mutants: Sequence[Mutant], jobs: int, folder: Path) -> int:
    """Read all mutants, print what became of them, and return how many failed or hit a limit."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    longest: dict[str, float] = defaultdict(float)
    peak = 0
    for done, one in enumerate(outcomes(mutants, jobs), start=1):
        suffix = one.mutant.suffix
        counts[suffix][one.kind] += 1
        longest[suffix] = max(longest[suffix], one.seconds)
        peak = max(peak, one.peak_kib)
        if one.kind not in EXPECTED or one.seconds > LONG_S:
            save(one, folder)
        if done % 1_000 == 0:
            print(f"{done:,} of {len(mutants):,}", file=sys.stderr, flush=True)  # noqa: T201
    print(table(counts, longest))  # noqa: T201
    total = sum(counts.values(), Counter())
    print(f"\n{total.total():,} mutants: {dict(total)}, at most {peak // 1024} MiB")  # noqa: T201
    return sum(count for kind, count in total.items() if kind not in EXPECTED)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mutants", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", choices=formats(), help="this format")
    parser.add_argument("--folder", type=Path, default=Path("fuzz"), help="for saved files")
    options = parser.parse_args()
    start = time.monotonic()
    mutants = list(mutants_of(options.mutants, options.seed, options.only or formats()))
    failed = run(mutants, options.jobs, options.folder)
    print(f"{time.monotonic() - start:.0f} s")  # noqa: T201
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
