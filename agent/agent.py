"""An agent that looks into the library as often as a question needs, and cites what it found."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.utils import AddableDict
from langchain_core.tools import BaseTool

from agent.background import Leaving, read_from_background
from agent.numbering import SourceNumbers
from agent.prompts import AGENT_PROMPT, SEARCH_FOR, UNANSWERED
from agent.telling import Piece, Telling
from chains.budget import fit_history
from chains.history import Said
from chains.markers import Text, parse_markers

if TYPE_CHECKING:  # slow, and only a question to the agent needs it
    from langgraph.graph.state import CompiledStateGraph

MakeTools = Callable[[SourceNumbers], Sequence[BaseTool]]
"""The tools of one answer, which number their sources with these numbers."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The most times that the model is asked, and that tools are called, for one answer."""

    model_calls: int = 8
    tool_calls: int = 12


def make_agent(
    model: BaseChatModel,
    tools: Sequence[BaseTool],
    limits: AgentLimits = AgentLimits(),  # it is frozen
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """LangChain's agent over any chat model that calls tools, told to search and to cite.

    Takes and gives `messages`; artifacts are in its tool messages. What a tool raises is a tool
    message with status "error". Beyond the tools' limit calls are refused and the model answers
    with what it has; beyond the model's the last message says so.
    """
    from langchain.agents import create_agent

    from agent.middleware import middleware

    return create_agent(
        model,
        list(tools),
        system_prompt=AGENT_PROMPT,
        middleware=middleware(limits.model_calls, limits.tool_calls),
    )


class DocumentAgent(Runnable[dict[str, Any], dict[str, Any]]):
    """Answers as `ConversationalRetrievalChain` does, in as many steps as it needs.

    Takes `question` and `chat_history`, and a `standalone_question` where a person worded one.
    Streams the pieces of `agent.telling.Telling`. Closing the stream closes the model's.
    """

    def __init__(
        self,
        model: BaseChatModel,
        make_tools: MakeTools,
        limits: AgentLimits = AgentLimits(),  # it is frozen
        *,
        max_history_tokens: int | None = None,
    ) -> None:
        """Args are kept, no model is asked.

        Args:
            model: Calls tools and answers.
            make_tools: Makes the tools for each answer.
            limits: How much it may do for one answer.
            max_history_tokens: The most that the history may take, None for all of it.
        """
        self._model = model
        self._make_tools = make_tools
        self._limits = limits
        self._max_history_tokens = max_history_tokens

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The stream's pieces added up, steps and what was written before them left out."""
        whole = AddableDict()
        for piece in self.stream(input, config, **kwargs):
            if "step" in piece:
                whole.pop("answer", None)
            else:
                whole = AddableDict(whole + AddableDict(piece))
        return whole

    def stream(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """The pieces as they come; raises what the model raises."""

        def pieces(leaving: Leaving) -> Iterator[Piece]:
            numbers = SourceNumbers()
            graph = make_agent(self._model, self._make_tools(numbers), self._limits)
            telling = Telling(numbers, self._limits.model_calls, self._limits.tool_calls)
            events = graph.stream(
                {"messages": self._messages(input)},
                merge_configs(config, {"callbacks": [leaving]}),
                stream_mode=["messages", "updates"],
                **kwargs,
            )
            return telling.pieces(events)

        with closing(read_from_background(pieces)) as read:
            yield from read

    def _messages(self, inputs: dict[str, Any]) -> list[BaseMessage]:
        history = inputs.get("chat_history") or []
        fitting = fit_history(history, self._max_history_tokens)
        asked = inputs["question"]
        if given := inputs.get("standalone_question"):
            asked = f"{asked}\n\n{SEARCH_FOR}{given}"
        return [message for said in fitting for message in _as_messages(said)] + [
            HumanMessage(asked)
        ]


def _as_messages(said: Said) -> list[BaseMessage]:
    """Without source numbers: those of this answer are others."""
    if isinstance(said, tuple):
        return [HumanMessage(said[0]), _as_answer(said[1])]
    return [_as_answer(str(said.text))] if said.type == "ai" else [said]


def _as_answer(text: str) -> AIMessage:
    """Never empty: some servers refuse an empty message, and some two questions in a row."""
    return AIMessage(_without_markers(text) or UNANSWERED)


def _without_markers(answer: str) -> str:
    bare = ""
    for piece in parse_markers(answer):
        bare = bare + piece.shown if isinstance(piece, Text) else bare.rstrip(" ")
    return bare
