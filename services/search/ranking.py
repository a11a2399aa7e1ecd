"""The rankers of the search modes over an open index."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from domain import Filter, SearchMode
from domain.errors import DamagedIndexError
from domain.language.script import script_of
from domain.logs import get_logger
from domain.messages import _
from retrievers.rankers import ConvexRanker, DenseRanker, EnsembleRanker, Hit, KeywordRanker, Ranker
from services.search.search_service import RankingOptions
from storage.base_store import LexicalIndex
from storage.keywords.segment_files import SegmentFiles
from storage.vectors.deep_lake import PassageFiles
from storage.vectors.passage_vector_store import PassageVectorStore

_log = get_logger("questions")
VECTORS, WORDS = PassageFiles.what, SegmentFiles.what
"""The contents of an index's two stores: the keys of `IndexStore.failures`."""


@dataclass(frozen=True)
class OpenIndex:
    """An index ready to search; its model knows `known_scripts` (None: all).

    `is_calibrated` is True if the scale of the model's cosines is known across languages.
    `failures` has the reason for each store that could not be read.
    """

    passages: PassageVectorStore
    words: LexicalIndex
    known_scripts: frozenset[str] | None = None
    is_calibrated: bool = False
    failures: dict[str, str] = field(default_factory=dict)

    def foreign_to(self, question: str, ids: Collection[str]) -> Collection[str]:
        """The ids of the passages in a different script than the question.

        There are none while the vectors are damaged, because keywords match only within a language.
        """
        script = script_of(question)
        same_scripts = {"japanese", "chinese"} if script in {"japanese", "chinese"} else {script}
        try:
            return self.passages.matching(ids, {"script": {"$nin": [*same_scripts, "none"]}})
        except DamagedIndexError as error:
            self.failures[VECTORS] = str(error)
            return ()

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """The rarity of each token; equal for all while the keyword index is damaged."""
        try:
            return self.words.idf(tokens)
        except DamagedIndexError as error:
            self.failures[WORDS] = str(error)
            return dict.fromkeys(tokens, math.log(2))


@dataclass
class OptionalList:
    """A ranker whose list is empty while its store is damaged, so that the other list is used."""

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
            _log.warning("damaged index: the other list ranks", store=self.store, reason=str(error))
            return []
        if hits:  # otherwise the store may not have been read
            self.failures.pop(self.store, None)
        return hits


def require_any(*lists: OptionalList) -> None:
    """Check that at least one list did not fail.

    Raises:
        DamagedIndexError: All failed.
    """
    errors = [one.error for one in lists if one.error is not None]
    if len(errors) == len(lists):
        raise DamagedIndexError(
            _("Nothing can be searched: {errors}").format(errors=errors[0])
        ) from errors[0]


DENSE_WEIGHT = 0.5
DENSE_WEIGHTS = {"latin": 0.45, "korean": 0.3, "japanese": 0.3}
"""Dense weights of the default mode: in general, and by script with multilingual-e5-small.

From the sweeps in docs/retrieval.md.
"""


def build_ranker(mode: SearchMode, index: OpenIndex, options: RankingOptions) -> Ranker:
    """The ranker of a search mode over an index."""
    match mode:
        case SearchMode.BM25:
            return KeywordRanker(index.words)
        case SearchMode.ENSEMBLE:
            lists = dense, sparse = optional_lists(index)
            rankers = {"dense": dense, "bm25": sparse}
            return _Fused(EnsembleRanker(rankers, options.candidates), lists)
        case SearchMode.CONVEX:
            lists = optional_lists(index)
            return _Fused(_convex_ranker(*lists, index, options), lists)
    return DenseRanker(index.passages, mode, index.known_scripts, options.score_threshold)


@dataclass(frozen=True)
class _Fused:
    """A fusion of two lists, one of which may fail."""

    fused: Ranker
    lists: tuple[OptionalList, OptionalList]

    def __call__(self, question: str, depth: int, condition: Filter | None) -> list[Hit]:
        """See `Ranker`."""
        hits = self.fused(question, depth, condition)
        require_any(*self.lists)
        return hits


def optional_lists(index: OpenIndex, *, paired: bool = True) -> tuple[OptionalList, OptionalList]:
    """The dense and the keyword list of an index, each empty while its store is damaged.

    `paired` lists share a request where possible, which helps if they rank the same text.
    """
    shared = index.passages.paired() if paired else None
    passages, words = shared or (index.passages, index.words)
    dense = DenseRanker(passages, known_scripts=index.known_scripts)
    sparse = KeywordRanker(words)
    return OptionalList(dense, VECTORS, index.failures), OptionalList(sparse, WORDS, index.failures)


def _convex_ranker(
    dense: Ranker, sparse: Ranker, index: OpenIndex, options: RankingOptions
) -> Ranker:
    weight = options.dense_weight
    return ConvexRanker(
        dense,
        sparse,
        DENSE_WEIGHT if weight is None else weight,
        options.candidates,
        options.normalisation,
        index.foreign_to if index.is_calibrated else None,
        DENSE_WEIGHTS if weight is None and index.is_calibrated else {},
    )
