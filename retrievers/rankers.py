"""Rankers return passage ids with scores for a question, best first."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from domain import Filter, Normalization, SearchMode
from domain.language.script import script_family, script_of
from retrievers.fusion import (
    RRF_C,
    Hit,
    Scored,
    check_weights,
    combine_convex,
    fuse_reciprocal_ranks,
    hits_of,
    scored,
)


class Ranker(Protocol):
    """Ranks passages for a question."""

    def __call__(self, question: str, depth: int, condition: Filter | None, /) -> list[Hit]:
        """At most `depth` hits that satisfy `condition`, best first."""
        ...


class SearchesKeywords(Protocol):
    """The part of a keyword index that ranking needs."""

    def search(self, query: str, k: int, condition: Filter | None = None) -> list[Scored]:
        """At most `k` matching pairs `(passage id, BM25 score above 0)`, best first."""
        ...


class SearchesVectors(Protocol):
    """The part of a vector store that ranking needs: ids and cosines, no texts."""

    def similar_ids(self, query: str, k: int, *, filter: Filter | None = None) -> list[Scored]:
        """At most `k` pairs `(passage id, cosine)`, best first."""
        ...

    def diverse_ids(
        self,
        query: str,
        k: int,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter | None = None,
    ) -> list[Scored]:
        """At most `k` of the `fetch_k` most similar passages, in the order selected by MMR."""
        ...


@dataclass(frozen=True)
class DenseRanker:
    """Ranks by vectors: cosine similarity, cosine similarity above a threshold, or MMR.

    A question in a script that the embedding model can't read has no results, because its vector
    would be noise, and fusion does not protect against a bad list; `known_scripts` lists the
    readable scripts, or is None for all. MMR (Carbonell and Goldstein, SIGIR 1998) selects from
    `fetch_k` passages, or from four times `depth` if that is more, and scores by 1 / rank;
    `lambda_mult` (0 to 1) weighs similarity against diversity.

    Raises:
        ValueError: `mode` is not one of the three dense modes, or a number is out of range.
    """

    store: SearchesVectors
    mode: SearchMode = SearchMode.SIMILARITY
    known_scripts: frozenset[str] | None = None
    score_threshold: float = 0.0
    lambda_mult: float = 0.5
    fetch_k: int = 20

    def __post_init__(self) -> None:
        if self.mode not in _DENSE_SEARCHES:
            names = ", ".join(_DENSE_SEARCHES)
            raise ValueError(f"{self.mode!r} is not a dense search mode ({names})")
        if not 0 <= self.lambda_mult <= 1:
            raise ValueError(f"lambda_mult must be in [0, 1], got {self.lambda_mult}")
        if self.fetch_k < 1:
            raise ValueError(f"fetch_k must be at least 1, got {self.fetch_k}")

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        if self.known_scripts is not None and script_of(question) not in {
            *self.known_scripts,
            "none",
        }:
            return []
        return hits_of("dense", _DENSE_SEARCHES[self.mode](self, question, depth, condition))

    def _by_similarity(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        return self.store.similar_ids(question, depth, filter=condition)

    def _by_threshold(self, question: str, depth: int, condition: Filter | None) -> list[Scored]:
        near = self._by_similarity(question, depth, condition)
        return [(item, cosine) for item, cosine in near if cosine >= self.score_threshold]

    def _by_marginal_relevance(
        self, question: str, depth: int, condition: Filter | None
    ) -> list[Scored]:
        fetch_k = max(self.fetch_k, 4 * depth)
        selected = self.store.diverse_ids(
            question, depth, fetch_k, self.lambda_mult, filter=condition
        )
        return [(item, 1 / rank) for rank, (item, _) in enumerate(selected, start=1)]


_DENSE_SEARCHES: dict[SearchMode, Callable[..., list[Scored]]] = {
    SearchMode.SIMILARITY: DenseRanker._by_similarity,
    SearchMode.SIMILARITY_SCORE_THRESHOLD: DenseRanker._by_threshold,
    SearchMode.MMR: DenseRanker._by_marginal_relevance,
}


@dataclass(frozen=True)
class KeywordRanker:
    """Ranks by BM25."""

    index: SearchesKeywords

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        return hits_of("bm25", self.index.search(question, depth, condition))


@dataclass(frozen=True)
class EnsembleRanker:
    """Fuses any number of rankers, by name, by weighted reciprocal rank.

    Each contributes `candidates` hits, or `depth` if that is more.

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
        """See `Ranker`."""
        deep = max(depth, self.candidates)
        lists = {
            name: scored(rank(question, deep, condition)) for name, rank in self.rankers.items()
        }
        return fuse_reciprocal_ranks(lists, weights=self.weights, c=self.c, limit=depth)


@dataclass(frozen=True)
class ConvexRanker:
    """Fuses a dense and a sparse ranker by the convex combination of their scores.

    Raises:
        ValueError: A dense weight is outside [0, 1].
    """

    dense: Ranker
    sparse: Ranker
    dense_weight: float = 0.5
    candidates: int = 100
    normalization: Normalization = Normalization.MIN_MAX
    foreign_to: Callable[[str, Collection[str]], Collection[str]] | None = None
    """For a question and passage ids, returns those of passages in another language."""
    weights_by_script: Mapping[str, float] = field(default_factory=dict)
    """Dense weights by the script family of the question; `dense_weight` applies to the others."""

    def __post_init__(self) -> None:
        for weight in (self.dense_weight, *self.weights_by_script.values()):
            if not 0 <= weight <= 1:
                raise ValueError(f"dense_weight must be in [0, 1], got {weight}")

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        deep = max(depth, self.candidates)
        return combine_convex(
            scored(self.dense(question, deep, condition)),
            scored(self.sparse(question, deep, condition)),
            dense_weight=self.weights_by_script.get(script_family(question), self.dense_weight),
            normalization=self.normalization,
            limit=depth,
            foreign=self.foreign_to and partial(self.foreign_to, question),
        )
