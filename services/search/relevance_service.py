"""Explains answers without evidence, and how to widen their search."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor

from domain import (
    Principal,
    Scope,
    SearchChoice,
    SearchMode,
    Turn,
    TurnState,
)
from domain.errors import AppError
from services.answer_support import Support, support_of
from services.search.search_service import SearchService

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

    `best` is the cosine of the nearest passage if a minimum relevance excluded it, else None.
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
        """The explanation for a complete answer without support; None for any other turn.

        The support is that of `support_of`; a greeting, for example, needs none.
        """
        is_missing = support_of(turn) in {Support.NOTHING_FOUND, Support.UNSUPPORTED}
        if turn.state is not TurnState.COMPLETE or not is_missing:
            return None
        search = turn.search.with_defaults(self.settings)
        best = self._best_excluded(principal, turn, search)
        return NothingFound(_question(turn), search, best, tuple(offers(search, best)))

    def _best_excluded(
        self, principal: Principal, turn: Turn, search: SearchChoice
    ) -> float | None:
        """The highest cosine if it is below the minimum relevance of the search."""
        if search.mode is not SearchMode.SIMILARITY_SCORE_THRESHOLD or turn.sources:
            return None
        best = self._nearest(principal, turn, search.scope)
        return best if best is not None and best < (search.score_threshold or 0.0) else None

    def _nearest(self, principal: Principal, turn: Turn, scope: Scope) -> float | None:
        """The highest cosine, from a new search, because the turn's own search stored none."""
        try:
            documents = self.search.retriever(
                principal,
                mode=SearchMode.SIMILARITY,
                k=1,
                condition=self.search.condition(principal, scope),
                rerank=False,
                conversation_id=turn.conversation_id,
            ).invoke(_question(turn))
        except AppError:
            # A source was removed, or the index or the embedding is unavailable; the turn must
            # stay readable.
            return None
        return float(documents[0].metadata["score"]) if documents else None


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


def _question(turn: Turn) -> str:
    return turn.standalone_question or turn.question
