"""Explains answers without evidence, and how to widen their search."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor

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
from services.search.search_service import SearchService

_DENSE = "dense"
_OF_COSINES = {SearchMode.SIMILARITY, SearchMode.CONVEX, SearchMode.ENSEMBLE}
_ALTERNATIVES = {
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
    """A wider search for the same question."""

    widening: Widening
    search: SearchChoice


@dataclass(frozen=True, slots=True)
class NothingFound:
    """The search with all defaults filled in, and the ways to widen it.

    `best` is the cosine of the nearest passage, or None if meanings can't be compared now.
    """

    question: str
    search: SearchChoice
    best: float | None
    offers: tuple[Offer, ...]


@dataclass(frozen=True)
class RelevanceService:
    """Explains why an answer has no evidence; `settings` is the default search."""

    search: SearchService
    settings: SearchChoice

    def nothing_found(self, principal: Principal, turn: Turn) -> NothingFound | None:
        """The explanation for a finished turn without a verified citation; None for any other turn.

        Also None if nothing was searched, as for a greeting.
        """
        is_verified = any(one.state is CitationState.VERIFIED for one in turn.citations)
        if turn.state is not TurnState.COMPLETE or (is_verified and turn.sources):
            return None
        if not turn.standalone_question and not turn.search.by_agent:  # small talk
            return None
        search = _complete(turn.search, self.settings)
        best = best_cosine(turn, search)
        if best is None:
            best = self._nearest(principal, turn, search.scope)
        return NothingFound(_question(turn), search, best, tuple(offers(search, best)))

    def _nearest(self, principal: Principal, turn: Turn, scope: Scope) -> float | None:
        """The highest cosine, from a new search, because the turn's own search stored none."""
        try:
            return self._nearest_now(principal, turn, scope)
        except AppError:
            # A source was removed, or the index or the embedding is unavailable; the turn must
            # stay readable.
            return None

    def _nearest_now(self, principal: Principal, turn: Turn, scope: Scope) -> float | None:
        retriever = self.search.retriever(
            principal,
            mode=SearchMode.SIMILARITY,
            k=1,
            condition=self.search.condition(principal, scope),
            rerank=False,
            conversation_id=turn.conversation_id,
        )
        documents = retriever.invoke(_question(turn))
        return float(documents[0].metadata["score"]) if documents else None


def best_cosine(turn: Turn, search: SearchChoice) -> float | None:
    """The highest stored cosine of the turn's passages; None if vectors retrieved none."""
    if search.mode not in {*_OF_COSINES, SearchMode.SIMILARITY_SCORE_THRESHOLD}:
        return None  # MMR's scores are ranks
    parts = [part for source in turn.sources if source.why for part in source.why.parts]
    cosines = [one.score for one in parts if one.ranker == _DENSE and one.score is not None]
    return max(cosines, default=None)


def offers(search: SearchChoice, best: float | None) -> Iterator[Offer]:
    """The ways to widen a search with all defaults filled in, most promising first."""
    if search.scope != Scope():
        yield Offer(Widening.SCOPE, replace(search, scope=Scope()))
    if search.mode is SearchMode.SIMILARITY_SCORE_THRESHOLD and search.score_threshold:
        lower = _lower(search.score_threshold, best)
        yield Offer(Widening.THRESHOLD, replace(search, score_threshold=lower))
    for mode in _ALTERNATIVES.get(search.mode or SearchMode.CONVEX, (SearchMode.CONVEX,)):
        yield Offer(Widening.MODE, replace(search, mode=mode))


def _lower(threshold: float, best: float | None) -> float:
    """A threshold just below the nearest passage, or half the threshold if that is unknown."""
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
