"""Kills an import with SIGKILL at random moments and checks the library.

    python -m benchmarks.crash --rounds 50

A worker process moves one data folder from generation to generation of a generated source, with
occasional reindexing, and records each finished generation. After each kill, a new start must
find the ledger, vector store, and keyword index in agreement, and each document whole, in the
version of the last finished generation or of the next one.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.library import DictLoader, Library

ROOT = Path(__file__).parent.parent
DOCUMENTS = 150
WORDS = "vacation server deploy expense invoice laptop 휴가 서버 배포 休暇 規定 経費".split()  # noqa: SIM905
LONGEST_LIFE_S = 4.0


@dataclass(frozen=True)
class Round:
    """The state after a kill; `faults` is empty if all is well."""

    generation: int
    cut_short: bool
    swept: int
    faults: tuple[str, ...]


def texts_of(generation: int) -> dict[str, str]:
    """The source in that generation: each omits some documents and edits a fifth."""
    texts = {}
    for number in range(DOCUMENTS):
        # A document changes in every fifth generation, at its own offset.
        rng = random.Random(f"{number} {(generation + number) // 5}")
        if rng.random() < 0.85:
            words = " ".join(rng.choices(WORDS, k=rng.randint(5, 200)))
            texts[f"{number:03}.md"] = f"# Document {number}\n\n{words}"
    return texts


def library_of(data_dir: Path, generation: int) -> Library:
    """The library in that generation: every sixth uses another model."""
    return Library(data_dir, model=f"model {generation // 6}")


def work(data_dir: Path, log: Path) -> None:
    """Advance through the generations until killed."""
    generation = last_finished(log) + 1
    library_of(data_dir, generation).maintenance.recover()
    print("started", flush=True)
    while True:
        library = library_of(data_dir, generation)
        library.load(DictLoader(texts_of(generation)), confirm_removals=True)
        with log.open("a", encoding="ascii") as file:
            file.write(f"{generation}\n")
        library.reindex() if generation % 6 == 0 else None
        library.database.close()
        generation += 1


def last_finished(log: Path) -> int:
    """The last generation recorded; -1 before the first."""
    return int(log.read_text().split()[-1]) if log.exists() and log.read_text() else -1


def kill_once(data_dir: Path, log: Path, life_s: float) -> Round:
    """Run a worker for that many seconds, kill it, and check the library."""
    command = [sys.executable, "-m", "benchmarks.crash", "--work", str(data_dir), str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as worker:
        line = worker.stdout.readline()
        time.sleep(life_s)
        died = worker.poll()
        worker.send_signal(signal.SIGKILL)
    if line != "started\n" or died is not None:
        raise SystemExit(f"the worker ended by itself ({died}): its errors stand above")
    return look(data_dir, last_finished(log))


def look(data_dir: Path, generation: int) -> Round:
    """Faults that a new start finds."""
    library = library_of(data_dir, generation)
    recovery = library.maintenance.recover()
    report = library.check()
    faults = [recovery.problem, *report.disagreements, *lost(library.texts(), generation)]
    library.database.close()
    return Round(generation, recovery.imports > 0, recovery.passages, tuple(filter(None, faults)))


def lost(found: dict[str, str], generation: int) -> list[str]:
    """Documents that match neither the last generation nor the next."""
    before, after = (texts_of(g) if g >= 0 else {} for g in (generation, generation + 1))
    return [
        f"{key} is neither of generation {generation} nor of the next"
        for key in sorted({*found, *before, *after})
        if found.get(key) not in (before.get(key), after.get(key))
    ]


def run(rounds: int, seed: int) -> list[Round]:
    """Kill repeatedly over one data folder."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="footnote-crash-") as folder:
        data_dir, log = Path(folder) / "data", Path(folder) / "log"
        return [kill_once(data_dir, log, rng.uniform(0, LONGEST_LIFE_S)) for _ in range(rounds)]


def summary(rounds: list[Round]) -> str:
    sound = sum(not one.faults for one in rounds)
    return (
        f"kill -9: {sound} of {len(rounds)} rounds in agreement with nothing lost"
        f" ({sum(one.cut_short for one in rounds)} amid an import,"
        f" {sum(one.swept > 0 for one in rounds)} left passages to sweep,"
        f" {rounds[-1].generation + 1} imports finished in between)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
    rounds = run(options.rounds, options.seed)
    for number, one in enumerate(rounds):
        for fault in one.faults:
            print(f"round {number}: {fault}")
    print(summary(rounds))
    return 1 if any(one.faults for one in rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
