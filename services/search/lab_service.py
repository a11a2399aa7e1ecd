"""Compares search modes on one question."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.documents import Document

from domain import Explanation, Filter, Principal, SearchMode
from domain.errors import AppError, InputError
from domain.messages import _
from domain.public_messages import message_for_everyone
from services.search.search_service import SearchService, explain


@dataclass(frozen=True, slots=True)
class LabHit:
    """A passage that a mode retrieved, its rank from 1, and the explanation."""

    passage_id: str
    rank: int
    document: Document
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class ModeResult:
    """The results of one search mode, best first, and its duration.

    `error` is the message of a mode that failed.
    """

    mode: SearchMode
    hits: tuple[LabHit, ...] = ()
    milliseconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question and the result of each mode, in the requested order."""

    question: str
    k: int
    results: tuple[ModeResult, ...]

    def modes_with(self, passage_id: str) -> tuple[SearchMode, ...]:
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
        return tuple(id_ for id_ in ids if len(self.modes_with(id_)) > 1)


@dataclass(frozen=True)
class LabService:
    """Compares search modes over the library."""

    search: SearchService

    @property
    def can_rerank(self) -> bool:
        """Whether a reranker is configured."""
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
        """Search once in each distinct mode.

        A mode that fails reports it in its own result and does not affect the others. Times include
        embedding the question, ranking, reading, and with `rerank` reranking; models and indexes
        are loaded beforehand.

        Raises:
            InputError: No mode is given, or the question, `k` or the condition can't be used.
            ConflictError: `rerank` is set, but no reranker is configured.
        """
        if not modes:
            raise InputError(_("Choose at least one search mode to compare."))
        arguments = (principal, question, k, condition, rerank)
        self._run(SearchMode.CONVEX, *arguments)  # load models and open both indexes
        results = [self._run(mode, *arguments) for mode in dict.fromkeys(modes)]
        return Comparison(question, k, tuple(results))

    def _run(
        self,
        mode: SearchMode,
        principal: Principal,
        question: str,
        k: int,
        condition: Filter | None,
        rerank: bool,
    ) -> ModeResult:
        started_at = time.perf_counter()
        try:
            documents = self.search.search(
                principal, question, mode=mode, k=k, condition=condition, rerank=rerank
            )
        except InputError:
            raise  # invalid for every mode
        except AppError as error:
            return ModeResult(mode, error=message_for_everyone(error))
        milliseconds = 1000 * (time.perf_counter() - started_at)
        hits = [
            LabHit(document.id or "", rank, document, explain(question, document, condition))
            for rank, document in enumerate(documents, start=1)
        ]
        return ModeResult(mode, tuple(hits), milliseconds)
