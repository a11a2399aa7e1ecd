"""Trying out fusion settings on labelled questions, to choose the defaults by evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from domain import Normalisation, SearchMode
from evaluation.datasets import LabelledQuestion
from evaluation.metrics import ndcg
from retrievers.fusion import combine_convex, fuse_reciprocal_ranks
from retrievers.hits import Hit, Scored, scored
from services.ranking import OpenIndex, RankingOptions, build_ranker

DEPTHS = (20, 50, 100, 200)
WEIGHTS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
RANK_WEIGHTS = (0.3, 0.5, 0.7)

Fuse = Callable[[Sequence[Scored], Sequence[Scored]], list[Hit]]


@dataclass(frozen=True, slots=True)
class Tried:
    """One setting and its nDCG@10, the mean over the questions."""

    setting: str
    ndcg_at_10: float


def sweep(index: OpenIndex, asked: Sequence[LabelledQuestion], texts: Sequence[str]) -> list[Tried]:
    """nDCG@10 of the single lists and of each fusion of them, in the order of `settings`.

    Each question is ranked once by either list, as deep as the deepest setting; the settings
    then fuse the heads of these lists.
    """
    options = RankingOptions(candidates=max(DEPTHS))
    dense = build_ranker(SearchMode.SIMILARITY, index, options)
    sparse = build_ranker(SearchMode.BM25, index, options)
    lists = [
        (scored(dense(text, max(DEPTHS), None)), scored(sparse(text, max(DEPTHS), None)))
        for text in texts
    ]
    return [
        Tried(name, fmean(_quality(fuse(*two), one) for two, one in zip(lists, asked, strict=True)))
        for name, fuse in settings()
    ]


def settings() -> Iterator[tuple[str, Fuse]]:
    """The settings that are tried, each with its name."""
    yield "similarity", lambda dense, _sparse: _alone(dense)
    yield "bm25", lambda _dense, sparse: _alone(sparse)
    for depth, weight in product(DEPTHS, RANK_WEIGHTS):
        yield f"ensemble depth={depth} dense_weight={weight}", _by_rank(depth, weight)
    for how, depth, weight in product(Normalisation, DEPTHS, WEIGHTS):
        yield f"convex {how} depth={depth} dense_weight={weight}", _by_score(how, depth, weight)


def _alone(ranking: Sequence[Scored]) -> list[Hit]:
    return fuse_reciprocal_ranks({"alone": ranking}, limit=10)


def _by_rank(depth: int, weight: float) -> Fuse:
    return lambda dense, sparse: fuse_reciprocal_ranks(
        {"dense": dense[:depth], "bm25": sparse[:depth]}, weights=[weight, 1 - weight], limit=10
    )


def _by_score(how: Normalisation, depth: int, weight: float) -> Fuse:
    return lambda dense, sparse: combine_convex(
        dense[:depth], sparse[:depth], dense_weight=weight, normalisation=how, limit=10
    )


def _quality(hits: Sequence[Hit], question: LabelledQuestion) -> float:
    return ndcg([hit.id for hit in hits], question.relevance, 10)
