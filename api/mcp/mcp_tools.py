"""The tools of the MCP server: the agent's tools, with structured output in addition to the text.

Calls are independent: nothing is stored, and passages are numbered from 1 in each result.
"""

import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from contextlib import closing
from functools import partial
from typing import Any

import anyio.from_thread
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ValidationError

from api.mcp.mcp_schemas import (
    Answer,
    LibrarySources,
    Passages,
    answer_of,
    passages_of,
    sources_of,
)
from bootstrap import Services
from domain import ApiScope, Principal, Turn
from services.agent.agent_tools import (
    NoArguments,
    QuestionArguments,
    document_tools,
    failure_text,
    reason_of,
    wrong_arguments,
)
from services.agent.tool_results import (
    SourceNumbers,
    answer_output,
    numbered_answer,
    sources_output,
)
from services.events import Event, PassagesRetrieved, Searching, TextDelta, TurnFinished
from services.sources.source_service import SourceStatus

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


def listed_tools(services: Services, principal: Principal) -> list[Tool]:
    """The tools as clients list them."""
    return [_client_tool(tool) for tool in _tools(services, principal).values()]


def call_tool(
    services: Services,
    principal: Principal,
    name: str,
    arguments: Mapping[str, Any],
    on_event: OnEvent,
) -> CallToolResult:
    """Call a tool; an error becomes a result whose text begins with "Failed: "."""
    try:
        if name == ASK:
            QuestionArguments.model_validate(arguments)
            return _answer(services, principal, arguments["question"], on_event)
        if name == _LIST:
            NoArguments.model_validate(arguments)
            return _sources(services, principal)
        tool = _tools(services, principal).get(name)
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


def shared_sources(services: Services, principal: Principal) -> list[SourceStatus]:
    """The sources that are searched, without those that belong to one conversation."""
    statuses = services.sources.list(principal)
    return [one for one in statuses if not one.source.conversation_id]


def _tools(services: Services, principal: Principal) -> dict[str, BaseTool]:
    tools = document_tools(services, principal, numbering_note=NUMBERING_NOTE)
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


def _answer(
    services: Services, principal: Principal, question: str, on_event: OnEvent
) -> CallToolResult:
    turn = _final_turn(services, principal, question, on_event)
    numbered = numbered_answer(turn, SourceNumbers())
    content, _ = answer_output(numbered)
    return _result(content, answer_of(turn, numbered))


def _final_turn(services: Services, principal: Principal, question: str, on_event: OnEvent) -> Turn:
    with closing(services.chat.answer(principal, question)) as events:
        for event in events:
            if isinstance(event, TurnFinished):
                return event.turn
            on_event(event)
    raise AssertionError("an answer that does not raise ends with TurnFinished")


def _sources(services: Services, principal: Principal) -> CallToolResult:
    statuses = shared_sources(services, principal)
    content, _ = sources_output(statuses)
    return _result(content, sources_of(statuses))


def _result(text: str, structured: BaseModel | None = None) -> CallToolResult:
    """A result; without structured output, it is marked as an error."""
    make = partial(CallToolResult, content=[TextContent(type="text", text=text)])
    if structured is None:
        return make(is_error=True)
    return make(structured_content=structured.model_dump(mode="json"))
