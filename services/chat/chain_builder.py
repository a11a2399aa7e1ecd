"""Builds the chain that answers a question with a chat model or the built-in answerer."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from domain import Principal, SearchChoice
from models.chat_choice import ChatModelChoice
from services.chat.model_options import NEEDS_MODEL, NO_OPTIONS, ModelOptions
from services.import_lock import LOADING
from services.search.search_service import SearchService
from services.search.searchable_library import Library
from services.search.suggestion_service import SuggestionService
from storage.ledger.document_list_store import Titles

if TYPE_CHECKING:  # slow, and not needed to open the page
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable

    from chains.condensing.condense import Condenser
    from chains.condensing.follow_ups import Idf
    from chains.conversational_retrieval import ConversationalRetrievalChain
    from chains.extractive.extractive_answerer import ExtractiveAnswerer
    from chains.model_answer import Answerer
    from services.search.ranking import OpenIndex
    from services.search.scoped_documents import ScopedDocuments

FIRST_QUESTIONS = 12
"""The number of suggested questions from which small talk selects those in its language."""


class AnswerChain(NamedTuple):
    """Answers one question; streams the pieces of `ConversationalRetrievalChain`.

    `label` names the model in the answer; `seconds` is the time limit of the whole answer.
    """

    runnable: "Runnable[dict[str, Any], dict[str, Any]]"
    label: str
    seconds: float


class AnswerBuilder(Protocol):
    """Builds the chain for a question: `ChainBuilder`, or the agent's `AgentBuilder`."""

    def build(
        self,
        principal: Principal,
        search: SearchChoice,
        conversation_id: str,
        options: ModelOptions = NO_OPTIONS,
    ) -> AnswerChain:
        """The chain for a question in that conversation ("" for none), over the active index.

        Raises:
            InputError: The search is impossible, for example because a source was removed.
            ModelOptionError: There is no chat model for the options, or the agent is to answer.
            ConflictError: It needs a chat model, and none is configured.
            ConfigError: A file named in the settings is invalid.
        """


@dataclass(frozen=True)
class ChainOptions:
    """The settings of the same names."""

    top_k: int
    passages_tokens: int
    history_tokens: int
    window_passages: int
    multi_query: int
    chat_answer_timeout_s: float


@dataclass(frozen=True)
class ChainBuilder:
    """Builds a chain for each question, because an import or a reindex may change the index."""

    models: ChatModelChoice
    library: Library
    search: SearchService
    titles: Titles
    suggestions: SuggestionService
    options: ChainOptions

    def build(
        self,
        principal: Principal,
        search: SearchChoice,
        conversation_id: str,
        options: ModelOptions = NO_OPTIONS,
    ) -> AnswerChain:
        """See `AnswerBuilder`."""
        self.models.resolve()  # may call a server, so not under the lock
        with LOADING:
            from services.search.scoped_documents import ScopedDocuments

            model, label = self.models.answering_model()
            if model is None:
                options.require_none(NEEDS_MODEL)
            extractive = _extractive(self.library.open_index())
            condense = self.condenser(model, extractive.idf)
            answer = _answerer(model, extractive, options)
            documents = ScopedDocuments(
                self.search, self.titles, principal, search, conversation_id
            )
            chain = self._chain(model, condense, answer, documents)
            runnable = chain if model else self._route(chain, condense, extractive, documents)
        return AnswerChain(runnable, label, self.options.chat_answer_timeout_s)

    def runnable(
        self, principal: Principal, search: SearchChoice
    ) -> "Runnable[Any, dict[str, Any]]":
        """A Runnable that builds the chain anew for each question.

        The input is a question, or a dictionary as for `ConversationalRetrievalChain`. It raises
        the errors of `build`.
        """
        from langchain_core.runnables import RunnableLambda

        from chains.conversational_retrieval import as_inputs

        def chain(_inputs: dict[str, Any]) -> "Runnable[dict[str, Any], dict[str, Any]]":
            return self.build(principal, search, "").runnable

        return RunnableLambda(as_inputs) | RunnableLambda(chain, name="build_chain")

    def _chain(
        self,
        model: "BaseChatModel | None",
        condense: "Condenser",
        answer: "Answerer",
        documents: "ScopedDocuments",
    ) -> "ConversationalRetrievalChain":
        from langchain_core.runnables import RunnableLambda

        from chains.conversational_retrieval import ConversationalRetrievalChain

        return ConversationalRetrievalChain(
            retriever=self._retriever(model, documents),
            condense=condense,
            answer=answer,
            respell=RunnableLambda(documents.respell),
            guard_rewrite=True,
            return_source_documents=True,
            return_searched_questions=True,
            return_answer_message=True,
            return_answer_citations=True,
            return_reasoning=True,
            max_tokens_limit=self.options.passages_tokens,
            max_history_tokens=self.options.history_tokens,
        )

    def _retriever(
        self, model: "BaseChatModel | None", documents: "ScopedDocuments"
    ) -> "BaseRetriever":
        from chains.condensing.condense import rephrase_with_model
        from retrievers.passage_retrievers import WindowRetriever

        options, search = self.options, documents.choice
        k = options.top_k if search.k is None else search.k
        number = options.multi_query
        base = self.search.retriever(
            documents.principal,
            mode=search.mode,
            k=k,
            condition=documents.scope,
            rephrase=rephrase_with_model(model, number) if number and model else None,
            score_threshold=search.score_threshold,
            conversation_id=documents.conversation_id,
        )
        if not options.window_passages:
            return base
        return WindowRetriever(
            base=base,
            neighbors=self.search.passages(documents.principal).neighbors,
            k=k,
            passages=options.window_passages,
            # A character is at most one token, so one window always fits.
            max_chars=options.passages_tokens,
        )

    def _route(
        self,
        chain: "ConversationalRetrievalChain",
        condense: "Condenser",
        answer: "ExtractiveAnswerer",
        documents: "ScopedDocuments",
    ) -> "Runnable[dict[str, Any], dict[str, Any]]":
        """The chain, preceded by answerers for small talk and other requests without a model."""
        from langchain_core.runnables import RunnableBranch

        from chains.requests.document_search import DocumentAnswerer
        from chains.requests.request_kinds import (
            ask_for_definition,
            is_document_request,
            is_single_word,
            is_small_talk,
            is_summary_request,
        )
        from chains.requests.small_talk import LibraryFacts, SmallTalkAnswerer
        from chains.requests.summary import Summarizer

        def library_facts() -> LibraryFacts:
            principal, today = documents.principal, date.today()
            questions = self.suggestions.documents_of(principal, today, FIRST_QUESTIONS)
            return LibraryFacts(documents.count(), questions)

        return RunnableBranch(
            (is_small_talk, SmallTalkAnswerer(library_facts)),
            (is_document_request, DocumentAnswerer(documents, condense, answer, answer.embeddings)),
            (is_summary_request, Summarizer(documents, condense, chain, answer.idf)),
            (is_single_word, ask_for_definition | chain),
            chain,
        )

    def condenser(self, model: "BaseChatModel | None", idf: "Idf | None") -> "Condenser":
        """Build the condenser, which uses the model, or rules if it is None."""
        from chains.condensing.condense import RuleCondenser, condense_with_model

        rules = RuleCondenser(idf)
        return condense_with_model(model, fallback=rules) if model else rules


def _answerer(
    model: "BaseChatModel | None", extractive: "ExtractiveAnswerer", options: ModelOptions
) -> "Answerer":
    if model is None:
        return extractive
    from chains.model_answer import AnswererWithExtract, answer_with_model

    by_model = answer_with_model(options.bound_to(model), options.prompt())
    if options.response_format:  # an extract would not be JSON
        return by_model
    return AnswererWithExtract(by_model, extractive, offers_tools=bool(options.tools))


def _extractive(index: "OpenIndex | None") -> "ExtractiveAnswerer":
    from chains.extractive.extractive_answerer import ExtractiveAnswerer

    if index is None:
        return ExtractiveAnswerer()
    return ExtractiveAnswerer(
        idf=index.idf, embeddings=index.passages.embeddings, knows_meaning=index.is_calibrated
    )
