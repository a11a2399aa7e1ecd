"""From a search mode to the ranker that does it, over one open index."""

from collections.abc import Callable
from dataclasses import dataclass

from domain import Normalisation, SearchMode
from retrievers.rankers import ConvexRanker, DenseRanker, EnsembleRanker, KeywordRanker, Ranker
from storage.keyword_index import KeywordIndex
from storage.passages import DeepLakePassages


@dataclass(frozen=True)
class OpenIndex:
    """An index ready to search; `known_scripts` are those its model reads (None: all)."""

    passages: DeepLakePassages
    keywords: KeywordIndex
    known_scripts: frozenset[str] | None = None


@dataclass(frozen=True)
class RankingOptions:
    """How the modes are tuned; see the settings of the same names."""

    candidates: int = 100
    dense_weight: float = 0.5
    score_threshold: float = 0.3
    normalisation: Normalisation = Normalisation.MIN_MAX


def build_ranker(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    """The ranker of a search mode over an index."""
    return _BUILDERS[mode](mode, index, options)


def _build_dense(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    return DenseRanker(index.passages, mode, index.known_scripts, options.score_threshold)


def _build_keyword(_mode: SearchMode, index: OpenIndex, _options: RankingOptions) -> Ranker:
    return KeywordRanker(index.keywords, index.passages.allowed)


def _build_ensemble(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    dense = _build_dense(SearchMode.SIMILARITY, index, options)
    rankers = {"dense": dense, "bm25": _build_keyword(mode, index, options)}
    return EnsembleRanker(rankers, candidates=options.candidates)


def _build_convex(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    return ConvexRanker(
        _build_dense(SearchMode.SIMILARITY, index, options),
        _build_keyword(mode, index, options),
        options.dense_weight,
        options.candidates,
        options.normalisation,
    )


_BUILDERS: dict[SearchMode, Callable[[SearchMode, OpenIndex, RankingOptions], Ranker]] = {
    SearchMode.SIMILARITY: _build_dense,
    SearchMode.SIMILARITY_SCORE_THRESHOLD: _build_dense,
    SearchMode.MMR: _build_dense,
    SearchMode.BM25: _build_keyword,
    SearchMode.ENSEMBLE: _build_ensemble,
    SearchMode.CONVEX: _build_convex,
}
