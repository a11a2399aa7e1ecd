"""Cost of monitoring the files of an index: at startup, for each commit, and in a check.

    python -m benchmarks.index_files --passages 100000

An index is filled batch by batch as in an import, with generated vectors and texts. Each step then
runs with and without monitoring, in turns, and the medians are compared: wall time, and processor
time of this process, which other load on the machine affects less. The files are in the page
cache, as they are after an import.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import machine
from benchmarks.our_store import GROUP, QueryVector, metadata_of, text_of
from storage.index_files import IndexFiles
from storage.keywords.keyword_index import KeywordIndex
from storage.keywords.segment_files import SegmentFiles
from storage.vectors.deep_lake import PassageFiles
from storage.vectors.passage_store import DeepLakePassages

DIMENSION, BATCH, ROUNDS = 384, 1024, 15
BOUND_MS = 50.0


class Cost(NamedTuple):
    """The medians of one step, in milliseconds."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:8.2f} ms wall {self.processor:8.2f} ms processor"


def cost_of(step: Callable[[], object], rounds: int = ROUNDS) -> Cost:
    """The medians of `rounds` calls."""
    return medians([once(step) for _ in range(rounds)])


def once(step: Callable[[], object]) -> Cost:
    started, busy = time.perf_counter(), processor_s()
    step()
    return Cost(1000 * (time.perf_counter() - started), 1000 * (processor_s() - busy))


def medians(costs: list[Cost]) -> Cost:
    return Cost(*(statistics.median(each) for each in zip(*costs, strict=True)))


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Measured:
    """An index in a folder whose files can be monitored."""

    def __init__(self, folder: Path) -> None:
        self._passages, self._keywords = folder / "passages", folder / "keywords"
        self._rng = np.random.default_rng(0)
        self.commits: list[Cost] = []
        self.records: list[Cost] = []

    def fill(self, passages: int) -> None:
        """Import passages, measuring each commit and its file lists separately."""
        whole, spent = IndexFiles.record, list[Cost]()

        def timed(files: IndexFiles) -> None:
            spent.append(once(lambda: whole(files)))

        IndexFiles.record = timed  # type: ignore[method-assign]  # measured where it is called
        store = DeepLakePassages(self._passages, QueryVector())
        words = KeywordIndex(self._keywords)
        for start in range(0, passages, BATCH):
            rows = range(start, min(start + BATCH, passages))
            spent.clear()
            self.commits.append(once(lambda rows=rows: self._add(store, words, rows)))  # type: ignore[misc]
            self.records.append(Cost(*(sum(each) for each in zip(*spent, strict=True))))
        IndexFiles.record = whole  # type: ignore[method-assign]

    def _add(self, store: DeepLakePassages, words: KeywordIndex, rows: range) -> None:
        ids = [f"{row:032x}" for row in rows]
        vectors = self._rng.normal(size=(len(rows), DIMENSION)).astype(np.float32)
        texts = [f"word{row % 997} other{row % 89} {text_of(row)}" for row in rows]
        store.add_vectors(ids, texts, vectors, [metadata_of(row) for row in rows])
        words.add(list(zip(ids, texts, strict=True)))

    def files(self) -> tuple[IndexFiles, IndexFiles]:
        """As in a process that has not read the index yet."""
        return PassageFiles(self._passages), SegmentFiles(self._keywords)

    def look_at_sizes(self) -> None:
        """The check at each start, and of each search at most every half second."""
        for files in self.files():
            files.require_sound(contents=False)

    def look_at_contents(self) -> None:
        """The check before a process first reads the index, and the full check."""
        for files in self.files():
            files.require_sound()

    def open(self) -> None:
        """Open both stores and search once with a filter, as a first question does."""
        embedding = QueryVector()
        embedding.vector = np.ones(DIMENSION, np.float32)
        store = DeepLakePassages(self._passages, embedding)
        # Without a filter, a thread would keep building codes during the next measurement.
        store.similar_ids("", 10, filter={"group": GROUP})
        KeywordIndex(self._keywords).search("word5 passage", 10)

    def size(self) -> tuple[int, int]:
        """Files and bytes."""
        listed = [
            written.size for files in self.files() for written in files._list().files.values()
        ]
        return len(listed), sum(listed)


def compared(measured: Measured) -> tuple[Cost, Cost]:
    """Opening with and without monitoring, in turns."""
    whole = IndexFiles.require_sound
    with_it, without = list[Cost](), list[Cost]()
    for _ in range(ROUNDS // 2):
        with_it.append(once(measured.open))
        IndexFiles.require_sound = lambda _files, **_: None  # type: ignore[method-assign,assignment,misc]
        without.append(once(measured.open))
        IndexFiles.require_sound = whole  # type: ignore[method-assign]
    return medians(with_it), medians(without)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        measured = Measured(Path(folder))
        measured.fill(options.passages)
        measured.open()  # loads the libraries
        files, size = measured.size()
        print(machine())
        print(f"{options.passages:,} passages: {files} files, {size / 1e6:.0f} MB")
        sizes, contents = cost_of(measured.look_at_sizes), cost_of(measured.look_at_contents)
        with_it, without = compared(measured)
        last = slice(-ROUNDS, None)
        print(f"start: sizes of all files          {sizes}")
        print(f"first read: sizes and checksums    {contents}")
        print(f"opening and a first search         {with_it}")
        print(f"the same without watching          {without}")
        print(f"a commit of {BATCH} (the last {ROUNDS})   {medians(measured.commits[last])}")
        print(f"of which listing its files         {medians(measured.records[last])}")
    is_within = sizes.wall < BOUND_MS and contents.processor < BOUND_MS
    print(f"bound: {BOUND_MS:g} ms more at the start: {'kept' if is_within else 'exceeded'}")
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
