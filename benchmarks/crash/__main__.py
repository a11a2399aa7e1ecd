"""The command line: see the package."""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.crash.operations import OPERATIONS, Operation
from benchmarks.crash.rounds import Round, kills, longest
from benchmarks.crash.scene import Scene
from benchmarks.measure import machine
from tests.fakes.openai import serving


def run(kinds: Iterable[type[Operation]], count: int, seed: int) -> list[Round]:
    """Kill `count` times during each operation, and print each round."""
    rounds = []
    with tempfile.TemporaryDirectory(prefix="footnote-crash-") as folder, serving() as model:
        scene = Scene(Path(folder), model.url)
        scene.prepare()
        for kind in kinds:
            lasts_s = kind.lasts_s or longest(kind(scene))
            print(f"{kind.name}: takes {lasts_s:.1f} s", flush=True)
            for one in kills(kind, scene, count, seed, lasts_s):
                print(line_of(one), flush=True)
                rounds.append(one)
    return rounds


def line_of(one: Round) -> str:
    verdict = "; ".join(one.faults) or "nothing lost"
    return f"{one.operation} {one.number}: {one.moment_s:.3f} s, {one.phase or 'idle'}: {verdict}"


def summary(rounds: Sequence[Round]) -> str:
    """Per operation: the kills, how many interrupted which work, and how many lost something."""
    lines = [f"kill -9 on {machine()}"]
    for name in dict.fromkeys(one.operation for one in rounds):
        own = [one for one in rounds if one.operation == name]
        phases = Counter(one.phase or "idle" for one in own)
        parts = ", ".join(f"{phase} {count}" for phase, count in phases.most_common())
        interrupted = sum(bool(one.phase) for one in own)
        sound = sum(not one.faults for one in own)
        lines.append(
            f"{name}: {len(own)} kills, {interrupted} interrupted work ({parts});"
            f" nothing lost in {sound}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=40, help="per operation")
    parser.add_argument("--seed", type=int, default=0)
    names = [one.name for one in OPERATIONS]
    parser.add_argument("--only", action="append", choices=names, help="this operation")
    options = parser.parse_args()
    selected = [one for one in OPERATIONS if one.name in (options.only or names)]
    rounds = run(selected, options.kills, options.seed)
    print(summary(rounds))
    return 1 if any(one.faults for one in rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
