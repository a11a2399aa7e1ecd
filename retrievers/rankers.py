"""The rankers: each gives passage ids with scores for a question, best first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain import Filter, Normalisation, SearchMode
from language.script import script_family, script_of
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
        """At most `k` of the `fetch_k` most similar ones, in the order MMR chooses them."""
        ...


@dataclass(frozen=True)
class DenseRanker:
    """Ranks by the vectors: cosine similarity, relevance above a threshold, or MMR.

    A question in a script the embedding model does not know (`known_scripts`; None knows
    all) ranks nothing: its vector would be noise, and no fusion protects from a bad list.
    MMR scores fall with the rank, 1 / rank; it chooses among `fetch_k` passages, or four times
    as many as asked for if that is more, and `lambda_mult` (0 to 1) is the share of similarity
    against diversity (Carbonell and Goldstein, SIGIR 1998).

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
        chosen = self.store.diverse_ids(
            question, depth, fetch_k, self.lambda_mult, filter=condition
        )
        return [(item, 1 / rank) for rank, (item, _) in enumerate(chosen, start=1)]


_DENSE_SEARCHES: dict[SearchMode, Callable[..., list[Scored]]] = {
    SearchMode.SIMILARITY: DenseRanker._by_similarity,
    SearchMode.SIMILARITY_SCORE_THRESHOLD: DenseRanker._by_threshold,
    SearchMode.MMR: DenseRanker._by_marginal_relevance,
}


@dataclass(frozen=True)
class KeywordRanker:
    """Ranks by BM25; a question whose words occur nowhere ranks nothing.

    `matching` gives, for a condition, whether the passage with an id satisfies it.
    """

    index: SearchesKeywords
    matching: Callable[[Filter], Callable[[str], bool]]

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        allowed = self.matching(condition) if condition else None
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
        ValueError: A dense weight is outside [0, 1].
    """

    dense: Ranker
    sparse: Ranker
    dense_weight: float = 0.5
    candidates: int = 100
    normalisation: Normalisation = Normalisation.MIN_MAX
    foreign_to: Callable[[str], Callable[[str], bool]] | None = None
    """From a question, whether the passage with an id is in another language."""
    weights_by_script: Mapping[str, float] = field(default_factory=dict)
    """Dense weights of questions in these script families; all others have `dense_weight`."""

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
            normalisation=self.normalisation,
            limit=depth,
            is_foreign=self.foreign_to and self.foreign_to(question),
        )
