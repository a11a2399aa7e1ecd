"""The rankers: each gives passage ids with scores for a question, best first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from langchain_core.vectorstores import VectorStore

from domain import Filter, Normalisation, SearchMode
from language.script import script_of
from retrievers.fusion import RRF_C, check_weights, combine_convex, fuse_reciprocal_ranks
from retrievers.hits import Hit, Scored, hits_of, scored


class Ranker(Protocol):
    """Ranks passages for a question."""

    def __call__(self, question: str, depth: int, condition: Filter | None, /) -> list[Hit]:
        """At most `depth` hits that satisfy `condition`, best first."""
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

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        if self.known_scripts is not None and script_of(question) not in {
            *self.known_scripts,
            "none",
        }:
            return []
        return hits_of("dense", _DENSE_SEARCHES[self.mode](self, question, depth, condition))

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

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        allowed = self.matching(condition).__contains__ if condition else None
        return hits_of("bm25", self.index.search(question, depth, allowed))


@dataclass(frozen=True)
class EnsembleRanker:
    """Fuses any number of rankers, by name, by weighted reciprocal rank.

    Each is ranked `candidates` deep, or as deep as is asked for if that is more.

    Raises:
        ValueError: There are not as many weights as rankers, or one is negative.
    """

    rankers: Mapping[str, Ranker]
    weights: Sequence[float] | None = None
    candidates: int = 100
    c: float = RRF_C

    def __post_init__(self) -> None:
        check_weights(self.weights, len(self.rankers))

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`. A ranker that finds nothing takes no part."""
        deep = max(depth, self.candidates)
        lists = {
            name: scored(rank(question, deep, condition)) for name, rank in self.rankers.items()
        }
        return fuse_reciprocal_ranks(lists, weights=self.weights, c=self.c, limit=depth)


@dataclass(frozen=True)
class ConvexRanker:
    """Fuses a dense and a sparse ranker by the convex combination of their scores.

    Raises:
        ValueError: `dense_weight` is outside [0, 1].
    """

    dense: Ranker
    sparse: Ranker
    dense_weight: float = 0.5
    candidates: int = 100
    normalisation: Normalisation = Normalisation.MIN_MAX

    def __post_init__(self) -> None:
        if not 0 <= self.dense_weight <= 1:
            raise ValueError(f"dense_weight must be in [0, 1], got {self.dense_weight}")

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        deep = max(depth, self.candidates)
        return combine_convex(
            scored(self.dense(question, deep, condition)),
            scored(self.sparse(question, deep, condition)),
            dense_weight=self.dense_weight,
            normalisation=self.normalisation,
            limit=depth,
        )
