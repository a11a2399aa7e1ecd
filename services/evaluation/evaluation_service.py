"""Measures search and answers on a labeled set, using the same parts as the product."""

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage

from chains.extractive.extractive_answerer import ExtractiveAnswerer
from domain import COMPARED_MODES, Normalization, Progress, SearchMode, Stage
from domain.errors import InputError
from domain.messages import _
from models.embedding_choice import EmbeddingSpec, is_calibrated, known_scripts
from retrievers.passage_retrievers import PassageRetriever
from retrievers.rankers import Hit, Scored, combine_convex, fuse_reciprocal_ranks, scored
from retrievers.rerank import Reranking
from services.chat.chain_builder import ChainBuilder
from services.evaluation.answer_evaluation import ARTICLE, PASSAGE, AnswerEvaluation
from services.evaluation.datasets import LabeledQuestion, LabeledSet, load_labeled_set
from services.evaluation.metrics import Figures, ndcg, recall
from services.imports.index_writer import searchable_text
from services.long_work import OnProgress
from services.search.ranking import OpenIndex, build_ranker
from services.search.search_service import NO_RERANKER, RankingOptions
from storage.base_store import IndexStore, NewPassage
from storage.index_stores import IndexStores
from storage.ledger.database import in_groups
from storage.ledger.index_store import IndexSpec, IndexState, new_index
from storage.opensearch.search_cluster import SearchCluster

DEPTHS = (20, 50, 100, 200)
WEIGHTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
RANK_WEIGHTS = (0.3, 0.5, 0.7)

Fuse = Callable[[Sequence[Scored], Sequence[Scored]], list[Hit]]


def sweep_parameters(
    index: OpenIndex, questions: Sequence[LabeledQuestion], texts: Sequence[str]
) -> list[Figures]:
    """Measure the mean nDCG@10 of each of the `fusion_settings`, in order.

    Each question is ranked only once by each ranker, to the depth of the deepest setting. The
    settings then fuse the beginnings of these lists.
    """
    options = RankingOptions(candidates=max(DEPTHS))
    dense = build_ranker(SearchMode.SIMILARITY, index, options)
    sparse = build_ranker(SearchMode.BM25, index, options)
    lists = [
        (scored(dense(text, max(DEPTHS), None)), scored(sparse(text, max(DEPTHS), None)))
        for text in texts
    ]
    rows: list[Figures] = []
    for name, fuse in fusion_settings():
        pairs = zip(lists, questions, strict=True)
        quality = fmean(_quality(fuse(*two), question) for two, question in pairs)
        rows.append({"setting": name, "ndcg_at_10": quality, "queries": len(questions)})
    return rows


def fusion_settings() -> Iterator[tuple[str, Fuse]]:
    """The settings of the parameter sweep, each with its name: single lists, then fusions."""
    yield "similarity", lambda dense, _sparse: _alone(dense)
    yield "bm25", lambda _dense, sparse: _alone(sparse)
    for depth, weight in product(DEPTHS, RANK_WEIGHTS):
        yield f"ensemble depth={depth} dense_weight={weight}", _by_rank(depth, weight)
    for how, depth, weight in product(Normalization, DEPTHS, WEIGHTS):
        yield f"convex {how} depth={depth} dense_weight={weight}", _by_score(how, depth, weight)


def _alone(ranking: Sequence[Scored]) -> list[Hit]:
    return fuse_reciprocal_ranks({"alone": ranking}, limit=10)


def _by_rank(depth: int, weight: float) -> Fuse:
    return lambda dense, sparse: fuse_reciprocal_ranks(
        {"dense": dense[:depth], "bm25": sparse[:depth]}, weights=[weight, 1 - weight], limit=10
    )


def _by_score(how: Normalization, depth: int, weight: float) -> Fuse:
    return lambda dense, sparse: combine_convex(
        dense[:depth], sparse[:depth], dense_weight=weight, normalization=how, limit=10
    )


def _quality(hits: Sequence[Hit], question: LabeledQuestion) -> float:
    return ndcg([hit.id for hit in hits], question.relevance, 10)


BATCH = 256
ADDED_AT_ONCE = 16_384
"""Passages per commit, of which each takes time; their vectors are in memory."""
MEASURED = 10
"""Number of passages retrieved per question; no figure depends on more."""
QUERIES = ("last", "history", "condensed", "rewrite")


@dataclass(frozen=True)
class EvaluationService:
    """Measures search modes and the extractive answerer on labeled sets.

    `chains` condenses follow-ups as in the product.
    """

    embeddings: Embeddings
    embedding: EmbeddingSpec
    options: RankingOptions
    top_k: int
    chains: ChainBuilder
    spec: IndexSpec
    """Where the index of a labeled set is stored, until it is measured: like the library's."""
    cluster: SearchCluster | None = None
    reranking: Reranking | None = None

    def measure_search(
        self,
        folder: Path,
        modes: Sequence[SearchMode] | None,
        queries: str = "last",
        sample: int | None = None,
        *,
        rerank: bool = False,
        on_progress: OnProgress,
    ) -> list[Figures]:
        """Measure nDCG@10, Recall@5, Recall@10, and milliseconds per query, a row for each mode.

        The time includes embedding the question and searching, but not condensing.

        Args:
            folder: The labeled set.
            modes: The search modes; `COMPARED_MODES` if None or empty.
            queries: The text to search for: the question as typed (`last`), all earlier turns
                followed by the question (`history`), the question condensed with its history
                (`condensed`), or a person's rewrite (`rewrite`).
            sample: Number of questions to choose randomly (with a fixed seed); None for all.
            rerank: Rerank the results of each mode by title and text.
            on_progress: Called with the progress of indexing.

        Raises:
            InputError: The folder can't be read, none of its questions has a judged passage,
                `queries` is not one of these four, or `rerank` is set without a reranker.
        """
        if rerank and self.reranking is None:
            raise InputError(NO_RERANKER)
        with self._prepare(folder, queries, sample, on_progress) as (index, questions, texts):
            return [
                _measure(mode, self._make_search(mode, index, rerank), questions, texts)
                for mode in modes or COMPARED_MODES
            ]

    def _make_search(
        self, mode: SearchMode, index: OpenIndex, rerank: bool
    ) -> Callable[[str], list[str]]:
        rank = build_ranker(mode, index, self.options)
        if not rerank or self.reranking is None:
            return lambda text: [hit.id for hit in rank(text, MEASURED, None)]
        base = PassageRetriever(rank=rank, hydrate=index.passages.get_by_ids, k=MEASURED)
        reranked = self.reranking.over(base, MEASURED)
        return lambda text: [passage.id or "" for passage in reranked.invoke(text)]

    def measure_parameter_sweep(
        self,
        folder: Path,
        queries: str = "last",
        sample: int | None = None,
        *,
        on_progress: OnProgress,
    ) -> list[Figures]:
        """Measure nDCG@10 of each of the `fusion_settings`, a row for each, best first.

        Raises:
            InputError: As for `measure_search`.
        """
        with self._prepare(folder, queries, sample, on_progress) as (index, questions, texts):
            rows = sweep_parameters(index, questions, texts)
        return sorted(rows, key=itemgetter("ndcg_at_10"), reverse=True)

    def measure_answers(
        self, folder: Path, sample: int | None = None, *, on_progress: OnProgress
    ) -> Figures:
        """Measure how often the answerer is right, refuses to answer, or answers without evidence.

        See `services.evaluation.answer_evaluation`.

        Raises:
            InputError: The set has no reference answers.
        """
        labeled = load_labeled_set(folder)
        questions = [question for question in labeled.questions if question.answers]
        if not questions:
            raise InputError(_("{folder} contains no reference answers").format(folder=folder))
        with self._index(labeled, on_progress) as index:
            rank = build_ranker(SearchMode.CONVEX, index, self.options)
            answerer = self.make_answerer(index)
            evaluation = AnswerEvaluation(labeled, index.passages, rank, answerer, self.top_k)
            return evaluation.figures(_sample(questions, sample))

    def make_answerer(self, index: OpenIndex) -> ExtractiveAnswerer:
        """Create the answerer that needs no chat model; sentence vectors come from the cache."""
        return ExtractiveAnswerer(index.idf, self.embeddings, knows_meaning=index.is_calibrated)

    @contextmanager
    def _prepare(
        self, folder: Path, queries: str, sample: int | None, on_progress: OnProgress
    ) -> Iterator[tuple[OpenIndex, list[LabeledQuestion], list[str]]]:
        """The index of the set, the questions, and the text to search for each question."""
        if queries not in QUERIES:  # fail before indexing, which takes minutes
            raise InputError(
                _("--queries must be last, history, condensed, or rewrite, not {queries}").format(
                    queries=queries
                )
            )
        labeled = load_labeled_set(folder)
        if not labeled.questions:
            raise InputError(
                _("{folder} contains no question with a judged passage").format(folder=folder)
            )
        with self._index(labeled, on_progress) as index:
            questions = _sample(labeled.questions, sample)
            yield index, questions, [self._query(one, queries, index) for one in questions]

    def _query(self, question: LabeledQuestion, queries: str, index: OpenIndex) -> str:
        if queries == "last":
            return question.text
        if queries == "rewrite":
            return question.rewrite or question.text
        if queries == "condensed":
            return self._condense(question, index)
        return "\n".join([text for _, text in question.history] + [question.text])

    def _condense(self, question: LabeledQuestion, index: OpenIndex) -> str:
        if not question.history:
            return question.text
        history = [
            HumanMessage(text) if role == "user" else AIMessage(text)
            for role, text in question.history
        ]
        model = self.chains.models.answering_model().model
        condenser = self.chains.condenser(model, index.idf)
        return condenser.invoke({"question": question.text, "chat_history": history})

    @contextmanager
    def _index(self, labeled: LabeledSet, on_progress: OnProgress) -> Iterator[OpenIndex]:
        index = new_index(self.spec, IndexState.BUILDING)
        with tempfile.TemporaryDirectory(prefix="footnote-evaluate-") as folder:
            stores = IndexStores(Path(folder), self._model, self.cluster)
            store = stores.create(index)
            try:
                self._fill(store, labeled, on_progress)
                yield OpenIndex(
                    store.passages,
                    store.words(),  # for all questions: the index is complete
                    known_scripts(self.embedding),
                    is_calibrated(self.embedding),
                )
            finally:
                stores.delete(index)

    def _fill(self, store: IndexStore, labeled: LabeledSet, on_progress: OnProgress) -> None:
        passages = [
            _new_passage(item, title, text) for item, (title, text) in labeled.corpus.items()
        ]
        done = 0
        for group in in_groups(passages, ADDED_AT_ONCE):
            vectors = []
            for batch in in_groups(group, BATCH):
                vectors += self.embeddings.embed_documents([one.text for one in batch])
                done += len(batch)
                on_progress(Progress(Stage.INDEXING, done, len(passages)))
            store.add(group, np.array(vectors, dtype=np.float32))

    def _model(self, _embedding: Mapping[str, Any]) -> Embeddings:
        return self.embeddings


def _new_passage(item: str, title: str, text: str) -> NewPassage:
    whole = searchable_text(title, (), text)
    return NewPassage(item, whole, {PASSAGE: item, ARTICLE: title}, whole)


def _sample(questions: list[LabeledQuestion], sample: int | None) -> list[LabeledQuestion]:
    if sample is None or sample >= len(questions):
        return questions
    return random.Random(0).sample(questions, sample)  # noqa: S311  # a seeded sample, not a secret


def _measure(
    mode: SearchMode,
    search: Callable[[str], list[str]],
    questions: Sequence[LabeledQuestion],
    texts: Sequence[str],
) -> Figures:
    started = time.perf_counter()
    rankings = [search(text) for text in texts]
    seconds = time.perf_counter() - started
    relevance = [question.relevance for question in questions]

    def mean(figure: Callable[..., float], k: int) -> float:
        return fmean(
            figure(ranking, grades, k) for ranking, grades in zip(rankings, relevance, strict=True)
        )

    return {
        "mode": mode.value,
        "queries": len(questions),
        "ndcg_at_10": mean(ndcg, 10),
        "recall_at_5": mean(recall, 5),
        "recall_at_10": mean(recall, 10),
        "ms_per_query": 1000 * seconds / len(questions),
    }
