"""Keyword search: the index on disk against rank_bm25, which LangChain's BM25Retriever uses.

Both get the same tokens and the time of making the question's tokens counts for both. The
passages are those of the labelled set `mtrag_cloud` where it is there (FOOTNOTE_EVAL_DATA or
../shared/data), else made-up words with Zipf's frequencies.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from benchmarks.afresh import EVAL_DATA, ROOT
from benchmarks.measure import Report, compare
from evaluation.datasets import load_labelled_set
from language.tokens import keyword_tokens
from storage.keyword_index import KeywordIndex

LABELLED = "mtrag_cloud"
K = 10
ADDED = 256
PASSAGE_WORDS, QUESTION_WORDS = 120, 8
VOCABULARY = 30_000
FOOTNOTE, PEER = "Footnote", "rank_bm25"
SMALL = {"passages": 300, "queries": 5, "made_up": True}

Search = Callable[[str], list[int]]


def measure(
    *,
    cache: str,  # noqa: ARG001  # every part is called alike
    passages: int = 10_000,
    queries: int = 188,
    made_up: bool = False,
) -> Report:
    folder = None if made_up else labelled_folder()
    texts, questions = zipf(passages, queries) if folder is None else labelled(folder)
    texts, questions = texts[:passages], questions[:queries]
    origin = "made-up words with Zipf's frequencies" if folder is None else f"set {LABELLED}"
    report = Report(
        "Keyword search",
        f"{len(texts):,} passages ({origin}), {len(questions)} questions twice, best {K}, the "
        "same tokens, ids without texts, one thread each",
    )
    with tempfile.TemporaryDirectory() as place:
        compare_searches(report, Path(place), texts, questions)
    return report


def labelled_folder() -> Path | None:
    folder = Path(os.environ.get(EVAL_DATA, ROOT.parent / "shared" / "data")) / LABELLED
    return folder if folder.exists() else None


def labelled(folder: Path) -> tuple[list[str], list[str]]:
    found = load_labelled_set(folder)
    texts = [f"{title}\n{text}".strip() for title, text in found.corpus.values()]
    return texts, [question.text for question in found.questions]


def zipf(passages: int, queries: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()

    def texts(count: int, words: int) -> list[str]:
        drawn = rng.choice(VOCABULARY, size=(count, words), p=weights)
        return [" ".join(f"w{number}" for number in row) for row in drawn]

    return texts(passages, PASSAGE_WORDS), texts(queries, QUESTION_WORDS)


def compare_searches(report: Report, place: Path, texts: list[str], questions: list[str]) -> None:
    index = KeywordIndex(place)
    building = seconds(lambda: index.add([(str(n), text) for n, text in enumerate(texts)]))
    tokens = [keyword_tokens(text) for text in texts]
    peer = BM25Okapi(tokens, k1=1.2, b=0.75)
    searches: dict[str, Search] = {
        FOOTNOTE: lambda question: [int(id_) for id_, _ in index.search(question, K)],
        PEER: lambda question: by_peer(peer, question),
    }
    times = compare(searches, questions)
    report.ratio(f"{PEER} / {FOOTNOTE}, p50", times[PEER].p50 / times[FOOTNOTE].p50)
    report.ratio(f"{PEER} / {FOOTNOTE}, p95", times[PEER].p95 / times[FOOTNOTE].p95)
    report.ratio(f"share of the best {K} in common", agreement(searches, questions), "")
    some = [(f"new {n}", text) for n, text in enumerate(texts[:ADDED])]
    adding = seconds(lambda: index.add(some))
    again = seconds(lambda: BM25Okapi(tokens + [keyword_tokens(text) for _, text in some]))
    report.ratio(f"adding {len(some)} passages: {PEER} (made again) / {FOOTNOTE}", again / adding)
    for name, each in times.items():
        report.add(f"{name}, p50", each.p50, "ms")
        report.add(f"{name}, p95", each.p95, "ms")
    report.add(f"{FOOTNOTE}, making the index, tokens included", building, "s")
    report.add(f"{FOOTNOTE}, adding {len(some)} passages, one commit", adding * 1000, "ms")


def by_peer(peer: BM25Okapi, question: str) -> list[int]:
    scores = peer.get_scores(keyword_tokens(question))
    k = min(K, len(scores))
    places = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    ordered = places[np.argsort(-scores[places])]
    return [place for place in ordered.tolist() if scores[place] > 0]


def agreement(searches: dict[str, Search], questions: list[str]) -> float:
    """How much of the peer's best is in ours too; the two weigh rare words differently."""
    shares = []
    for question in questions:
        wanted = set(searches[PEER](question))
        if wanted:
            shares.append(len(wanted & set(searches[FOOTNOTE](question))) / len(wanted))
    return float(np.mean(shares))


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
