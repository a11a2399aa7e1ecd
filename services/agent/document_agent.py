"""An agent that searches the library in several steps and cites the results."""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.utils import AddableDict
from langchain_core.tools import BaseTool

from chains.citations.answer_check import CheckedAnswer, check_answer
from chains.citations.marker_parser import MarkerParser
from chains.citations.markers import Text
from chains.history import HistoryEntry, fit_history
from domain import Principal
from domain.errors import NotFoundError
from services.agent.agent_events import AgentEventAdapter, Piece
from services.agent.agent_tools import ToolServices
from services.agent.tool_results import SourceNumbers
from services.chat.running_answer import retrieved_passage

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


T = TypeVar("T")

SEARCH_FOR = "Search for this first, exactly as it is written: "
"""Precedes a standalone question that a user wrote."""

UNANSWERED, NO_TEXT = "(no answer)", "(no text)"
"""Replaces the missing answer of a question that failed or was stopped."""

THREAD = "agent"
JOIN_TIMEOUT_S = 1.0
"""Seconds that closing waits for the thread, which then ends on its own."""


class StreamClosed(BaseException):  # like GeneratorExit, not an error
    """The stream's consumer has closed it. Not an `Exception`, so that no handler catches it."""


class Cancellation(BaseCallbackHandler):
    """Ends the run at the model's next token after a cancellation."""

    raise_error = True
    run_inline = True

    def __init__(self) -> None:
        self._canceled = threading.Event()

    def cancel(self) -> None:
        """End the run at its next callback."""
        self._canceled.set()

    def raise_if_canceled(self) -> None:
        """Raise StreamClosed after a cancellation."""
        if self._canceled.is_set():
            raise StreamClosed

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Start no further model call."""
        self.raise_if_canceled()

    def on_llm_new_token(self, *_: Any, **__: Any) -> None:
        """Close the stream of the running model call."""
        self.raise_if_canceled()


def read_from_background(make: Callable[[Cancellation], Iterator[T]]) -> Generator[T, None, None]:
    """Iterate in this thread over what `make` yields in another; closing the generator ends it.

    When its stream is closed, a graph would wait for its models. Here the models' streams are
    closed, because `make` passes the `Cancellation` to them as a callback.
    """
    cancellation = Cancellation()
    queue: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    thread = threading.Thread(
        target=copy_context().run, args=(_work, make, cancellation, queue), name=THREAD, daemon=True
    )
    thread.start()
    try:
        while (kind_and_item := queue.get())[0] == "item":
            yield kind_and_item[1]
    finally:
        cancellation.cancel()
        thread.join(JOIN_TIMEOUT_S)
    if kind_and_item[0] == "error":
        raise kind_and_item[1]


def _work(
    make: Callable[[Cancellation], Iterator[T]],
    cancellation: Cancellation,
    queue: "SimpleQueue[tuple[str, Any]]",
) -> None:
    try:
        for item in make(cancellation):
            queue.put(("item", item))
            cancellation.raise_if_canceled()
    except BaseException as error:  # noqa: BLE001  # raised again in the consumer's thread
        queue.put(("error", error))
    else:
        queue.put(("end", None))


def checked_answer(
    services: ToolServices,
    answer: str,
    documents: Sequence[Document],
    principal: Principal,
) -> CheckedAnswer:
    """The answer as displayed, with its citations checked like those of the chat.

    Args:
        services: Reads the stored documents.
        answer: Text with markers such as `[1]` or `[1: "the source's own words"]`.
        documents: The documents that the model received; number n is at index n - 1, as in the
            tools' artifacts and `SourceNumbers.documents`.
        principal: The user.
    """
    passages = [retrieved_passage(n, "", document) for n, document in enumerate(documents, start=1)]

    def text_of(document_id: str) -> str | None:
        try:
            return services.reader.text(principal, document_id)
        except NotFoundError:
            return None

    return check_answer(answer, passages, text_of)


ToolFactory = Callable[[SourceNumbers], Sequence[BaseTool]]
"""Makes the tools of one answer, which share these numbers."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The maximum numbers of model calls and of tool calls for one answer."""

    model_calls: int = 8
    tool_calls: int = 12


def make_agent(
    model: BaseChatModel,
    tools: Sequence[BaseTool],
    limits: AgentLimits = AgentLimits(),  # immutable
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """A LangChain agent that searches and cites, over any chat model that supports tools.

    Its input and output are `messages`; artifacts are in the tool messages. An error of a tool is a
    tool message with status "error". Beyond the limit of tool calls, further calls are rejected and
    the model answers with the results so far. Beyond the limit of model calls, the last message
    says so.
    """
    from langchain.agents import create_agent

    from services.agent.agent_middleware import middleware

    steps = middleware(limits.model_calls, limits.tool_calls)
    return create_agent(model, list(tools), middleware=steps)


@dataclass(eq=False, repr=False)
class DocumentAgent(Runnable[dict[str, Any], dict[str, Any]]):
    """Answers like `ConversationalRetrievalChain`, in several steps.

    The inputs are `question`, `chat_history`, and optionally a `standalone_question` that a user
    wrote. Streams the pieces of `AgentEventAdapter`. Closing the stream closes the model's.
    """

    model: BaseChatModel
    """A model that supports tools."""
    make_tools: ToolFactory
    limits: AgentLimits = AgentLimits()  # immutable
    max_history_tokens: int | None = None
    """The maximum length of the history; None for no limit."""

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The sum of the streamed pieces, without steps and the text before them."""
        total = AddableDict()
        for piece in self.stream(input, config, **kwargs):
            if "step" in piece:
                total.pop("answer", None)
            else:
                total = AddableDict(total + AddableDict(piece))
        return total

    def stream(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """The pieces of `AgentEventAdapter`; raises errors of the model."""

        def pieces(cancellation: Cancellation) -> Iterator[Piece]:
            numbers = SourceNumbers()
            graph = make_agent(self.model, self.make_tools(numbers), self.limits)
            adapter = AgentEventAdapter(
                numbers, self.limits.model_calls, self.limits.tool_calls, input["question"]
            )
            events = graph.stream(
                {"messages": self._messages(input)},
                merge_configs(config, {"callbacks": [cancellation]}),
                stream_mode=["messages", "updates"],
                **kwargs,
            )
            return adapter.pieces(events)

        with closing(read_from_background(pieces)) as items:
            yield from items

    def _messages(self, inputs: dict[str, Any]) -> list[BaseMessage]:
        history = inputs.get("chat_history") or []
        fitting = fit_history(history, self.max_history_tokens)
        question = inputs["question"]
        if standalone := inputs.get("standalone_question"):
            question = f"{question}\n\n{SEARCH_FOR}{standalone}"
        return [message for entry in fitting for message in _as_messages(entry)] + [
            HumanMessage(question)
        ]


def _as_messages(entry: HistoryEntry) -> list[BaseMessage]:
    """The entry as messages, without markers, because this answer has different numbers."""
    if isinstance(entry, tuple):
        question = entry[0] if entry[0].strip() else NO_TEXT
        return [HumanMessage(question), _as_answer(entry[1])]
    return [_as_answer(str(entry.text))] if entry.type == "ai" else [entry]


def _as_answer(text: str) -> AIMessage:
    """The text as a message that is never empty.

    Some servers reject an empty message, and others two consecutive questions.
    """
    return AIMessage(_without_markers(text) or UNANSWERED)


def _without_markers(answer: str) -> str:
    bare = ""
    for piece in MarkerParser().parse(answer):
        bare = bare + piece.shown if isinstance(piece, Text) else bare.rstrip(" ")
    return bare
