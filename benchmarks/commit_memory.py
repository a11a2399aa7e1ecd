"""How much memory a process takes for each commit of a vector store, however few its passages are.

python -m benchmarks.commit_memory --commits 400

Then a process follows the commits to ten stores, each of which replaces the last like a compacted
index. With --threads 16, Deep Lake has as many threads in that process as without our limit.
"""

import argparse
import tempfile
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from benchmarks.afresh import call_afresh
from benchmarks.processes import own_memory
from commands.long_running import bound_memory
from services.imports.compaction import COMMITS
from storage.vectors import passage_rows
from storage.vectors.deep_lake import PassageFiles, load
from storage.vectors.new_rows import new_rows
from storage.vectors.passage_rows import PassageRows

PASSAGES, CHANGED, DIMENSION = 600, 6, 384
REPLACED, FOUND, STORES = 30, 50, 10
WARM_UP = 100
"""Commits before the first measurement, after which the allocators have what they reuse."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commit_memory", description=__doc__)
    parser.add_argument("--commits", type=int, default=400)
    parser.add_argument("--threads", type=int, help="of Deep Lake in the follower")
    options = parser.parse_args()
    commits = options.commits
    with tempfile.TemporaryDirectory() as folder:
        grown = call_afresh("benchmarks.commit_memory:write", folder=folder, commits=commits)
        opened = call_afresh("benchmarks.commit_memory:open_and_search", folder=folder)
    with tempfile.TemporaryDirectory() as folder:
        call_afresh("benchmarks.commit_memory:write", folder=folder, commits=1)
        fresh = call_afresh("benchmarks.commit_memory:open_and_search", folder=folder)
    print(f"a writer grows by {1024 * grown:.0f} KiB per commit")
    each = 1024 * (opened - fresh) / commits
    print(f"a reader that opens the store has {each:.0f} KiB more per commit")
    with tempfile.TemporaryDirectory() as folder:
        growth = growth_of_follower(Path(folder), STORES, options.threads)
    sizes = ", ".join(f"{size:.1f}" for size in growth)
    print(f"after the first of {STORES} stores, a follower grows with each by {sizes} MiB")


def write(folder: str, commits: int) -> float:
    """The growth in MiB per commit after the warm-up; called in a subprocess."""
    bound_memory()
    rows = PassageRows(PassageFiles(Path(folder) / "rows"), timeout_s=30)
    random, before = np.random.default_rng(0), 0.0
    for commit in range(commits):
        first = CHANGED * commit % PASSAGES
        _write(rows, range(first, first + CHANGED), ["text"] * CHANGED, random)
        if commit == WARM_UP:
            before = own_memory()
    return (own_memory() - before) / max(1, commits - WARM_UP - 1)


def growth_of_follower(folder: Path, stores: int, threads: int | None) -> list[float]:
    """The growth in MiB, with each further store, of a process that reads after each commit.

    A store is replaced after `COMMITS` commits.
    """
    context = get_context("spawn")
    connection, theirs = context.Pipe()
    follower = context.Process(target=_follow, args=(theirs, threads))
    follower.start()
    theirs.close()  # so that receiving fails if the follower has ended
    sizes = [_memory_after(connection, folder / str(number)) for number in range(stores)]
    connection.send(None)
    follower.join()
    return [after - before for before, after in pairwise(sizes)]


def _memory_after(connection: Connection, folder: Path) -> float:
    """The memory of the follower in MiB after `COMMITS` commits to a new store."""
    random, memory = np.random.default_rng(0), 0.0
    rows = PassageRows(PassageFiles(folder), timeout_s=30)
    _write(rows, range(PASSAGES), _texts(PASSAGES, random), random)
    for commit in range(COMMITS):
        first = REPLACED * commit % PASSAGES
        _write(rows, range(first, first + REPLACED), _texts(REPLACED, random), random)
        connection.send(folder)
        memory = connection.recv()
    return memory


def _follow(connection: Connection, threads: int | None) -> None:
    bound_memory()
    passage_rows.REFRESH_S = 0
    if threads:
        load().storage.set_concurrency(threads)
    random, folder = np.random.default_rng(1), None
    while current := connection.recv():
        if current != folder:
            folder, reader = current, PassageRows(PassageFiles(current), timeout_s=30)
        reader.nearest_rows(random.normal(size=DIMENSION), FOUND, None)
        connection.send(own_memory())


def _texts(count: int, random: np.random.Generator) -> list[str]:
    return [" ".join(map(str, random.integers(10**6, size=100))) for _ in range(count)]


def _write(
    rows: PassageRows, numbers: range, texts: list[str], random: np.random.Generator
) -> None:
    ids = [f"p{number}" for number in numbers]
    vectors = random.normal(size=(len(ids), DIMENSION)).astype(np.float32)
    rows.upsert(new_rows(ids, texts, vectors, [{"source_id": "s"}] * len(ids)))


def open_and_search(folder: str) -> float:
    """The memory in MiB after a search; called in a subprocess."""
    rows = PassageRows(PassageFiles(Path(folder) / "rows"), timeout_s=30)
    rows.nearest(np.ones(DIMENSION), 5, None)
    return own_memory()


if __name__ == "__main__":
    main()
