"""What was searched for an answer that proves nothing, how near it came, and how to widen it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor
from typing import TYPE_CHECKING

from domain import (
    CitationState,
    Principal,
    Scope,
    SearchChoice,
    SearchMode,
    Turn,
    TurnState,
)
from errors import AppError

if TYPE_CHECKING:  # slow, and most pages have nothing to look up
    from services.search import SearchService

_DENSE = "dense"
_OF_COSINES = {SearchMode.SIMILARITY, SearchMode.CONVEX, SearchMode.ENSEMBLE}
_OTHERS = {
    SearchMode.CONVEX: (SearchMode.SIMILARITY, SearchMode.BM25),
    SearchMode.ENSEMBLE: (SearchMode.SIMILARITY, SearchMode.BM25),
}


class Widening(StrEnum):
    """How a search can be widened."""

    MODE = "mode"
    THRESHOLD = "threshold"
    SCOPE = "scope"


@dataclass(frozen=True, slots=True)
class Offer:
    """Another way to search for the same question."""

    widening: Widening
    search: SearchChoice


@dataclass(frozen=True, slots=True)
class NothingFound:
    """What was searched, as a whole: nothing in `search` is None.

    `best` is the cosine of the nearest passage, None where none can be compared by its meaning now.
    `offers` are the ways to widen the search.
    """

    question: str
    search: SearchChoice
    best: float | None
    offers: tuple[Offer, ...]


@dataclass(frozen=True)
class RelevanceService:
    """Tells why an answer has no proof. `settings` is how is searched where nothing is chosen."""

    search: Callable[[], "SearchService"]
    settings: SearchChoice

    def nothing_found(self, principal: Principal, turn: Turn) -> NothingFound | None:
        """What to tell of a finished turn without a verified citation; None of any other.

        Nothing is missing either where nothing was searched, as for a greeting.
        """
        proven = any(one.state is CitationState.VERIFIED for one in turn.citations)
        if turn.state is not TurnState.COMPLETE or (proven and turn.sources):
            return None
        if not turn.standalone_question and not turn.search.by_agent:  # small talk
            return None
        search = _complete(turn.search, self.settings)
        best = best_cosine(turn, search)
        if best is None:
            best = self._nearest(principal, turn, search.scope)
        return NothingFound(_question(turn), search, best, tuple(offers(search, best)))

    def _nearest(self, principal: Principal, turn: Turn, scope: Scope) -> float | None:
        """Asked of the index: a threshold leaves nothing behind, and words have no cosine."""
        try:
            return self._nearest_now(principal, turn, scope)
        except AppError:
            # A source that was searched then is gone, or the index or the embedding can't be
            # asked now. Then the best is not known; the turn is to be read and asked again anyway.
            return None

    def _nearest_now(self, principal: Principal, turn: Turn, scope: Scope) -> float | None:
        search = self.search()
        retriever = search.retriever(
            principal,
            mode=SearchMode.SIMILARITY,
            k=1,
            condition=search.condition(principal, scope),
            rerank=False,
            conversation_id=turn.conversation_id,
        )
        found = retriever.invoke(_question(turn))
        return float(found[0].metadata["score"]) if found else None


def best_cosine(turn: Turn, search: SearchChoice) -> float | None:
    """The highest cosine among its sources as stored; None where no list of meanings found any."""
    if search.mode not in {*_OF_COSINES, SearchMode.SIMILARITY_SCORE_THRESHOLD}:
        return None  # MMR's scores are ranks
    parts = [part for source in turn.sources if source.why for part in source.why.parts]
    cosines = [one.score for one in parts if one.ranker == _DENSE and one.score is not None]
    return max(cosines, default=None)


def offers(search: SearchChoice, best: float | None) -> Iterator[Offer]:
    """The ways to widen a search of which nothing is None, the most promising first."""
    if search.scope != Scope():
        yield Offer(Widening.SCOPE, replace(search, scope=Scope()))
    if search.mode is SearchMode.SIMILARITY_SCORE_THRESHOLD and search.score_threshold:
        lower = _lower(search.score_threshold, best)
        yield Offer(Widening.THRESHOLD, replace(search, score_threshold=lower))
    for mode in _OTHERS.get(search.mode or SearchMode.CONVEX, (SearchMode.CONVEX,)):
        yield Offer(Widening.MODE, replace(search, mode=mode))


def _lower(threshold: float, best: float | None) -> float:
    """Just below the nearest passage, or half of it where that is no help."""
    if best is not None and 0 < best < threshold:
        return floor(best * 100) / 100
    return round(threshold / 2, 2)


def _complete(search: SearchChoice, settings: SearchChoice) -> SearchChoice:
    return SearchChoice(
        scope=search.scope,
        mode=search.mode or settings.mode,
        k=search.k or settings.k,
        score_threshold=(
            settings.score_threshold if search.score_threshold is None else search.score_threshold
        ),
        by_agent=search.by_agent,
    )


def _question(turn: Turn) -> str:
    return turn.standalone_question or turn.question
