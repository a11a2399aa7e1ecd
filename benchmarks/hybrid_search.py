"""Hybrid search against LangChain's EnsembleRetriever over a BM25Retriever and a vector store.

Both fuse the best passages of both kinds by reciprocal rank. Embedding the question is excluded
for both: its vector is given.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import keyword_search
from benchmarks.contest import Contender, Outcome, Searches, contest_by_size
from benchmarks.measure import Report
from benchmarks.our_store import QUESTIONS, VECTORS, QueryVector

K = 20
DEPTH = 100
FOOTNOTE, PEER = "Footnote", "EnsembleRetriever"
SMALL = {"sizes": [300], "queries": 5, "made_up": True, "apart": False}
COLUMNS = [
    "",
    "p50 ms",
    "p95 ms",
    "convex, p50 ms",
    "with texts, p50 ms",
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
    report = Report("Hybrid search", "")
    prepare_inputs = partial(prepare, queries=queries, made_up=made_up)
    shown = contest_by_size(__name__, report, sizes, prepare_inputs, apart=apart, budget_s=budget_s)
    for size, report.about, outcomes in shown:
        add_outcomes(report, size, outcomes)
    report.about += (
        f", asked twice or for up to {budget_s:.0f} s; synthetic vectors, including the "
        f"question's; top {DEPTH} by words and by vectors, fused by reciprocal rank (or by convex "
        f"combination), top {K} of the result; one core; {PEER} always has the texts"
    )
    return report


def prepare(place: Path, size: int, queries: int, made_up: bool) -> str:
    """Write texts, vectors, and questions; returns their description."""
    from benchmarks import dense_search  # not in the contenders' processes: memory counts

    about, _ = keyword_search.prepare(place, size, queries, made_up)
    vectors, near = dense_search.made_up(size, len(keyword_search.questions(place)))
    np.save(place / VECTORS, vectors)
    np.save(place / QUESTIONS, near)
    return about


def inputs(place: Path) -> tuple[list[str], Any]:
    return keyword_search.inputs(place), np.load(place / VECTORS)


def questions(place: Path) -> list[tuple[str, Any]]:
    return list(zip(keyword_search.questions(place), np.load(place / QUESTIONS), strict=True))


def build_footnote(inputs: tuple[list[str], Any], folder: Path) -> None:
    from benchmarks.our_store import fill_footnote

    texts, vectors = inputs
    fill_footnote(folder / "passages", vectors, texts)
    keyword_search.build_footnote(texts, folder / "keywords")


def open_footnote(_place: Path, folder: Path) -> Searches:
    from domain import SearchMode
    from retrievers.rankers import Ranker
    from services.search.ranking import OpenIndex, RankingOptions, build_ranker
    from storage.keywords.filtered_keywords import FilteredKeywords
    from storage.keywords.keyword_index import KeywordIndex
    from storage.vectors.passage_store import DeepLakePassages

    embedding = QueryVector()
    store = DeepLakePassages(folder / "passages", embedding)
    index = OpenIndex(store, FilteredKeywords(KeywordIndex(folder / "keywords"), store))
    fuse, combine = (
        build_ranker(mode, index, RankingOptions(candidates=DEPTH))
        for mode in (SearchMode.ENSEMBLE, SearchMode.CONVEX)
    )

    def ids(question: tuple[str, Any], rank: Ranker = fuse) -> list[int]:
        words, embedding.vector = question
        return [int(hit.id) for hit in rank(words, K, None)]

    def texts(question: tuple[str, Any]) -> list[int]:
        passages = store.get_by_ids([str(row) for row in ids(question)])
        return [int(document.id or -1) for document in passages]

    return {"ids": ids, "convex": lambda question: ids(question, combine), "texts": texts}


def open_langchain(place: Path, _folder: Path) -> Searches:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever

    from benchmarks.peers import in_memory_store
    from domain.language.tokens import keyword_tokens

    texts, vectors = inputs(place)
    embedding = QueryVector()
    dense = in_memory_store(embedding, vectors, texts).as_retriever(search_kwargs={"k": DEPTH})
    numbers = [{"row": row} for row in range(len(texts))]
    sparse = BM25Retriever.from_texts(texts, numbers, preprocess_func=keyword_tokens, k=DEPTH)
    both = EnsembleRetriever(retrievers=[dense, sparse], id_key="row")

    def search(question: tuple[str, Any]) -> list[int]:
        words, embedding.vector = question
        return [document.metadata["row"] for document in both.invoke(words)[:K]]

    return {"ids": search}


CONTENDERS = {
    FOOTNOTE: Contender(open_footnote, build_footnote, in_background=True),
    PEER: Contender(open_langchain, package="langchain_classic"),
}


def add_outcomes(report: Report, size: int, outcomes: dict[str, Outcome]) -> None:
    rows = [row_of(name, outcome) for name, outcome in outcomes.items()]
    report.table(f"{report.title}, {size:,} passages", COLUMNS, rows)
    own_p50, peer_p50 = (outcomes[name].answers["ids"].times.p50 for name in (FOOTNOTE, PEER))
    report.ratio(f"{size:,}: {PEER} / {FOOTNOTE}, p50", peer_p50 / own_p50)


def row_of(name: str, outcome: Outcome) -> list[str | float | None]:
    ids, convex, texts = (outcome.answers.get(kind) for kind in ("ids", "convex", "texts"))
    with_texts = texts or ids  # LangChain always returns them
    return [
        name,
        ids.times.p50,
        ids.times.p95,
        convex.times.p50 if convex else None,
        with_texts.times.p50,
        outcome.resident_mib,
        outcome.build_s,
        outcome.open_s,
    ]
