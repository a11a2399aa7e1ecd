"""Rankers, which return passage ids with scores, best first, and the fusion of their lists."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, pstdev
from typing import NamedTuple, Protocol

from domain import Filter, Normalization, ScorePart, SearchMode
from domain.language.script import script_family, script_of

Scored = tuple[str, float]


class Hit(NamedTuple):
    """A passage's id and score; the shares of its parts add up to the score."""

    id: str
    score: float
    parts: tuple[ScorePart, ...]


def hits_of(ranker: str, scored: Iterable[Scored]) -> list[Hit]:
    """The hits of a single list, best first; the only part of each is its score."""
    return [
        Hit(item, score, (ScorePart(ranker, rank, score, score),))
        for rank, (item, score) in enumerate(scored, start=1)
    ]


def scored(hits: Sequence[Hit]) -> list[Scored]:
    """The hits without their parts, as input for fusion."""
    return [(hit.id, hit.score) for hit in hits]


RRF_C = 60  # Cormack, Clarke and Büttcher, SIGIR 2009

FOREIGN_WEIGHT = 0.75
"""The weight of semantic similarity for passages that are not in the language of the question."""

Shares = Mapping[str, Mapping[str, float]]
"""The share of each id by list name; missing ids have 0."""


def fuse_reciprocal_ranks(
    lists: Mapping[str, Sequence[Scored]],
    *,
    weights: Sequence[float] | None = None,
    c: float = RRF_C,
    limit: int | None = None,
) -> list[Hit]:
    """Merge ranked lists of ids by weighted reciprocal rank.

    The score of an id is the sum of weight / (c + rank) over the lists that contain it, with ranks
    from 1. Scores are comparable within one call only.

    Args:
        lists: By name, distinct ids with scores, best first; only the order counts. Lists may
            be empty.
        weights: One per list, not negative; 1 by default.
        c: The damping; the larger it is, the less the first ranks dominate.
        limit: The maximum number of hits; all by default.

    Returns:
        A hit for each id, best first; ties keep the order in which the ids first appear.

    Raises:
        ValueError: `c` or a weight is negative, or there are not as many weights as lists.
    """
    if c < 0:
        raise ValueError(f"c must not be negative, got {c}")
    weighted = check_weights(weights, len(lists))
    shares = {
        name: {item: weight / (c + rank) for rank, (item, _) in enumerate(ranking, start=1)}
        for (name, ranking), weight in zip(lists.items(), weighted, strict=True)
    }
    return _best_first(lists, shares, list(lists), limit)


def combine_convex(
    dense: Sequence[Scored],
    sparse: Sequence[Scored],
    *,
    dense_weight: float,
    normalization: Normalization = Normalization.MIN_MAX,
    limit: int | None = None,
    foreign: Callable[[Collection[str]], Collection[str]] | None = None,
) -> list[Hit]:
    """Merge two scored lists by a convex combination of their normalized scores.

    The score of an id is dense_weight x its scaled dense score + (1 - dense_weight) x its scaled
    sparse score. Each list is scaled over its own candidates:

    - `min-max` scales to [0, 1]. If all scores in the list are equal, they become 1. Missing ids
      count as 0.
    - `z-score` scales to mean 0 and standard deviation 1. If all scores in the list are equal, they
      become 0. Missing ids count as the lowest score in the list.

    If one list is empty, the other has all the weight (after Bruch, Gai and Ingber, "An Analysis of
    Fusion Functions for Hybrid Retrieval", TOIS 2023). For the ids that `foreign`
    returns, the score is at least `FOREIGN_WEIGHT` x their scaled dense score.

    Returns:
        A hit for each id in either list, best first, with parts named "dense" and "bm25". Ties keep
        the order in which the ids first appear, sparse list first: the best hits of two lists
        without a common id can tie, and the sparse one contains the words of the question.

    Raises:
        ValueError: `dense_weight` is outside [0, 1], or a score is not finite.
    """
    _require_weight(dense_weight)
    if not (dense and sparse):
        dense_weight = 1.0 if dense else 0.0
    scale = _SCALES[normalization]
    lists = {"dense": dense, "bm25": sparse}
    union = [item for item, _ in (*sparse, *dense)]
    shares = {
        name: {item: weight * value for item, value in scale(lists[name], union).items()}
        for name, weight in (("dense", dense_weight), ("bm25", 1 - dense_weight))
    }
    if foreign is not None and dense_weight > 0:
        _raise_foreign(shares, FOREIGN_WEIGHT / dense_weight, foreign)
    return _best_first(lists, shares, ["bm25", "dense"], limit)


def min_max(scored: Sequence[Scored]) -> dict[str, float]:
    """Scores scaled to [0, 1], by id: the lowest is 0, the highest is 1, and equal scores are 1.

    Raises:
        ValueError: A score is not finite.
    """
    values = _finite(scored)
    if not values:
        return {}
    lowest, spread = min(values), max(values) - min(values)
    return {item: (score - lowest) / spread if spread else 1.0 for item, score in scored}


def _require_weight(dense_weight: float) -> None:
    if not 0 <= dense_weight <= 1:
        raise ValueError(f"dense_weight must be in [0, 1], got {dense_weight}")


def _raise_foreign(
    shares: Mapping[str, dict[str, float]],
    factor: float,
    foreign: Callable[[Collection[str]], Collection[str]],
) -> None:
    """Score ids in another language by their dense share times `factor` if that is higher."""
    raised = {
        item: share * factor
        for item, share in shares["dense"].items()
        if share * factor > share + shares["bm25"].get(item, 0.0)
    }
    for item in foreign(raised) if raised else ():
        shares["dense"][item], shares["bm25"][item] = raised[item], 0.0


def check_weights(weights: Sequence[float] | None, count: int) -> Sequence[float]:
    """Validate the weights of `count` lists; 1 each by default.

    Raises:
        ValueError: There are not as many weights as lists, or one is negative or not finite.
    """
    if weights is None:
        return [1.0] * count
    if len(weights) != count:
        raise ValueError(f"{count} lists need as many weights, got {len(weights)}")
    if not all(0 <= weight < float("inf") for weight in weights):
        raise ValueError(f"weights must be finite and not negative, got {list(weights)}")
    return weights


def _best_first(
    lists: Mapping[str, Sequence[Scored]], shares: Shares, seen: Sequence[str], limit: int | None
) -> list[Hit]:
    """Rank the ids by the sum of their shares; parts are built only for hits within the limit."""
    scores = {item: 0.0 for name in seen for item, _ in lists[name]}
    for list_shares in shares.values():
        for item, share in list_shares.items():
            scores[item] += share
    best = sorted(scores, key=lambda item: -scores[item])[:limit]
    places = {
        name: {item: (rank, score) for rank, (item, score) in enumerate(ranking, start=1)}
        for name, ranking in lists.items()
    }

    def part(name: str, item: str) -> ScorePart:
        rank, score = places[name].get(item, (None, None))
        return ScorePart(name, rank, score, shares[name].get(item, 0.0))

    return [Hit(item, scores[item], tuple(part(name, item) for name in lists)) for item in best]


def _z_score(scored: Sequence[Scored], union: Sequence[str]) -> dict[str, float]:
    values = _finite(scored)
    if not values:
        return {}
    mean, deviation = fmean(values), pstdev(values)
    scaled = {item: (score - mean) / deviation if deviation else 0.0 for item, score in scored}
    lowest = min(scaled.values())
    return {item: scaled.get(item, lowest) for item in union}


def _finite(scored: Sequence[Scored]) -> list[float]:
    values = [score for _, score in scored]
    if any(value - value != 0 for value in values):  # NaN and infinities
        raise ValueError("a score is not a finite number")
    return values


_SCALES: dict[Normalization, Callable[[Sequence[Scored], Sequence[str]], dict[str, float]]] = {
    Normalization.MIN_MAX: lambda scored, _union: min_max(scored),
    Normalization.Z_SCORE: _z_score,
}


class Ranker(Protocol):
    """Ranks passages for a question."""

    def __call__(self, question: str, depth: int, condition: Filter | None, /) -> list[Hit]:
        """At most `depth` hits that satisfy `condition`, best first."""


class SearchesKeywords(Protocol):
    """The part of a keyword index that ranking needs."""

    def search(self, query: str, k: int, condition: Filter | None = None) -> list[Scored]:
        """At most `k` matching pairs `(passage id, BM25 score above 0)`, best first."""


class SearchesVectors(Protocol):
    """The part of a vector store that ranking needs: ids and cosines, no texts."""

    def similar_ids(self, query: str, k: int, *, filter: Filter | None = None) -> list[Scored]:
        """At most `k` pairs `(passage id, cosine)`, best first."""

    def diverse_ids(
        self, query: str, k: int, fetch_k: int, *, filter: Filter | None = None
    ) -> list[Scored]:
        """At most `k` of the `fetch_k` most similar passages, in the order selected by MMR."""


_DENSE_MODES = (SearchMode.SIMILARITY, SearchMode.SIMILARITY_SCORE_THRESHOLD, SearchMode.MMR)


@dataclass(frozen=True)
class DenseRanker:
    """Ranks by vectors: cosine similarity, cosine similarity above a threshold, or MMR.

    A question in a script that the embedding model can't read has no results, because its vector
    would be noise, and fusion does not protect against a bad list; `known_scripts` lists the
    readable scripts, or is None for all. MMR (Carbonell and Goldstein, SIGIR 1998) selects from
    20 passages, or from four times `depth` if that is more, and scores by 1 / rank.

    Raises:
        ValueError: `mode` is not one of the three dense modes.
    """

    store: SearchesVectors
    mode: SearchMode = SearchMode.SIMILARITY
    known_scripts: frozenset[str] | None = None
    score_threshold: float = 0.0

    def __post_init__(self) -> None:
        """Check the mode."""
        if self.mode not in _DENSE_MODES:
            names = ", ".join(_DENSE_MODES)
            raise ValueError(f"{self.mode!r} is not a dense search mode ({names})")

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        readable = self.known_scripts
        if readable is not None and script_of(question) not in {*readable, "none"}:
            return []
        if self.mode is SearchMode.MMR:
            diverse = self.store.diverse_ids(question, depth, max(20, 4 * depth), filter=condition)
            return hits_of("dense", [(item, 1 / n) for n, (item, _) in enumerate(diverse, start=1)])
        near = self.store.similar_ids(question, depth, filter=condition)
        if self.mode is SearchMode.SIMILARITY_SCORE_THRESHOLD:
            near = [(item, cosine) for item, cosine in near if cosine >= self.score_threshold]
        return hits_of("dense", near)


@dataclass(frozen=True)
class KeywordRanker:
    """Ranks by BM25."""

    index: SearchesKeywords

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        return hits_of("bm25", self.index.search(question, depth, condition))


@dataclass(frozen=True)
class EnsembleRanker:
    """Fuses any number of rankers, by name, by reciprocal rank.

    Each contributes `candidates` hits, or `depth` if that is more.
    """

    rankers: Mapping[str, Ranker]
    candidates: int = 100

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        deep = max(depth, self.candidates)
        lists = {
            name: scored(rank(question, deep, condition)) for name, rank in self.rankers.items()
        }
        return fuse_reciprocal_ranks(lists, limit=depth)


@dataclass(frozen=True)
class ConvexRanker:
    """Fuses a dense and a sparse ranker by `combine_convex`.

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
        """Check the weights."""
        for weight in (self.dense_weight, *self.weights_by_script.values()):
            _require_weight(weight)

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
