"""The command; see the docstring of the package."""

import argparse
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.__main__ import write
from benchmarks.measure import OtherWork, Report, cores, machine
from benchmarks.opensearch.contenders import Bare, Contender, Embedded, Footnote, K, ServerSide
from benchmarks.opensearch.counts import add_counts, add_lookups
from benchmarks.opensearch.node import Measured
from benchmarks.opensearch.passages import Passages, Question, nearest
from benchmarks.opensearch.progress import log, stage
from benchmarks.opensearch.searches import (
    BARE,
    EMBEDDED,
    OWN,
    Nearest,
    add_searches,
    add_server_side,
)
from benchmarks.opensearch.writes import OPTIONS, Writes, fill_embedded
from benchmarks.our_store import QueryVector
from benchmarks.show import as_text
from storage.keywords.keyword_index import KeywordIndex
from storage.opensearch.connection import SearchServer, connect
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows
from storage.vectors.passage_store import DeepLakePassages
from tests.opensearch.artifacts import VERSION
from tests.opensearch.cluster import cluster

NAME = "passages"
TIMEOUT_S = 300
"""Longer than the client's default: while segments merge, the server may throttle writes."""


@dataclass(frozen=True)
class Options:
    """What to measure, and where to save the figures after each stage."""

    passages: int = 100_000
    questions: int = 200
    compared: int = 50_000
    prefill: int = 0
    heap_mb: int = 4096
    embedded: bool = True
    merge: bool = True
    json: Path | None = None


@dataclass
class Run:
    """A run over one index; `measure` may be called in several states of the index."""

    options: Options
    report: Report
    measured: Measured
    index: PassageIndex
    questions: list[Question]
    exact: Nearest = field(default_factory=dict)
    embedded: Embedded | None = None

    def fill(self, folder: Path) -> None:
        """Write the passages to all stores, and find the nearest exactly."""
        passages, vectors = Passages(self.options.passages), folder / "vectors.npy"
        writes = Writes(VectorRows(self.index), self.measured.client)
        with stage("filling the index"):
            writes.fill(passages, self.options.compared, self.options.prefill, vectors)
            writes.add_to(self.report)
        with stage("merges in the background"):
            self.measured.settle()
        with stage("exact search"):
            self.exact = nearest(np.load(vectors, mmap_mode="r"), self.questions, K)
        if self.options.embedded:
            with stage("filling the embedded stores"):
                self.embedded = _embedded(folder, passages)

    def measure(self, state: str) -> None:
        """Measure searches, look-ups, and sizes."""
        own, client = Footnote(self.index), self.measured.client
        contenders: dict[str, Contender] = {
            OWN: own,
            BARE: Bare(client, NAME, self.questions),
        }
        if self.embedded:
            contenders[EMBEDDED] = self.embedded
        self.measured.add_size(self.report, state, self.options.passages)
        with stage(f"searches, {state}"):
            add_searches(self.report, state, contenders, self.questions, self.exact)
            self.save()
        with stage(f"counts, {state}"):
            few = max(1, len(self.questions) // 4)
            add_counts(self.report, state, self.index, client, self.embedded, few)
            add_lookups(self.report, state, self.index, self.embedded, self.options.passages)
        with stage(f"searches by the server alone, {state}"):
            server = ServerSide(client, NAME, self.questions)
            add_server_side(self.report, state, own, server, self.questions, self.exact)
        self.save()

    def save(self) -> None:
        """Write the figures so far, so that a failure later does not lose them."""
        if self.options.json:
            write(self.options.json, machine(), {"opensearch": self.report}, small=False)


def _embedded(folder: Path, passages: Passages) -> Embedded:
    embedding = QueryVector()
    store = DeepLakePassages(folder / "vectors", embedding)
    keywords = KeywordIndex(folder / "keywords")
    fill_embedded(passages, store, keywords)
    return Embedded(store, keywords, embedding)


def measure(options: Options) -> Report:
    """Start a node, fill it, and measure."""
    report = Report("OpenSearch", _about(options))
    with tempfile.TemporaryDirectory(
        prefix="footnote-opensearch-", ignore_cleanup_errors=True
    ) as place:
        folder = Path(place)
        with cluster(folder=folder / "cluster", heap_mb=options.heap_mb) as running:
            client = running.client(timeout=TIMEOUT_S)
            own = connect(SearchServer((running.url,), timeout_s=TIMEOUT_S))
            index = PassageIndex(own, NAME, options=OPTIONS)
            run = Run(
                options,
                report,
                Measured(running, client, NAME),
                index,
                Passages(options.passages).questions(options.questions),
            )
            _run(run, folder)
    return report


def _run(run: Run, folder: Path) -> None:
    others, started = OtherWork(), time.monotonic()
    run.fill(folder)
    run.save()
    run.measure("as filled")
    if run.options.merge:
        with stage("merging to one segment"):
            begun = time.monotonic()
            run.measured.merge()
            run.report.add("merging to one segment", time.monotonic() - begun, "s")
        run.measure("one segment")
    load = others.percent()
    if load is not None:
        node = 100 * run.measured.cpu_s() / cores() / (time.monotonic() - started)
        run.report.ratio("share of the machine used by other processes", max(0, load - node), "%")
    run.save()


def _about(options: Options) -> str:
    return (
        f"OpenSearch {VERSION}, one node with {options.heap_mb} MiB of heap, one shard, one client,"
        f" loopback; {options.passages:,} synthetic passages of 60 words with a Zipf distribution"
        f" and vectors of 384 dimensions around {Passages(options.passages).centers:,} centers;"
        f" {options.prefill:,} of them written by several threads at once;"
        f" {options.questions} questions, which all contenders answer in turn, warm"
    )


def options_of(words: list[str] | None = None) -> Options:
    default = Options()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.opensearch",
        description="Measures the OpenSearch storage against bare calls and the embedded stores.",
    )
    parser.add_argument("--passages", type=int, default=default.passages)
    parser.add_argument("--questions", type=int, default=default.questions)
    parser.add_argument(
        "--compared",
        type=int,
        default=default.compared,
        help="passages that a bare script writes too, in turns",
    )
    parser.add_argument(
        "--prefill",
        type=int,
        default=default.prefill,
        help="passages after these that several threads write at once, without being measured",
    )
    parser.add_argument("--heap-mb", type=int, default=default.heap_mb)
    parser.add_argument(
        "--embedded", action=argparse.BooleanOptionalAction, default=default.embedded
    )
    parser.add_argument(
        "--merge",
        action=argparse.BooleanOptionalAction,
        help="measure again after merging to one segment (default: up to 200,000 passages)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the figures there too")
    found = parser.parse_args(words)
    if found.compared < 1:
        parser.error("--compared must be at least 1: the ratio needs passages that both write")
    if found.merge is None:
        found.merge = found.passages <= 200_000
    return Options(**vars(found))


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the node, removes its data
    report = measure(options_of())
    log("done")
    sys.stdout.write(as_text(machine(), [report]) + "\n")


if __name__ == "__main__":
    main()
