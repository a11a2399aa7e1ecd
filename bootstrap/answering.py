"""The chain that answers, with a chat model where one is set and without where not."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from bootstrap.parts import AnsweringModel, Parts
from domain import Principal, SearchChoice
from errors import ConflictError
from services.loading import LOADING

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

    from agent.numbering import SourceNumbers
    from agent.tools import ToolServices
    from bootstrap.timed_answer import TimedAnswer
    from chains.answer import Answerer
    from chains.condense import Condenser
    from chains.extractive import ExtractiveAnswerer
    from chains.follow_ups import Idf
    from chains.small_talk import LibraryFacts
    from services.library import Library
    from services.scoped_documents import ScopedDocuments
    from services.search import SearchService
    from services.suggestions import SuggestionService

    class AnsweringServices(ToolServices, Protocol):
        """What answers need beside the library and its search; `bootstrap.Services` has it."""

        @property
        def suggestions(self) -> "SuggestionService":
            """First questions about the library."""


NO_MODEL = (
    "The agent needs a chat model: set FOOTNOTE_CHAT_MODEL and OPENAI_API_KEY or OPENAI_BASE_URL, "
    "or ask without the agent."
)


FIRST_QUESTIONS = 12
"""From so many questions to begin with those in the language of the person are chosen."""


class Answering:
    """Builds a chain for each question: the index may be another than a moment ago."""

    def __init__(
        self,
        parts: Parts,
        library: "Library",
        search: "SearchService",
        services: "AnsweringServices",
    ) -> None:
        self._parts = parts
        self._library = library
        self._search = search
        self._services = services

    def make_chain(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "Runnable[dict[str, Any], dict[str, Any]]":
        """The chain, or the agent, for one question of that person, over what answers now.

        Raises:
            InputError: What is chosen can't be searched, such as a source that there is not, or
                the agent is asked where no chat model is set.
            ConfigError: The file of MCP servers is wrong.
        """
        self._parts.chat_choice.settled()  # nobody else's loading waits for a server
        if search.by_agent:
            return self._make_agent(principal, search, conversation_id)
        with LOADING:
            model = self._parts.answering_model
            return self._build_chain(model, principal, search, conversation_id)

    def _make_agent(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "TimedAnswer":
        with LOADING:
            import agent.middleware  # noqa: F401  # loads langchain, which the first answer needs
            from agent.agent import AgentLimits, DocumentAgent
            from agent.tools import document_tools

            model, label = self._parts.answering_model
        if model is None:
            raise ConflictError(NO_MODEL)
        self._search.condition(principal, search.scope)  # refused now rather than by each tool
        foreign, settings = self._foreign_tools(), self._parts.settings

        def make_tools(numbers: "SourceNumbers") -> "list[BaseTool]":
            own = document_tools(
                self._services,
                principal,
                search=search,
                conversation_id=conversation_id,
                numbers=numbers,
            )
            return [*own, *foreign]

        documents_agent = DocumentAgent(
            model,
            make_tools,
            AgentLimits(settings.agent_model_calls, settings.agent_tool_calls),
            max_history_tokens=settings.history_tokens,
        )
        return self._timed(documents_agent, label)

    def _foreign_tools(self) -> "Sequence[BaseTool]":
        """The tools of MCP servers that the settings allow, as they are at this question."""
        path = self._parts.settings.agent_mcp_servers
        if path is None:
            return ()
        from agent.foreign_tools import foreign_tools
        from settings import secret_variable

        return foreign_tools(path, secret_variable)

    def _build_chain(
        self,
        answering: AnsweringModel,
        principal: Principal,
        search: SearchChoice,
        conversation_id: str,
    ) -> "TimedAnswer":
        from chains.conversational_retrieval import ConversationalRetrievalChain

        index, settings = self._library.open_index(), self._parts.settings
        idf = None if index is None else index.idf
        embeddings = None if index is None else index.passages.embeddings
        condense = _condenser(answering.model, idf)
        known = index is not None and index.is_calibrated
        extractive = self.make_extractive(idf, embeddings, knows_meaning=known)
        answer = _with_model(answering.model, extractive)
        chain = ConversationalRetrievalChain(
            retriever=self._make_retriever(answering.model, principal, search, conversation_id),
            condense=condense,
            answer=answer,
            respell=self._make_respell(principal, search, conversation_id),
            guard_rewrite=True,
            return_source_documents=True,
            return_searched_questions=True,
            return_answer_message=True,
            return_answer_citations=True,
            max_tokens_limit=settings.passages_tokens,
            max_history_tokens=settings.history_tokens,
        )
        if answering.model is not None:
            return self._timed(chain, answering.label)
        from bootstrap.built_in_answers import route_by_kind

        documents = self._scoped_documents(principal, search, conversation_id)
        facts = partial(self._library_facts, principal, documents)
        routed = route_by_kind(chain, condense, answer, idf, embeddings, documents, facts)
        return self._timed(routed, answering.label)

    def _scoped_documents(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "ScopedDocuments":
        from services.scoped_documents import ScopedDocuments
        from storage.titles import Titles

        titles = Titles(self._parts.database)
        return ScopedDocuments(self._search, titles, principal, search, conversation_id)

    def _library_facts(self, principal: Principal, documents: "ScopedDocuments") -> "LibraryFacts":
        from chains.small_talk import LibraryFacts

        first = self._services.suggestions.suggest(principal, date.today(), FIRST_QUESTIONS)
        return LibraryFacts(documents.count(), first)

    def _timed(
        self, chain: "Runnable[dict[str, Any], dict[str, Any]]", label: str
    ) -> "TimedAnswer":
        from bootstrap.timed_answer import TimedAnswer

        return TimedAnswer(chain, label, self._parts.settings.chat_answer_timeout_s)

    def _make_retriever(
        self,
        model: "BaseChatModel | None",
        principal: Principal,
        search: SearchChoice,
        conversation_id: str,
    ) -> "BaseRetriever":
        from retrievers.window import WindowRetriever

        settings = self._parts.settings
        k = settings.top_k if search.k is None else search.k
        found = self._search.retriever(
            principal,
            mode=search.mode,
            k=k,
            condition=self._search.condition(principal, search.scope),
            rephrase=self._rephrase(model),
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

    def _make_respell(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "Runnable[str, str]":
        from langchain_core.runnables import RunnableLambda

        condition = self._search.condition(principal, search.scope)

        def respell(question: str) -> str:
            return self._search.respelled(principal, question, condition, conversation_id)

        return RunnableLambda(respell)

    def _rephrase(self, model: "BaseChatModel | None") -> "Runnable[str, list[str]] | None":
        from chains.rephrase import rephrase_with_model

        number = self._parts.settings.multi_query
        return rephrase_with_model(model, number) if number and model else None

    def make_condenser(self, idf: "Idf | None") -> "Condenser":
        """What makes a follow-up stand alone: the chat model, or rules where none is set."""
        return _condenser(self._parts.chat_model, idf)

    def make_extractive(
        self, idf: "Idf | None", embeddings: "Embeddings | None", *, knows_meaning: bool
    ) -> "ExtractiveAnswerer":
        """The answerer that quotes and asks no model.

        `knows_meaning` says whether the answer decision was fitted on these embeddings.
        """
        from chains.extractive import ExtractiveAnswerer

        return ExtractiveAnswerer(idf=idf, embeddings=embeddings, knows_meaning=knows_meaning)


def _with_model(model: "BaseChatModel | None", extractive: "ExtractiveAnswerer") -> "Answerer":
    if model is None:
        return extractive
    from chains.answer import answer_with_model
    from chains.answer_with_extract import AnswererWithExtract

    return AnswererWithExtract(answer_with_model(model), extractive)


def _condenser(model: "BaseChatModel | None", idf: "Idf | None") -> "Condenser":
    from chains.condense import RuleCondenser, condense_with_model

    by_rule = RuleCondenser(idf)
    return condense_with_model(model, fallback=by_rule) if model else by_rule
