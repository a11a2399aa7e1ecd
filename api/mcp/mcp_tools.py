"""The tools of the MCP server: the agent's tools, with structured output in addition to the text.

Calls are independent: nothing is stored, and passages are numbered from 1 in each result.
"""

import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing
from functools import partial
from typing import Annotated, Any

import anyio.from_thread
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from api.authentication import Call
from api.field_types import Schema
from domain import ApiScope, CitationState, Turn, TurnState, public_location
from services.agent.agent_tools import (
    NoArguments,
    QuestionArguments,
    document_tools,
    failure_text,
    reason_of,
    wrong_arguments,
)
from services.agent.tool_results import (
    NumberedAnswer,
    SourceNumbers,
    answer_output,
    numbered_answer,
    sources_output,
)
from services.events import Event, PassagesRetrieved, Searching, TextDelta, TurnFinished
from services.sources.source_service import SourceStatus

_Location = Annotated[str, AfterValidator(public_location)]


class _Output(Schema):
    model_config = ConfigDict(extra="forbid")


class Passage(_Output):
    """A piece of a document with its exact span."""

    n: int
    """Number of the passage in this result, from 1"""
    document_id: str
    """Id of the document, for open_document"""
    title: str
    location: _Location
    """Address of the document; of a file, only its name"""
    page: int | None
    """Page number from 1; null for formats without pages"""
    headings: list[str]
    """Headings above the passage, outermost first"""
    text: str
    score: float | None
    """Relevance score; null if the passage was not found by a search"""
    start: int
    """Start offset in the document's text, in characters"""
    end: int
    """End offset, exclusive"""


class Passages(_Output):
    """Passages, best first or in the order of the document."""

    passages: list[Passage]


class Citation(_Output):
    """A citation of a passage, checked against the stored document."""

    n: int
    """Number of the cited passage"""
    state: CitationState
    """verified: the quoted words appear in the document, which does not prove that they answer
    the question; not found: the document does not contain them; no such source: no source has
    that number"""
    quote: str
    """The words that support the answer"""
    document_id: str
    title: str
    location: _Location
    page: int | None
    start: int
    """Start offset of the quote in the document's text; -1 if not found"""
    end: int
    """End offset, exclusive; -1 if not found"""


class Answer(_Output):
    """An answer whose markers [n] are the numbers of its passages."""

    answer: str
    """The answer in Markdown; brackets from documents are escaped, so every [n] is a citation
    marker"""
    state: TurnState
    """complete, or incomplete if the model stopped early"""
    model: str
    """Name of the model that wrote the answer"""
    citations: list[Citation]
    unsupported_sentences: int
    """Number of sentences without a verified citation"""
    passages: list[Passage]
    """The passages that the answer cites"""


class LibrarySource(_Output):
    """A source that the tools search, with its numbers of documents and passages."""

    name: str
    kind: str
    collection: str
    labels: list[str]
    documents: int
    passages: int


class LibrarySources(_Output):
    """The sources that the tools search."""

    sources: list[LibrarySource]


def passages_of(artifact: Mapping[str, Any]) -> Passages:
    """The passages that a tool found, from the artifact of its result."""
    return Passages(passages=_passages(artifact["documents"], artifact["numbers"]))


def answer_of(turn: Turn, numbered: NumberedAnswer) -> Answer:
    """The renumbered answer of a turn, with the location of each citation."""
    new = {document.id: n for n, document in zip(numbered.numbers, numbered.documents, strict=True)}
    numbers = {source.n: new.get(source.passage_id) for source in turn.sources}
    return Answer.from_objects(
        turn,
        answer=numbered.text,
        citations=[
            Citation.from_objects(one, n=n)
            for one in turn.citations
            if (n := numbers.get(one.n)) is not None
        ],
        passages=_passages(numbered.documents, numbered.numbers),
    )


def sources_of(statuses: Sequence[SourceStatus]) -> LibrarySources:
    """The sources with their numbers of documents and passages, in the same order."""
    return LibrarySources(
        sources=[
            LibrarySource.from_objects(
                one.source,
                one.figures,
                name=one.source.name or public_location(one.source.location),
            )
            for one in statuses
        ]
    )


def _passages(documents: Sequence[Document], numbers: Sequence[int]) -> list[Passage]:
    return [
        _passage(n, document.page_content, document.metadata)
        for n, document in zip(numbers, documents, strict=True)
    ]


def _passage(n: int, text: str, metadata: Mapping[str, Any]) -> Passage:
    names = ("document_id", "title", "location", "page", "start", "end")
    return Passage(
        n=n,
        headings=metadata["heading_path"],
        text=text,
        score=metadata.get("score"),
        **{name: metadata[name] for name in names},
    )


Report = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
"""Sends progress, its total (None if unknown), and a message, if the client asked for progress."""

_REPORT_INTERVAL_S = 1.0


class CanceledError(Exception):
    """The client no longer waits for the answer."""


class Progress:
    """Reports the progress of one answer; `update` is called by the thread that writes it."""

    def __init__(self, report: Report) -> None:
        """`report` runs in the event loop from which the thread was started."""
        self._report = report
        self._stopped = threading.Event()
        self._steps = 0
        self._characters = 0
        self._last_report = 0.0

    def stop(self) -> None:
        """Make the next call of `update` end the answer."""
        self._stopped.set()

    def update(self, event: Event) -> None:
        """Send the event; for text, at most once a second the number of characters so far.

        Raises:
            CanceledError: The client no longer waits.
        """
        if self._stopped.is_set():
            raise CanceledError
        if isinstance(event, Searching):
            self._send(f"Searching for: {event.question}")
        elif isinstance(event, PassagesRetrieved):
            self._send(f"{len(event.sources)} passages found")
        elif isinstance(event, TextDelta):
            self._characters += len(event.text)
            if time.monotonic() - self._last_report >= _REPORT_INTERVAL_S:
                self._last_report = time.monotonic()
                self._send(f"{self._characters:,} characters written")

    def _send(self, message: str) -> None:
        self._steps += 1
        try:
            anyio.from_thread.run(self._report, self._steps, None, message)
        except CancelledError as error:
            raise CanceledError from error


NUMBERING_NOTE = (
    "Passage numbers are valid only in this result: the next call starts again at 1. To refer to a "
    "passage later, use its title and location."
)
ASK = "ask_documents"
_LIST = "list_sources"

OnEvent = Callable[[Event], None]
"""Receives the events of an answer; an exception that it raises ends the answer."""


OUTPUT: Mapping[str, type[BaseModel]] = {
    "search_documents": Passages,
    ASK: Answer,
    "open_document": Passages,
    _LIST: LibrarySources,
}
"""The structured output of each tool."""


def scope_of(tool: str) -> ApiScope:
    """The scope that a key needs to call the tool."""
    return ApiScope.ASK if tool == ASK else ApiScope.READ


def listed_tools(call: Call) -> list[Tool]:
    """The tools as clients list them."""
    return [_client_tool(tool) for tool in _tools(call).values()]


def call_tool(
    call: Call,
    name: str,
    arguments: Mapping[str, Any],
    on_event: OnEvent,
) -> CallToolResult:
    """Call a tool; an error becomes a result whose text begins with "Failed: "."""
    try:
        if name == ASK:
            QuestionArguments.model_validate(arguments)
            return _answer(call, arguments["question"], on_event)
        if name == _LIST:
            NoArguments.model_validate(arguments)
            return _sources(call)
        tool = _tools(call).get(name)
        return failure(f"There is no tool {name}.") if tool is None else _invoke(tool, arguments)
    except ValidationError as error:
        return _result(wrong_arguments(error))
    except CanceledError:
        return failure("The request was canceled.")
    except Exception as error:  # noqa: BLE001  # unexpected errors are logged and named
        return failure(reason_of(error, name))


def failure(reason: str) -> CallToolResult:
    """A result that reports an error with this text."""
    return _result(failure_text(reason))


def shared_sources(call: Call) -> list[SourceStatus]:
    """The sources that are searched, without those that belong to one conversation."""
    statuses = call.services.sources.list(call.principal)
    return [one for one in statuses if not one.source.conversation_id]


def _tools(call: Call) -> dict[str, BaseTool]:
    tools = document_tools(call.services, call.principal, numbering_note=NUMBERING_NOTE)
    return {tool.name: tool for tool in tools}


def _client_tool(tool: BaseTool) -> Tool:
    schema: Any = tool.args_schema
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema.model_json_schema(),
        output_schema=OUTPUT[tool.name].model_json_schema(mode="serialization"),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _invoke(tool: BaseTool, arguments: Mapping[str, Any]) -> CallToolResult:
    call = {"type": "tool_call", "id": tool.name, "name": tool.name, "args": dict(arguments)}
    message: ToolMessage = tool.invoke(call)
    if message.status == "error":
        return _result(str(message.content))
    return _result(str(message.content), passages_of(message.artifact))


def _answer(call: Call, question: str, on_event: OnEvent) -> CallToolResult:
    turn = _final_turn(call, question, on_event)
    numbered = numbered_answer(turn, SourceNumbers())
    content, _ = answer_output(numbered)
    return _result(content, answer_of(turn, numbered))


def _final_turn(call: Call, question: str, on_event: OnEvent) -> Turn:
    with closing(call.services.chat.answer(call.principal, question)) as events:
        for event in events:
            if isinstance(event, TurnFinished):
                return event.turn
            on_event(event)
    raise AssertionError("an answer that does not raise ends with TurnFinished")


def _sources(call: Call) -> CallToolResult:
    statuses = shared_sources(call)
    content, _ = sources_output(statuses)
    return _result(content, sources_of(statuses))


def _result(text: str, structured: BaseModel | None = None) -> CallToolResult:
    """A result; without structured output, it is marked as an error."""
    make = partial(CallToolResult, content=[TextContent(type="text", text=text)])
    if structured is None:
        return make(is_error=True)
    return make(structured_content=structured.model_dump(mode="json"))
