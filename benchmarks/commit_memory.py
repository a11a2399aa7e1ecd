"""How much memory a process takes for each commit of a vector store, however few its passages are.

python -m benchmarks.commit_memory --commits 400
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.afresh import call_afresh
from benchmarks.processes import own_memory
from commands.long_running import bound_memory
from storage.vectors.deep_lake import PassageFiles
from storage.vectors.new_rows import new_rows
from storage.vectors.passage_rows import PassageRows

PASSAGES, CHANGED, DIMENSION = 600, 6, 384
WARM_UP = 100
"""Commits before the first measurement, after which the allocators have what they reuse."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commit_memory", description=__doc__)
    parser.add_argument("--commits", type=int, default=400)
    commits = parser.parse_args().commits
    with tempfile.TemporaryDirectory() as folder:
        grown = call_afresh("benchmarks.commit_memory:write", folder=folder, commits=commits)
        opened = call_afresh("benchmarks.commit_memory:open_and_search", folder=folder)
    with tempfile.TemporaryDirectory() as folder:
        call_afresh("benchmarks.commit_memory:write", folder=folder, commits=1)
        fresh = call_afresh("benchmarks.commit_memory:open_and_search", folder=folder)
    print(f"a writer grows by {1024 * grown:.0f} KiB per commit")
    each = 1024 * (opened - fresh) / commits
    print(f"a reader that opens the store has {each:.0f} KiB more per commit")


def write(folder: str, commits: int) -> float:
    """The growth in MiB per commit after the warm-up; called in a subprocess."""
    bound_memory()
    rows = PassageRows(PassageFiles(Path(folder) / "rows"), timeout_s=30)
    random, before = np.random.default_rng(0), 0.0
    for commit in range(commits):
        ids = [f"p{(CHANGED * commit + n) % PASSAGES}" for n in range(CHANGED)]
        vectors = random.normal(size=(CHANGED, DIMENSION)).astype(np.float32)
        rows.upsert(new_rows(ids, ["text"] * CHANGED, vectors, [{"source_id": "s"}] * CHANGED))
        if commit == WARM_UP:
            before = own_memory()
    return (own_memory() - before) / max(1, commits - WARM_UP - 1)


def open_and_search(folder: str) -> float:
    """The memory in MiB after a search; called in a subprocess."""
    rows = PassageRows(PassageFiles(Path(folder) / "rows"), timeout_s=30)
    rows.nearest(np.ones(DIMENSION), 5, None)
    return own_memory()


if __name__ == "__main__":
    main()
