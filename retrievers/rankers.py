"""The rankers: each gives passage ids with scores for a question, best first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from langchain_core.vectorstores import VectorStore

from domain import Filter, SearchMode
from language.script import script_of
from retrievers.fusion import Scored, combine_convex, fuse_reciprocal_ranks


class Ranker(Protocol):
    """Ranks passages for a question."""

    def __call__(self, question: str, depth: int, condition: Filter | None, /) -> list[Scored]:
        """At most `depth` pairs `(passage id, score)` that satisfy `condition`, best first."""
        ...


class SearchesKeywords(Protocol):
    """The part of a keyword index that ranking needs."""

    def search(
        self, query: str, k: int, allowed: Callable[[str], bool] | None = None
    ) -> list[Scored]:
        """At most `k` pairs `(passage id, BM25 score above 0)`, best first."""
        ...


@dataclass(frozen=True)
class DenseRanker:
    """Ranks by the vectors: cosine similarity, relevance above a threshold, or MMR.

    A question in a script the embedding model does not know (`known_scripts`; None knows
    all) ranks nothing: its vector would be noise, and no fusion protects from a bad list.
    MMR scores fall with the rank, 1 / rank.

    Raises:
        ValueError: `mode` is not one of the three dense modes.
    """

    store: VectorStore
    mode: SearchMode = SearchMode.SIMILARITY
    known_scripts: frozenset[str] | None = None
    score_threshold: float = 0.0
    lambda_mult: float = 0.5

    def __post_init__(self) -> None:
        if self.mode not in _DENSE_SEARCHES:
            names = ", ".join(_DENSE_SEARCHES)
            raise ValueError(f"{self.mode!r} is not a dense search mode ({names})")

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        """See `Ranker`."""
        if self.known_scripts is not None and script_of(question) not in {
            *self.known_scripts,
            "none",
        }:
            return []
        return _DENSE_SEARCHES[self.mode](self, question, depth, condition)

    def _by_similarity(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        hits = self.store.similarity_search_with_score(question, k=depth, filter=condition)
        return [(hit.id or "", float(score)) for hit, score in hits]

    def _by_threshold(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        hits = self.store.similarity_search_with_relevance_scores(
            question, k=depth, filter=condition
        )
        return [(hit.id or "", score) for hit, score in hits if score >= self.score_threshold]

    def _by_marginal_relevance(
        self, question: str, depth: int, condition: Filter | None
    ) -> list[Scored]:
        hits = self.store.max_marginal_relevance_search(
            question,
            k=depth,
            fetch_k=max(20, 4 * depth),
            lambda_mult=self.lambda_mult,
            filter=condition,
        )
        return [(hit.id or "", 1 / rank) for rank, hit in enumerate(hits, start=1)]


_DENSE_SEARCHES: dict[SearchMode, Callable[..., list[Scored]]] = {
    SearchMode.SIMILARITY: DenseRanker._by_similarity,
    SearchMode.SIMILARITY_SCORE_THRESHOLD: DenseRanker._by_threshold,
    SearchMode.MMR: DenseRanker._by_marginal_relevance,
}


@dataclass(frozen=True)
class KeywordRanker:
    """Ranks by BM25; a question whose words occur nowhere ranks nothing.

    `matching` gives the ids of all passages that satisfy a condition.
    """

    index: SearchesKeywords
    matching: Callable[[Filter], set[str]]

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        """See `Ranker`."""
        if not condition:
            return self.index.search(question, depth)
        return self.index.search(question, depth, self.matching(condition).__contains__)


@dataclass(frozen=True)
class EnsembleRanker:
    """Fuses any number of rankers by weighted reciprocal rank, each `candidates` deep."""

    rankers: Sequence[Ranker]
    weights: Sequence[float] | None = None
    candidates: int = 100

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        """See `Ranker`. A ranker that finds nothing takes no part."""
        deep = max(depth, self.candidates)
        lists = [[item for item, _ in rank(question, deep, condition)] for rank in self.rankers]
        return fuse_reciprocal_ranks(lists, weights=self.weights)[:depth]


@dataclass(frozen=True)
class ConvexRanker:
    """Fuses a dense and a sparse ranker by the convex combination of their scores."""

    dense: Ranker
    sparse: Ranker
    dense_weight: float = 0.5
    candidates: int = 100

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        """See `Ranker`."""
        deep = max(depth, self.candidates)
        return combine_convex(
            self.dense(question, deep, condition),
            self.sparse(question, deep, condition),
            dense_weight=self.dense_weight,
        )[:depth]
