"""Dense search: Footnote's store against well-known vector stores, on the same vectors."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import our_store, peers
from benchmarks.contest import Contender, Outcome, contest_by_size, recall
from benchmarks.measure import Report
from benchmarks.our_store import GROUP, GROUPS, QUESTIONS, VECTORS, K, Vectors

FOOTNOTE, EXACT = "Footnote", "NumPy product"
CONTENDERS = {
    FOOTNOTE: Contender(our_store.open_footnote, our_store.build_footnote, in_background=True),
    EXACT: Contender(peers.open_numpy),
    "FAISS flat": Contender(peers.open_faiss, peers.build_faiss_flat, "faiss"),
    "FAISS HNSW": Contender(peers.open_faiss, peers.build_faiss_hnsw, "faiss"),
    "Chroma": Contender(peers.open_chroma, peers.build_chroma, "chromadb"),
    "LanceDB": Contender(peers.open_lancedb, peers.build_lancedb, "lancedb"),
    "LanceDB HNSW": Contender(peers.open_lancedb, peers.build_lancedb_hnsw, "lancedb"),
    "InMemoryVectorStore": Contender(peers.open_in_memory),
}
SMALL = {"sizes": [400], "queries": 5, "apart": False}
COLUMNS = [
    "",
    "p50 ms",
    "p95 ms",
    f"recall@{K}",
    "with texts, p50 ms",
    "1 %, p50 ms",
    f"1 %, recall@{K}",
    "outside the filter",
    "resident MiB",
    "build s",
    "open s",
]


def measure(
    *,
    cache: str,  # noqa: ARG001  # every part is called alike
    sizes: Sequence[int] = (1_000, 10_000, 100_000),
    queries: int = 200,
    apart: bool = True,
    budget_s: float = 10.0,
) -> Report:
    report = Report(
        "Vector stores",
        f"synthetic vectors around random centers, which graphs find easily; top {K}; {queries} "
        f"questions, asked twice or for up to {budget_s:.0f} s, one core; ids alone, with texts "
        "and metadata, and ids of the 1 % that a filter matches; memory is that of the whole "
        "process, for NumPy and FAISS without any texts",
    )
    prepare_inputs = partial(prepare, queries=queries)
    shown = contest_by_size(__name__, report, sizes, prepare_inputs, apart=apart, budget_s=budget_s)
    for size, expected, outcomes in shown:
        add_outcomes(report, size, outcomes, expected)
    return report


def prepare(place: Path, size: int, queries: int) -> dict[str, list[list[int]]]:
    """Write vectors and questions; returns the nearest of all and of the filtered ones."""
    from benchmarks.dense_search import made_up  # not in the contenders' processes: memory counts

    vectors, questions = made_up(size, queries)
    np.save(place / VECTORS, vectors)
    np.save(place / QUESTIONS, questions)
    in_group = np.flatnonzero(np.arange(size) % GROUPS == GROUP)
    return {
        "ids": nearest(vectors, questions, np.arange(size)),
        "filtered": nearest(vectors, questions, in_group),
    }


def nearest(vectors: Vectors, questions: Vectors, rows: np.ndarray) -> list[list[int]]:
    """By products in double precision."""
    scores = questions.astype(np.float64) @ vectors[rows].astype(np.float64).T
    found: list[list[int]] = rows[np.argsort(-scores, axis=1)[:, :K]].tolist()
    return found


def inputs(place: Path) -> Vectors:
    vectors: Vectors = np.load(place / VECTORS)
    return vectors


def questions(place: Path) -> list[Vectors]:
    return list(np.load(place / QUESTIONS))


def add_outcomes(
    report: Report,
    size: int,
    outcomes: dict[str, Outcome],
    expected: dict[str, list[list[int]]],
) -> None:
    rows = [row_of(name, outcome, expected) for name, outcome in outcomes.items()]
    report.table(f"{report.title}, {size:,} passages", COLUMNS, rows)
    own = outcomes[FOOTNOTE].answers
    waited = outcomes[FOOTNOTE].ready_s
    report.add(f"{size:,}: {FOOTNOTE}, time from the first answer to full speed", waited, "s")
    for name, outcome in outcomes.items():
        if name != FOOTNOTE:
            ratio = outcome.answers["ids"].times.p50 / own["ids"].times.p50
            report.ratio(f"{size:,}: {name} / {FOOTNOTE}, p50", ratio)
    for kind, expected_rows in expected.items():
        share = recall(own[kind].found, expected_rows)
        report.ratio(f"{size:,}: recall@{K} of {FOOTNOTE}, {kind}", share, "")


def row_of(
    name: str, outcome: Outcome, expected: dict[str, list[list[int]]]
) -> list[str | float | None]:
    ids, filtered = outcome.answers["ids"], outcome.answers["filtered"]
    texts = outcome.answers.get("texts")
    return [
        name,
        ids.times.p50,
        ids.times.p95,
        recall(ids.found, expected["ids"]),
        texts.times.p50 if texts else None,
        filtered.times.p50,
        recall(filtered.found, expected["filtered"]),
        sum(row % GROUPS != GROUP for found in filtered.found for row in found),
        outcome.resident_mib,
        None if name == EXACT else outcome.build_s,
        outcome.open_s,
    ]
