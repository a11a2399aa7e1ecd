"""From a search mode to the ranker that does it, over one open index."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from domain import Filter, Normalisation, SearchMode
from errors import DamagedIndexError
from language.script import script_of
from retrievers.hits import Hit
from retrievers.rankers import ConvexRanker, DenseRanker, EnsembleRanker, KeywordRanker, Ranker
from storage.keyword_index import KeywordIndex
from storage.passage_files import PassageFiles
from storage.passages import DeepLakePassages
from storage.segment_files import SegmentFiles

VECTORS, WORDS = PassageFiles.what, SegmentFiles.what
"""What the two stores of an index hold, as `IndexStore.failures` has it."""


@dataclass(frozen=True)
class OpenIndex:
    """An index ready to search; `known_scripts` are those its model reads (None: all).

    `is_calibrated` says that the scale of the model's cosines is known across languages.
    `matching_in_ledger` stands in for the vector store's filter while that is damaged. A store
    that can't be read leaves its reason in `failures`.
    """

    passages: DeepLakePassages
    keywords: KeywordIndex
    known_scripts: frozenset[str] | None = None
    is_calibrated: bool = False
    matching_in_ledger: Callable[[Filter], Callable[[str], bool]] | None = None
    failures: dict[str, str] = field(default_factory=dict)

    def matching(self, condition: Filter) -> Callable[[str], bool]:
        """Whether an id is that of a passage which satisfies the condition, exactly."""
        try:
            allowed = self.passages.allowed(condition)
        except DamagedIndexError as error:
            if self.matching_in_ledger is None:
                raise
            self.failures[VECTORS] = str(error)
            return self.matching_in_ledger(condition)
        self.failures.pop(VECTORS, None)
        return allowed

    def foreign_to(self, question: str) -> Callable[[str], bool]:
        """Whether an id is that of a passage in another script than the question's.

        None is while the vectors are damaged: without them nothing is found across languages.
        """
        known = script_of(question)
        alike = {"japanese", "chinese"} if known in {"japanese", "chinese"} else {known}
        try:
            return self.passages.allowed({"script": {"$nin": [*alike, "none"]}})
        except DamagedIndexError as error:
            self.failures[VECTORS] = str(error)
            return _never

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """How telling each token is; all alike while the keyword index is damaged."""
        try:
            return self.keywords.idf(tokens)
        except DamagedIndexError as error:
            self.failures[WORDS] = str(error)
            return dict.fromkeys(tokens, math.log(2))


def _never(_id: str) -> bool:
    return False


@dataclass
class SpareList:
    """A ranked list that is empty while its store is damaged: the other list answers."""

    rank: Ranker
    store: str
    failures: dict[str, str]
    error: DamagedIndexError | None = None

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        try:
            hits = self.rank(question, depth, condition)
        except DamagedIndexError as error:
            self.error, self.failures[self.store] = error, str(error)
            return []
        if hits:  # else the question may not have needed the store
            self.failures.pop(self.store, None)
        return hits


def require_one(*lists: SpareList) -> None:
    """Make sure that not all of the lists failed.

    Raises:
        DamagedIndexError: They did.
    """
    errors = [one.error for one in lists if one.error is not None]
    if len(errors) == len(lists):
        raise DamagedIndexError(f"Nothing can be searched: {errors[0]}") from errors[0]


DENSE_WEIGHT = 0.5
DENSE_WEIGHTS = {"latin": 0.45, "korean": 0.3, "japanese": 0.3}
"""Dense weights of the default mode: in general, and by script where multilingual-e5-small embeds.

From the sweeps in docs/retrieval.md.
"""


@dataclass(frozen=True)
class RankingOptions:
    """How the modes are tuned; see the settings of the same names.

    Where `dense_weight` is None, the language of the question decides.
    """

    candidates: int = 100
    dense_weight: float | None = None
    score_threshold: float = 0.3
    normalisation: Normalisation = Normalisation.MIN_MAX


def build_ranker(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    """The ranker of a search mode over an index."""
    return _BUILDERS[mode](mode, index, options)


def _build_dense(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    return DenseRanker(index.passages, mode, index.known_scripts, options.score_threshold)


def _build_keyword(_mode: SearchMode, index: OpenIndex, _options: RankingOptions) -> Ranker:
    return KeywordRanker(index.keywords, index.matching)


@dataclass(frozen=True)
class _Fused:
    """A fusion of lists of which one may fail."""

    fused: Ranker
    lists: tuple[SpareList, SpareList]

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        hits = self.fused(question, depth, condition)
        require_one(*self.lists)
        return hits


def spare_lists(
    index: OpenIndex, matching: Callable[[Filter], Callable[[str], bool]] | None = None
) -> tuple[SpareList, SpareList]:
    """The dense and the keyword list of an index, each empty while its store is damaged.

    `matching` takes the place of the index's own filter of the keyword list.
    """
    dense = DenseRanker(index.passages, known_scripts=index.known_scripts)
    sparse = KeywordRanker(index.keywords, matching or index.matching)
    return SpareList(dense, VECTORS, index.failures), SpareList(sparse, WORDS, index.failures)


def _build_ensemble(_mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    dense, sparse = spare_lists(index)
    rankers = {"dense": dense, "bm25": sparse}
    return _Fused(EnsembleRanker(rankers, candidates=options.candidates), (dense, sparse))


def _build_convex(_mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    dense, sparse = spare_lists(index)
    chosen = options.dense_weight
    fused = ConvexRanker(
        dense,
        sparse,
        DENSE_WEIGHT if chosen is None else chosen,
        options.candidates,
        options.normalisation,
        index.foreign_to if index.is_calibrated else None,
        DENSE_WEIGHTS if chosen is None and index.is_calibrated else {},
    )
    return _Fused(fused, (dense, sparse))


_BUILDERS: dict[SearchMode, Callable[[SearchMode, OpenIndex, RankingOptions], Ranker]] = {
    SearchMode.SIMILARITY: _build_dense,
    SearchMode.SIMILARITY_SCORE_THRESHOLD: _build_dense,
    SearchMode.MMR: _build_dense,
    SearchMode.BM25: _build_keyword,
    SearchMode.ENSEMBLE: _build_ensemble,
    SearchMode.CONVEX: _build_convex,
}
