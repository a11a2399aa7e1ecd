"""One question through several search modes, side by side."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.documents import Document

from domain import Explanation, Filter, Principal, SearchMode
from errors import AppError, InputError
from services.explain import explain
from services.search import SearchService


@dataclass(frozen=True, slots=True)
class LabHit:
    """A passage that a mode found, at a rank from 1, and why."""

    passage_id: str
    rank: int
    document: Document
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class ModeResult:
    """What one search mode found, best first, and how long it took.

    `error` says, for people, why the mode failed; it found nothing then.
    """

    mode: SearchMode
    hits: tuple[LabHit, ...] = ()
    milliseconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question, and a result for each mode in the order they were asked for."""

    question: str
    k: int
    results: tuple[ModeResult, ...]
    condition: Filter | None = None

    def found_by(self, passage_id: str) -> tuple[SearchMode, ...]:
        """The modes that found the passage, in the order of the results."""
        return tuple(
            one.mode
            for one in self.results
            if any(hit.passage_id == passage_id for hit in one.hits)
        )

    @property
    def searched(self) -> int:
        """The number of modes that did not fail."""
        return sum(not one.error for one in self.results)

    @property
    def shared(self) -> tuple[str, ...]:
        """The ids of the passages that more than one mode found, in the order they appear."""
        ids = dict.fromkeys(hit.passage_id for result in self.results for hit in result.hits)
        return tuple(id_ for id_ in ids if len(self.found_by(id_)) > 1)


@dataclass(frozen=True)
class LabService:
    """Compares search modes over the library."""

    search: SearchService

    @property
    def can_rerank(self) -> bool:
        """Whether a reranker is set."""
        return self.search.reranking is not None

    def compare(
        self,
        principal: Principal,
        question: str,
        modes: Sequence[SearchMode],
        k: int,
        condition: Filter | None = None,
        rerank: bool = False,
    ) -> Comparison:
        """Search once in each mode; a mode named twice counts once.

        A mode that fails says so in its own result and keeps none of the others. The times hold
        embedding the question, ranking and reading; what has to be loaded for the first question
        is loaded before. With `rerank` they hold reranking too; it makes the modes alike.

        Raises:
            InputError: No mode is given, or the question, `k` or the condition can't be used.
            ConflictError: `rerank` is asked for and no reranker set.
        """
        if not modes:
            raise InputError("Choose at least one search mode to compare.")
        asked = (principal, question, k, condition, rerank)
        self._run(SearchMode.CONVEX, *asked)  # opens both indexes
        results = [self._run(mode, *asked) for mode in dict.fromkeys(modes)]
        return Comparison(question, k, tuple(results), condition)

    def _run(
        self,
        mode: SearchMode,
        principal: Principal,
        question: str,
        k: int,
        condition: Filter | None,
        rerank: bool,
    ) -> ModeResult:
        started = time.perf_counter()
        try:
            found = self.search.search(
                principal, question, mode=mode, k=k, condition=condition, rerank=rerank
            )
        except InputError:
            raise  # no mode could use it
        except AppError as error:
            return ModeResult(mode, error=str(error))
        milliseconds = 1000 * (time.perf_counter() - started)
        hits = [
            LabHit(document.id or "", rank, document, explain(question, document, condition))
            for rank, document in enumerate(found, start=1)
        ]
        return ModeResult(mode, tuple(hits), milliseconds)
