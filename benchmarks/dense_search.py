"""Dense search: the store against a plain NumPy product, which is the bound, and FAISS flat.

All use the same vectors and one thread each. The vectors are generated (points around random
centers); exact search costs the same for any vectors, but recall by codes applies to these only.
"""

import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import DeterministicFakeEmbedding

from benchmarks.contest import wait_for
from benchmarks.measure import Report, Times, compare, resident_mib
from storage.vectors.passage_store import DeepLakePassages
from storage.vectors.vector_index import VectorIndex

Vectors = npt.NDArray[np.float32]
Search = Callable[[Vectors], list[int]]

DIMENSION = 384
K = 20
CANDIDATES = 100
GROUPS = 100
WRITE_AT_ONCE = 4096
TEXT = "A passage of the usual length. " * 24
NUMPY, VECDOT, FAISS = "NumPy product", "NumPy vecdot", "FAISS flat"
IDS, STORE, DEEP = "Footnote, ids", "Footnote, texts", f"Footnote, {CANDIDATES} texts"
SMALL = {"sizes": [500], "index_only": 1_000, "queries": 5}


def measure(
    *,
    cache: str,  # noqa: ARG001  # every part is called alike
    sizes: Sequence[int] = (10_000, 100_000),
    index_only: int = 1_000_000,
    queries: int = 200,
) -> Report:
    report = Report(
        "Dense search",
        f"{DIMENSION} dimensions, top {K}, {queries} queries twice, one thread each, warm; "
        f'"ids" is the search in memory, "texts" also reads texts and metadata of the top {K} '
        f'(or {CANDIDATES}) from Deep Lake; the filter of "filtered" matches 1 % of the passages',
    )
    faiss.omp_set_num_threads(1)
    for size in sizes:
        vectors, questions = made_up(size, queries)
        with tempfile.TemporaryDirectory() as folder:
            store = filled_store(Path(folder), vectors)
            compare_searches(report, f"{size:,}", vectors, questions, store)
    measure_index(report, index_only, min(queries, 100))
    return report


def measure_index(report: Report, size: int, queries: int) -> None:
    """The in-memory index alone: filling a store of that size would take minutes."""
    vectors, questions = made_up(size, queries)
    before = resident_mib()
    index = index_of(vectors)
    begin(index, questions[0])
    matrix = vectors.nbytes / 1024 / 1024
    report.ratio(f"{size:,}: index / its vectors in memory", (resident_mib() - before) / matrix)
    searches: dict[str, Search] = {
        VECDOT: partial(by_vecdot, vectors),
        IDS: lambda question: by_index(index, question, None),
    }
    times = compare(searches, list(questions))
    report.ratio(f"{size:,}: {IDS} / {VECDOT}", times[IDS].p50 / times[VECDOT].p50)
    found = recall(searches[IDS], vectors, questions, None)
    report.ratio(f"{size:,}: recall@{K} of Footnote against exact", found, "")
    for name, each in times.items():
        add_times(report, f"{size:,}: {name}", each)


def index_of(vectors: Vectors) -> VectorIndex:
    mask = np.ones(len(vectors), dtype=np.bool_)
    return VectorIndex.load(lambda start, stop: vectors[start:stop], DIMENSION, mask)


def made_up(size: int, queries: int) -> tuple[Vectors, Vectors]:
    """Unit vectors around random centers, and queries near some of them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(1, size // 50), DIMENSION), dtype=np.float32)
    vectors = centres[rng.integers(len(centres), size=size)]
    vectors += 0.7 * rng.standard_normal(vectors.shape, dtype=np.float32)
    questions = vectors[rng.integers(size, size=queries)]
    questions = questions + 0.7 * rng.standard_normal(questions.shape, dtype=np.float32)
    return unit(vectors), unit(questions)


def unit(vectors: Vectors) -> Vectors:
    scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def filled_store(folder: Path, vectors: Vectors) -> DeepLakePassages:
    store = DeepLakePassages(folder, DeterministicFakeEmbedding(size=DIMENSION))
    for start in range(0, len(vectors), WRITE_AT_ONCE):
        rows = range(start, min(start + WRITE_AT_ONCE, len(vectors)))
        store.add_vectors(
            [str(row) for row in rows],
            [f"{row}: {TEXT}" for row in rows],
            vectors[rows.start : rows.stop],
            [{"group": row % GROUPS, "title": f"Document {row // 10}"} for row in rows],
        )
    return store


def begin(index: VectorIndex, question: Vectors) -> None:
    """Search once and wait for the background work that this starts."""
    others = set(threading.enumerate())
    index.search(question, K)
    wait_for(set(threading.enumerate()) - others)


def compare_searches(
    report: Report, size: str, vectors: Vectors, questions: Vectors, store: DeepLakePassages
) -> None:
    flat = faiss.IndexFlatIP(DIMENSION)
    flat.add(vectors)
    index = index_of(vectors)
    begin(index, questions[0])
    plain: dict[str, Search] = {
        NUMPY: partial(by_product, vectors),
        VECDOT: partial(by_vecdot, vectors),
        FAISS: lambda question: by_faiss(flat, question, None),
        IDS: lambda question: by_index(index, question, None),
        STORE: partial(by_store, store, K, None),
        DEEP: partial(by_store, store, CANDIDATES, None),
    }
    compare_under(report, size, plain, vectors, questions)
    allowed = np.arange(len(vectors)) % GROUPS == 7
    selector = only(allowed)
    filtered: dict[str, Search] = {
        NUMPY: partial(by_gathered_product, vectors, allowed),
        FAISS: lambda question: by_faiss(flat, question, selector),
        IDS: lambda question: by_index(index, question, allowed),
        STORE: partial(by_store, store, K, {"group": 7}),
    }
    compare_under(report, f"{size} filtered", filtered, vectors, questions, allowed)


def compare_under(
    report: Report,
    size: str,
    searches: dict[str, Search],
    vectors: Vectors,
    questions: Vectors,
    allowed: npt.NDArray[np.bool_] | None = None,
) -> None:
    times = compare(searches, list(questions))
    for name in (IDS, STORE, DEEP):
        if name in times:
            report.ratio(f"{size}: {name} / {NUMPY}", times[name].p50 / times[NUMPY].p50)
    for name in (IDS, STORE):
        report.ratio(f"{size}: {name} / {FAISS}", times[name].p50 / times[FAISS].p50)
    found = recall(searches[STORE], vectors, questions, allowed)
    report.ratio(f"{size}: recall@{K} of Footnote against exact", found, "")
    for name, each in times.items():
        add_times(report, f"{size}: {name}", each)


def add_times(report: Report, name: str, times: Times) -> None:
    report.add(f"{name}, p50", times.p50, "ms")
    report.add(f"{name}, p95", times.p95, "ms")


def by_product(vectors: Vectors, question: Vectors) -> list[int]:
    found: list[int] = best(vectors @ question).tolist()
    return found


def by_vecdot(vectors: Vectors, question: Vectors) -> list[int]:
    """The same product, row by row instead of by the matrix routine."""
    found: list[int] = best(np.vecdot(vectors, question)).tolist()
    return found


def by_gathered_product(
    vectors: Vectors, allowed: npt.NDArray[np.bool_], question: Vectors
) -> list[int]:
    places = np.flatnonzero(allowed)
    found: list[int] = places[best(vectors[places] @ question)].tolist()
    return found


def best(scores: Vectors) -> Any:
    k = min(K, len(scores))
    places = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return places[np.argsort(-scores[places])]


def by_faiss(flat: Any, question: Vectors, selector: Any) -> list[int]:
    found: list[int] = flat.search(question[np.newaxis], K, params=selector)[1][0].tolist()
    return found


def only(allowed: npt.NDArray[np.bool_]) -> Any:
    """FAISS's form of a filter."""
    peer: Any = faiss  # its stubs show the C++ signatures
    bits = np.packbits(allowed, bitorder="little")
    return peer.SearchParameters(sel=peer.IDSelectorBitmap(bits))


def by_index(
    index: VectorIndex, question: Vectors, allowed: npt.NDArray[np.bool_] | None
) -> list[int]:
    return [row for row, _ in index.search(question, K, allowed)]


def by_store(
    store: DeepLakePassages, k: int, condition: dict[str, Any] | None, question: Vectors
) -> list[int]:
    found = store.similarity_search_with_score_by_vector(question.tolist(), k, filter=condition)
    return [int(document.id or -1) for document, _ in found]


def recall(
    search: Search, vectors: Vectors, questions: Vectors, allowed: npt.NDArray[np.bool_] | None
) -> float:
    """Recall against the nearest vectors by the exact product."""
    places = np.arange(len(vectors)) if allowed is None else np.flatnonzero(allowed)
    candidates = vectors if allowed is None else vectors[places]
    shares = []
    for question in questions:  # one at a time: all scores together would need gigabytes
        nearest = set(places[best(np.vecdot(candidates, question))].tolist())
        shares.append(len(set(search(question)) & nearest) / len(nearest))
    return float(np.mean(shares))
