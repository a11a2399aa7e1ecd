"""The chain that answers, with a chat model where one is set and without where not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bootstrap.parts import Parts
from domain import Principal, SearchChoice
from errors import ConflictError
from services.loading import LOADING

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

    from agent.agent import DocumentAgent
    from agent.numbering import SourceNumbers
    from agent.tools import ToolServices
    from chains.answer import Answerer
    from chains.condense import Condenser
    from chains.conversational_retrieval import ConversationalRetrievalChain
    from chains.extractive import ExtractiveAnswerer
    from chains.follow_ups import Idf
    from services.library import Library
    from services.search import SearchService


NO_MODEL = (
    "The agent needs a chat model: set FOOTNOTE_CHAT_MODEL and OPENAI_API_KEY or OPENAI_BASE_URL, "
    "or ask without the agent."
)


class Answering:
    """Builds a chain for each question: the index may be another than a moment ago."""

    def __init__(
        self,
        parts: Parts,
        library: "Library",
        search: "SearchService",
        tool_services: "ToolServices",
    ) -> None:
        self._parts = parts
        self._library = library
        self._search = search
        self._tool_services = tool_services

    def make_chain(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "Runnable[dict[str, Any], dict[str, Any]]":
        """The chain, or the agent, for one question of that person, over what answers now.

        Raises:
            InputError: What is chosen can't be searched, such as a source that there is not, or
                the agent is asked where no chat model is set.
            ConfigError: The file of MCP servers is wrong.
        """
        if search.by_agent:
            return self._make_agent(principal, search, conversation_id)
        with LOADING:
            return self._build_chain(self._make_retriever(principal, search, conversation_id))

    def _make_agent(
        self, principal: Principal, search: SearchChoice, conversation_id: str
    ) -> "DocumentAgent":
        with LOADING:
            import agent.middleware  # noqa: F401  # loads langchain, which the first answer needs
            from agent.agent import AgentLimits, DocumentAgent
            from agent.tools import document_tools

            model = self._parts.chat_model
        if model is None:
            raise ConflictError(NO_MODEL)
        self._search.condition(principal, search.scope)  # refused now rather than by each tool
        foreign, settings = self._foreign_tools(), self._parts.settings

        def make_tools(numbers: "SourceNumbers") -> "list[BaseTool]":
            own = document_tools(
                self._tool_services,
                principal,
                search=search,
                conversation_id=conversation_id,
                numbers=numbers,
            )
            return [*own, *foreign]

        return DocumentAgent(
            model,
            make_tools,
            AgentLimits(settings.agent_model_calls, settings.agent_tool_calls),
            max_history_tokens=settings.history_tokens,
        )

    def _foreign_tools(self) -> "Sequence[BaseTool]":
        """The tools of MCP servers that the settings allow, as they are at this question."""
        path = self._parts.settings.agent_mcp_servers
        if path is None:
            return ()
        from agent.foreign_tools import foreign_tools
        from settings import secret_variable

        return foreign_tools(path, secret_variable)

    def _build_chain(self, retriever: "BaseRetriever") -> "ConversationalRetrievalChain":
        from chains.conversational_retrieval import ConversationalRetrievalChain

        index = self._library.open_index()
        idf = None if index is None else index.idf
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
