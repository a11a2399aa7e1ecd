"""Searches in the active index of the library."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from domain import (
    Explanation,
    Filter,
    Move,
    Normalization,
    Principal,
    Scope,
    ScorePart,
    SearchMode,
)
from domain.errors import ConflictError, DamagedIndexError, InputError
from domain.language.tokens import matched_words
from domain.messages import _
from services.import_lock import LOADING
from services.imports.index_writer import searchable_text
from services.search.readable_passages import ReadablePassages
from services.search.search_scope import condition_of, require_known_fields, searchable
from services.search.searchable_library import Library
from services.texts import require_letters, require_possible_k
from storage.filters import checks_of, matches

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable

    from retrievers.rankers import Hit
    from retrievers.rerank import Reranking
    from services.search.ranking import OpenIndex


def explain(question: str, document: "Document", condition: Filter | None = None) -> Explanation:
    """Explain why `SearchService.search` returned a document for the question."""
    metadata = document.metadata
    text = searchable_text(metadata["title"], metadata["heading_path"], document.page_content)
    return Explanation(
        score=metadata["score"],
        parts=tuple(ScorePart(**part) for part in metadata["parts"]),
        matched_words=tuple(matched_words(question, text)),
        move=Move(**metadata["rerank"]) if "rerank" in metadata else None,
        condition=condition or {},
    )


NO_RERANKER = _("No reranker is configured: set FOOTNOTE_RERANK_PROVIDER to fastembed or http.")


@dataclass(frozen=True)
class RankingOptions:
    """The settings of the same names; if `dense_weight` is None, it depends on the language."""

    candidates: int = 100
    dense_weight: float | None = None
    score_threshold: float = 0.3
    normalisation: Normalization = Normalization.MIN_MAX


@dataclass(frozen=True)
class SearchService:
    """Retrieves passages; `mode` is the default mode, and `reranking` may be None."""

    library: Library
    mode: SearchMode = SearchMode.CONVEX
    options: RankingOptions = field(default_factory=RankingOptions)
    reranking: "Reranking | None" = None

    def search(
        self,
        principal: Principal,
        query: str,
        *,
        mode: SearchMode | None = None,
        k: int = 5,
        condition: Filter | None = None,
        rerank: bool | None = None,
        score_threshold: float | None = None,
        conversation_id: str = "",
    ) -> "list[Document]":
        """At most `k` passages, best first; the metadata has `score`, its `parts`, and the rank.

        If `rerank` is None, the passages are reranked if a reranker is configured; the metadata
        records the effect. The files of the conversation are searched too; the caller must have
        checked that it belongs to the user.

        Raises:
            InputError: The query is empty or not text, `k` is not between 1 and 1,000,
                `score_threshold` is not between 0 and 1, or the condition has an unknown field.
            ConflictError: `rerank` is set, but no reranker is configured.
            DamagedIndexError: Both stores of the index are damaged, or the one that `mode` needs.
                The default mode uses the intact store (see `Library.damage`).
        """
        if not query.strip():
            raise InputError(_("The query is empty: type the words to search for."))
        require_letters(query, _("query"))
        require_possible_k(k)
        retriever = self.retriever(
            principal,
            mode=mode,
            k=k,
            condition=condition,
            rerank=rerank,
            score_threshold=score_threshold,
            conversation_id=conversation_id,
        )
        return retriever.invoke(query)

    def retriever(
        self,
        principal: Principal,
        *,
        mode: SearchMode | None = None,
        k: int = 5,
        condition: Filter | None = None,
        rerank: bool | None = None,
        rephrase: "Runnable[str, list[str]] | None" = None,
        score_threshold: float | None = None,
        conversation_id: str = "",
    ) -> "BaseRetriever":
        """A LangChain retriever over the index that is active when it is invoked.

        Files of a conversation are retrieved only in that conversation, whatever the condition.
        `rephrase` returns rephrasings, which are searched in addition to the question.

        Raises:
            InputError: `score_threshold` is not between 0 and 1, or the condition has an unknown
                field or operator.
            ConflictError: `rerank` is set, but no reranker is configured.
        """
        with LOADING:
            from retrievers.ensemble import MultiQueryRetriever
            from retrievers.passage_retrievers import PassageRetriever

        require_known_fields(condition or {})
        mode, options = mode or self.mode, self._options(score_threshold)
        base: BaseRetriever = PassageRetriever(
            rank=_ActiveIndexRanker(
                self.library, principal, mode, mode == self.mode, options, conversation_id
            ),
            hydrate=self.passages(principal).hydrate,
            k=k,
            condition=condition,
        )
        if rephrase is not None:
            depth = self.options.candidates
            base = MultiQueryRetriever(base=base, rephrase=rephrase, k=k, depth=depth)
        if rerank and self.reranking is None:
            raise ConflictError(NO_RERANKER)
        return base if self.reranking is None or rerank is False else self.reranking.over(base, k)

    def respell(
        self,
        principal: Principal,
        question: str,
        condition: Filter | None = None,
        conversation_id: str = "",
    ) -> str:
        """The question with its spelling corrected to the words of the passages in scope.

        See `Spelling.correct`. Hidden passages have no effect. While the keyword index is damaged,
        nothing is corrected.
        """
        readable = self.library.access.readable(principal)
        full_condition = searchable(condition or {}, readable, conversation_id)
        hides = bool(readable.hidden or readable.denied.documents)
        texts = partial(self._searched_texts, principal)
        respell = partial(_respell, question, texts, full_condition, hides)
        return self.library.search_active(respell) or question

    def passages(self, principal: Principal) -> ReadablePassages:
        """The passages that the principal may read."""
        return ReadablePassages(self.library.documents, self.library.access, principal)

    def _searched_texts(self, principal: Principal, passage_ids: Sequence[str]) -> list[str]:
        return [
            searchable_text(one.metadata["title"], one.metadata["heading_path"], one.page_content)
            for one in self.passages(principal).hydrate(passage_ids)
        ]

    def condition(self, principal: Principal, scope: Scope) -> Filter:
        """The condition that narrows a search to the scope.

        Raises:
            ConflictError: The user has no such source, or `since` is after `until`.
            InputError: A date can't be parsed.
        """
        own = self.library.access.own_sources(principal).values() if scope.sources else ()
        return condition_of(scope, own)

    def matching(
        self,
        principal: Principal,
        passages: Sequence["Document"],
        condition: Filter,
        conversation_id: str = "",
    ) -> list["Document"]:
        """Those of the passages that a search with the condition may return, in order.

        Raises:
            ValueError: The condition is invalid.
        """
        readable = self.library.access.readable(principal)
        checks = checks_of(searchable(condition, readable, conversation_id))
        return [passage for passage in passages if matches(checks, passage.metadata)]

    def _options(self, score_threshold: float | None) -> RankingOptions:
        if score_threshold is None:
            return self.options
        if not 0 <= score_threshold <= 1:
            raise InputError(
                _("The score threshold must be between 0 and 1, not {score_threshold}.").format(
                    score_threshold=f"{score_threshold:g}"
                )
            )
        return replace(self.options, score_threshold=score_threshold)


def _respell(
    question: str,
    texts: Callable[[Sequence[str]], Iterable[str]],
    condition: Filter,
    hides: bool,
    index: "OpenIndex",
) -> str:
    from services.search.ranking import WORDS
    from services.search.spelling_correction import Spelling

    try:
        return Spelling(index.words, texts, condition, hides).correct(question)
    except DamagedIndexError as error:
        index.failures[WORDS] = str(error)
        return question


@dataclass(frozen=True)
class _ActiveIndexRanker:
    """A ranker that opens the index and looks up what may be read only when it ranks.

    While a model condenses the question, a reindex may replace the index, files may be uploaded to
    other conversations, and permissions may change.
    """

    library: Library
    principal: Principal
    mode: SearchMode
    is_default: bool
    """Whether the user did not choose the mode; only then may another one replace it."""
    options: RankingOptions
    conversation_id: str

    def __call__(self, question: str, depth: int, condition: Filter | None) -> "list[Hit]":
        """See `Ranker`."""
        readable = self.library.access.readable(self.principal)
        full_condition = searchable(condition or {}, readable, self.conversation_id) or None
        rank = partial(self._rank, question, depth, full_condition)
        return self.library.search_active(rank) or []

    def _rank(
        self, question: str, depth: int, condition: Filter | None, index: "OpenIndex"
    ) -> "list[Hit]":
        from services.search.ranking import build_ranker

        try:
            return build_ranker(self.mode, index, self.options)(question, depth, condition)
        except DamagedIndexError:
            if not self.is_default:
                raise
        return build_ranker(SearchMode.CONVEX, index, self.options)(question, depth, condition)
