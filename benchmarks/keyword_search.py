"""Keyword search: the index on disk against rank_bm25 and bm25s, with the same tokens.

LangChain's BM25Retriever uses rank_bm25. All times include tokenizing the question.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.contest import Contender, Outcome, Searches, contest_by_size, recall
from benchmarks.measure import Report
from benchmarks.texts import texts_and_questions

K = 20
ADDED, ADDED_TO = 256, 10_000
K1, B = 1.2, 0.75
FOOTNOTE, PEER = "Footnote", "rank_bm25"
TEXTS, QUESTIONS = "texts.json", "questions.json"
SMALL = {"sizes": [300], "queries": 5, "made_up": True, "apart": False}
COLUMNS = [
    "",
    "p50 ms",
    "p95 ms",
    f"overlap with {PEER}'s top {K}",
    "resident MiB",
    "build s",
    "open s",
]


def measure(
    *,
    cache: str,  # noqa: ARG001  # every part is called alike
    sizes: Sequence[int] = (1_000, 10_000, 100_000),
    queries: int = 188,
    made_up: bool = False,
    apart: bool = True,
    budget_s: float = 10.0,
) -> Report:
    report = Report("Keyword search", "")
    prepare_inputs = partial(prepare, queries=queries, made_up=made_up)
    shown = contest_by_size(__name__, report, sizes, prepare_inputs, apart=apart, budget_s=budget_s)
    for size, (report.about, texts), outcomes in shown:
        add_outcomes(report, size, outcomes)
        few = texts[:ADDED_TO]
    report.about += (
        f", asked twice or for up to {budget_s:.0f} s; top {K}, the same tokens, ids "
        "without texts, one core"
    )
    add_adding(report, few)
    return report


def prepare(place: Path, size: int, queries: int, made_up: bool) -> tuple[str, list[str]]:
    """Write texts and questions; returns their description and the texts."""
    texts, question_texts, about = texts_and_questions(size, queries, made_up=made_up)
    write(place, texts, question_texts)
    return about, texts


def write(place: Path, texts: list[str], questions: list[str]) -> None:
    (place / TEXTS).write_text(json.dumps(texts), encoding="utf-8")
    (place / QUESTIONS).write_text(json.dumps(questions), encoding="utf-8")


def inputs(place: Path) -> list[str]:
    texts: list[str] = json.loads((place / TEXTS).read_text(encoding="utf-8"))
    return texts


def questions(place: Path) -> list[str]:
    texts: list[str] = json.loads((place / QUESTIONS).read_text(encoding="utf-8"))
    return texts


def build_footnote(texts: list[str], folder: Path) -> None:
    from storage.keywords.keyword_index import KeywordIndex

    KeywordIndex(folder).add([(str(row), text) for row, text in enumerate(texts)])


def open_footnote(_place: Path, folder: Path) -> Searches:
    from storage.keywords.keyword_index import KeywordIndex

    index = KeywordIndex(folder)
    return {"ids": lambda question: [int(id_) for id_, _ in index.search(question, K)]}


def open_rank_bm25(place: Path, _folder: Path) -> Searches:
    """It has no disk format: it is rebuilt at each start."""
    import numpy as np
    from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

    from domain.language.tokens import keyword_tokens

    peer = BM25Okapi([keyword_tokens(text) for text in inputs(place)], k1=K1, b=B)

    def search(question: str) -> list[int]:
        scores = peer.get_scores(keyword_tokens(question))
        k = min(K, len(scores))
        places = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
        ordered = places[np.argsort(-scores[places])]
        return [row for row in ordered.tolist() if scores[row] > 0]

    return {"ids": search}


def build_bm25s(texts: list[str], folder: Path) -> None:
    import bm25s

    from domain.language.tokens import keyword_tokens

    peer = bm25s.BM25(k1=K1, b=B)
    peer.index([keyword_tokens(text) for text in texts], show_progress=False)
    peer.save(folder)


def open_bm25s(_place: Path, folder: Path) -> Searches:
    import bm25s

    from domain.language.tokens import keyword_tokens

    peer = bm25s.BM25.load(folder)

    def search(question: str) -> list[int]:
        k = min(K, peer.scores["num_docs"])
        rows, scores = peer.retrieve([keyword_tokens(question)], k=k, show_progress=False)
        return [int(row) for row, score in zip(rows[0], scores[0], strict=True) if score > 0]

    return {"ids": search}


CONTENDERS = {
    FOOTNOTE: Contender(open_footnote, build_footnote),
    PEER: Contender(open_rank_bm25, package="rank_bm25"),
    "bm25s": Contender(open_bm25s, build_bm25s, "bm25s"),
}


def add_outcomes(report: Report, size: int, outcomes: dict[str, Outcome]) -> None:
    expected = outcomes[PEER].answers["ids"].found
    rows = [row_of(name, outcome, expected) for name, outcome in outcomes.items()]
    report.table(f"{report.title}, {size:,} passages", COLUMNS, rows)
    own = outcomes[FOOTNOTE].answers["ids"]
    for name, outcome in outcomes.items():
        if name != FOOTNOTE:
            times = outcome.answers["ids"].times
            report.ratio(f"{size:,}: {name} / {FOOTNOTE}, p50", times.p50 / own.times.p50)
            report.ratio(f"{size:,}: {name} / {FOOTNOTE}, p95", times.p95 / own.times.p95)
    report.ratio(f"{size:,}: overlap with {PEER}'s top {K}", recall(own.found, expected), "")


def row_of(name: str, outcome: Outcome, expected: list[list[int]]) -> list[str | float | None]:
    """Agreement with rank_bm25 is not recall: libraries weight frequent words differently."""
    answers = outcome.answers["ids"]
    return [
        name,
        answers.times.p50,
        answers.times.p95,
        recall(answers.found, expected),
        outcome.resident_mib,
        outcome.build_s,
        outcome.open_s,
    ]


def add_adding(report: Report, texts: list[str]) -> None:
    """Cost of adding passages: this index is updated, the others are rebuilt."""
    from storage.keywords.keyword_index import KeywordIndex

    with tempfile.TemporaryDirectory() as folder:
        build_footnote(texts, Path(folder))
        some = [(f"new {row}", text) for row, text in enumerate(texts[:ADDED])]
        index = KeywordIndex(Path(folder))
        taken = seconds(lambda: index.add(some))
    report.add(f"adding {len(some)} passages to {len(texts):,}, one commit", taken * 1000, "ms")


def seconds(action: Callable[[], Any]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
