"""Builds the agent for a question, with its tools and limits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain import Principal, SearchChoice
from domain.errors import ConflictError
from domain.messages import _
from models.chat_choice import ChatModelChoice
from services.chat.chain_builder import AnswerChain
from services.chat.model_options import NO_OPTIONS, NOT_FOR_AGENT, ModelOptions
from services.import_lock import LOADING
from settings import Settings, secret_variable

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from services.agent.agent_tools import ToolServices
    from services.agent.tool_results import SourceNumbers

NO_MODEL = _(
    "The agent needs a chat model: set FOOTNOTE_CHAT_MODEL and OPENAI_API_KEY or OPENAI_BASE_URL,"
    " or ask without the agent."
)


@dataclass(frozen=True)
class AgentBuilder:
    """Builds an agent for each question; see `services.chat.chain_builder.AnswerBuilder`."""

    settings: Settings
    models: ChatModelChoice
    services: "ToolServices"

    def build(
        self,
        principal: Principal,
        search: SearchChoice,
        conversation_id: str,
        options: ModelOptions = NO_OPTIONS,
    ) -> AnswerChain:
        """Build the agent; raises ConflictError if no chat model is configured."""
        options.require_none(NOT_FOR_AGENT)
        self.models.resolve()  # may query a server, so not under the lock
        with LOADING:
            import services.agent.agent_middleware  # noqa: F401  # load langchain now
            from services.agent.agent_tools import document_tools
            from services.agent.document_agent import AgentLimits, DocumentAgent

            model, label = self.models.answering_model()
        if model is None:
            raise ConflictError(NO_MODEL)
        self.services.search.condition(principal, search.scope)  # reject it before any tool does
        external, settings = self._external_tools(), self.settings

        def make_tools(numbers: "SourceNumbers") -> "list[BaseTool]":
            own = document_tools(
                self.services,
                principal,
                search=search,
                conversation_id=conversation_id,
                numbers=numbers,
            )
            return [*own, *external]

        limits = AgentLimits(settings.agent_model_calls, settings.agent_tool_calls)
        built = DocumentAgent(model, make_tools, limits, max_history_tokens=settings.history_tokens)
        return AnswerChain(built, label, settings.chat_answer_timeout_s)

    def _external_tools(self) -> "list[BaseTool]":
        """The allowed tools of the configured MCP servers, read again for each question."""
        path = self.settings.agent_mcp_servers
        if path is None:
            return []
        from services.agent.external_tools import external_tools

        return list(external_tools(path, secret_variable))
