"""Searching the library: the index that answers now, its modes, LangChain's retriever over it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable

from domain import Filter, Principal, Scope, SearchMode
from errors import ConflictError, DamagedIndexError, InputError
from retrievers.hits import Hit
from retrievers.multi_query import MultiQueryRetriever
from retrievers.passages import PassageRetriever
from retrievers.rankers import Ranker
from retrievers.rerank import Reranking
from services.indexing import searchable_text
from services.library import Library
from services.own_sources import own_sources
from services.questions import require_letters, require_possible_k
from services.ranking import WORDS, RankingOptions, build_ranker
from services.scope import condition_of, require_known_fields, searchable
from services.spelling import Spelling
from storage.documents import Documents

NO_RERANKER = "No reranker is set: set FOOTNOTE_RERANK_PROVIDER to fastembed or http."


@dataclass(frozen=True)
class SearchService:
    """Finds passages; `mode` is the one used where a call names none.

    `reranking` puts a reranker on top; None where none is set.
    """

    library: Library
    documents: Documents
    mode: SearchMode = SearchMode.CONVEX
    options: RankingOptions = field(default_factory=RankingOptions)
    reranking: Reranking | None = None

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
    ) -> list[Document]:
        """At most `k` passages, best first, with `score`, its `parts` and the place of each.

        `rerank` None reranks where a reranker is set; what became of it is in the metadata. What
        was dropped into that conversation is searched as well; whose it is, the caller knows.

        Raises:
            InputError: The query is empty or no text, `k` is not between 1 and 1,000,
                `score_threshold` not between 0 and 1, or the condition names an unknown field.
            ConflictError: `rerank` is asked for and no reranker set.
            DamagedIndexError: Both stores of the index are damaged, or the one that `mode` needs;
                the mode of the settings does with what is left (see `Library.damage`).
        """
        if not query.strip():
            raise InputError("The query is empty: type the words to search for.")
        require_letters(query, "query")
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
        principal: Principal,  # noqa: ARG002  # every call names who asks
        *,
        mode: SearchMode | None = None,
        k: int = 5,
        condition: Filter | None = None,
        rerank: bool | None = None,
        rephrase: Runnable[str, list[str]] | None = None,
        score_threshold: float | None = None,
        conversation_id: str = "",
    ) -> BaseRetriever:
        """LangChain's retriever over the index that answers when it is asked.

        What was dropped into a conversation is found in that one alone, and there whatever the
        condition is. With `rephrase` the wordings it gives are searched beside the question.

        Raises:
            InputError: `score_threshold` is not between 0 and 1, or the condition names an
                unknown field or operator.
            ConflictError: `rerank` is asked for and no reranker set.
        """
        require_known_fields(condition or {})
        base: BaseRetriever = PassageRetriever(
            rank=self._ranker(mode or self.mode, self._options(score_threshold), conversation_id),
            hydrate=self.documents.hydrate,
            k=k,
            condition=condition,
        )
        if rephrase is not None:
            depth = self.options.candidates
            base = MultiQueryRetriever(base=base, rephrase=rephrase, k=k, depth=depth)
        if rerank and self.reranking is None:
            raise ConflictError(NO_RERANKER)
        return base if self.reranking is None or rerank is False else self.reranking.over(base, k)

    def respelled(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        question: str,
        condition: Filter | None = None,
        conversation_id: str = "",
    ) -> str:
        """The question with misspelled words replaced by those of passages it may be answered from.

        See `Spelling.correct`. While the keyword index is damaged it stays as it is.
        """
        index = self.library.open_index()
        if index is None:
            return question
        allowed = searchable(condition or {}, self.library.sources.list(), conversation_id)
        matching = index.matching(allowed) if allowed else None
        try:
            return Spelling(index.keywords, self._searched_texts, matching).correct(question)
        except DamagedIndexError as error:
            index.failures[WORDS] = str(error)
            return question

    def _searched_texts(self, passage_ids: Sequence[str]) -> list[str]:
        return [
            searchable_text(one.metadata["title"], one.metadata["heading_path"], one.page_content)
            for one in self.documents.hydrate(passage_ids)
        ]

    def condition(self, principal: Principal, scope: Scope) -> Filter:
        """The condition that narrows a search to the scope.

        Raises:
            ConflictError: It names a source that the person does not know, or `since` lies
                after `until`.
            InputError: It names no date where one is expected.
        """
        own = own_sources(self.library.sources, principal).values() if scope.sources else ()
        return condition_of(scope, own)

    def _options(self, score_threshold: float | None) -> RankingOptions:
        if score_threshold is None:
            return self.options
        if not 0 <= score_threshold <= 1:
            raise InputError(
                f"The score threshold must be between 0 and 1, it is {score_threshold:g}."
            )
        return replace(self.options, score_threshold=score_threshold)

    def _ranker(self, mode: SearchMode, options: RankingOptions, conversation_id: str) -> Ranker:
        """Opens the index, and looks up what is private, only when it ranks.

        While a model condenses the question, a reindex may take over and delete the old one, and
        other conversations may be given files.
        """

        def rank(question: str, depth: int, condition: Filter | None) -> list[Hit]:
            index = self.library.open_index()
            if index is None:  # nothing was imported yet
                return []
            sources = self.library.sources.list()
            allowed = searchable(condition or {}, sources, conversation_id) or None
            try:
                return build_ranker(mode, index, options)(question, depth, allowed)
            except DamagedIndexError:
                if mode != self.mode:  # what a person chose is not replaced in silence
                    raise
            return build_ranker(SearchMode.CONVEX, index, options)(question, depth, allowed)

        return rank
