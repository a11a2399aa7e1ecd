"""The chain that answers, with a chat model where one is set and without where not."""

import threading
from typing import TYPE_CHECKING

from bootstrap.parts import Parts
from domain import Principal, SearchChoice

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable

    from chains.answer import Answerer
    from chains.condense import Condenser
    from chains.conversational_retrieval import ConversationalRetrievalChain
    from chains.extractive import ExtractiveAnswerer
    from chains.follow_ups import Idf
    from services.library import Library
    from services.search import SearchService


class Answering:
    """Builds a chain for each question: the index may be another than a moment ago."""

    def __init__(self, parts: Parts, library: "Library", search: "SearchService") -> None:
        self._parts = parts
        self._library = library
        self._search = search
        self._making = threading.Lock()

    def make_chain(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "ConversationalRetrievalChain":
        """The chain for one question of that person, over the index that answers now.

        Raises:
            InputError: What is chosen can't be searched, such as a source that there is not.
        """
        with self._making:  # two threads that import the same modules trip over each other
            return self._build_chain(self._make_retriever(principal, search, conversation_id))

    def _build_chain(self, retriever: "BaseRetriever") -> "ConversationalRetrievalChain":
        from chains.conversational_retrieval import ConversationalRetrievalChain

        index = self._library.open_index()
        idf = None if index is None else index.keywords.idf
        embeddings = None if index is None else index.passages.embeddings
        return ConversationalRetrievalChain(
            retriever=retriever,
            condense=self.make_condenser(idf),
            answer=self._make_answerer(idf, embeddings),
            guard_rewrite=True,
            return_source_documents=True,
            return_searched_questions=True,
            return_answer_message=True,
            max_tokens_limit=self._parts.settings.passages_tokens,
            max_history_tokens=self._parts.settings.history_tokens,
        )

    def _make_retriever(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "BaseRetriever":
        from retrievers.window import WindowRetriever

        settings = self._parts.settings
        k = settings.top_k if search.k is None else search.k
        found = self._search.retriever(
            principal,
            mode=search.mode,
            k=k,
            condition=self._search.condition(principal, search.scope),
            rephrase=self._rephrase,
            score_threshold=search.score_threshold,
            conversation_id=conversation_id,
        )
        if not settings.window_passages:
            return found
        return WindowRetriever(
            base=found,
            neighbours=self._search.documents.neighbours,
            k=k,
            passages=settings.window_passages,
            # No character takes more than a token: one window always fits.
            max_chars=settings.passages_tokens,
        )

    @property
    def _rephrase(self) -> "Runnable[str, list[str]] | None":
        from chains.rephrase import rephrase_with_model

        number = self._parts.settings.multi_query
        return (
            rephrase_with_model(self._parts.chat_model, number)
            if number and self._parts.chat_model
            else None
        )

    def make_condenser(self, idf: "Idf | None") -> "Condenser":
        """What makes a follow-up stand alone: the chat model, or rules where none is set."""
        from chains.condense import RuleCondenser, condense_with_model

        if self._parts.chat_model:
            return condense_with_model(self._parts.chat_model)
        return RuleCondenser(idf)

    def _make_answerer(self, idf: "Idf | None", embeddings: "Embeddings | None") -> "Answerer":
        from chains.answer import answer_with_model

        if self._parts.chat_model:
            return answer_with_model(self._parts.chat_model)
        return self.make_extractive(idf, embeddings)

    def make_extractive(
        self, idf: "Idf | None", embeddings: "Embeddings | None"
    ) -> "ExtractiveAnswerer":
        """The answerer that quotes and asks no model."""
        from chains.extractive import ExtractiveAnswerer

        return ExtractiveAnswerer(idf=idf, embeddings=embeddings)
