"""The tools of the MCP server: those of the agent, with output for programs beside the text.

Each call stands by itself: nothing is kept, and passages are numbered from 1 in each result.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Protocol

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ValidationError

from agent.failures import failed, reason_of, wrong_arguments
from agent.mcp_models import (
    Answer,
    LibrarySources,
    Passages,
    answer_of,
    passages_of,
    sources_of,
)
from agent.mcp_progress import StoppedError
from agent.numbering import SourceNumbers
from agent.tool_arguments import NoArguments, QuestionArguments
from agent.tool_texts import answer_told, numbered_answer, sources_told
from agent.tools import ToolServices, document_tools
from domain import ApiScope, Principal, Turn
from services.api_limits import ApiLimits
from services.documents import DocumentService
from services.events import Answered, Event
from services.source_status import SourceStatus

NUMBERS_OF_ONE_CALL = (
    "The numbers of passages hold for this result only: the next call counts from 1 again. To name "
    "a passage later, use its title and location."
)
ASK = "ask_documents"
_LIST = "list_sources"

OnEvent = Callable[[Event], None]
"""Is told what happens while a question is answered; what it raises ends the answer."""


class McpServices(ToolServices, Protocol):
    """What the MCP server needs; `bootstrap.Services` has it."""

    @property
    def documents(self) -> DocumentService:
        """Lists documents."""

    @property
    def api_limits(self) -> ApiLimits:
        """What is done at once."""


OUTPUT: Mapping[str, type[BaseModel]] = {
    "search_documents": Passages,
    ASK: Answer,
    "open_document": Passages,
    _LIST: LibrarySources,
}
"""What each tool gives to programs."""


def scope_of(tool: str) -> ApiScope:
    """What a key must allow to call the tool."""
    return ApiScope.ASK if tool == ASK else ApiScope.READ


def listed_tools(services: McpServices, principal: Principal) -> list[Tool]:
    """The tools as clients list them."""
    return [_listed(tool) for tool in _tools(services, principal).values()]


def call_tool(
    services: McpServices,
    principal: Principal,
    name: str,
    arguments: Mapping[str, Any],
    on_event: OnEvent,
) -> CallToolResult:
    """Call a tool; whatever goes wrong is a result that says so and begins with "Failed: "."""
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
    except StoppedError:
        return failure("The request was cancelled.")
    except Exception as error:  # noqa: BLE001  # what nobody expected is logged and named
        return failure(reason_of(error, name))


def failure(reason: str) -> CallToolResult:
    """A result that is an error."""
    return _result(failed(reason))


def shared_sources(services: McpServices, principal: Principal) -> list[SourceStatus]:
    """The sources that are searched: what was given to one conversation is found in that alone."""
    seen = services.sources.list(principal)
    return [one for one in seen if not one.source.conversation_id]


def _tools(services: McpServices, principal: Principal) -> dict[str, BaseTool]:
    tools = document_tools(services, principal, on_numbers=NUMBERS_OF_ONE_CALL)
    return {tool.name: tool for tool in tools}


def _listed(tool: BaseTool) -> Tool:
    takes: Any = tool.args_schema
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=takes.model_json_schema(),
        output_schema=OUTPUT[tool.name].model_json_schema(mode="serialization"),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _invoke(tool: BaseTool, arguments: Mapping[str, Any]) -> CallToolResult:
    call = {"type": "tool_call", "id": tool.name, "name": tool.name, "args": dict(arguments)}
    told: ToolMessage = tool.invoke(call)
    if told.status == "error":
        return _result(str(told.content))
    return _result(str(told.content), passages_of(told.artifact))


def _answer(
    services: McpServices, principal: Principal, question: str, on_event: OnEvent
) -> CallToolResult:
    turn = _answered(services, principal, question, on_event)
    numbered = numbered_answer(turn, SourceNumbers())
    content, _ = answer_told(numbered)
    return _result(content, answer_of(turn, numbered))


def _answered(
    services: McpServices, principal: Principal, question: str, on_event: OnEvent
) -> Turn:
    with closing(services.chat.answer(principal, question)) as events:
        for event in events:
            if isinstance(event, Answered):
                return event.turn
            on_event(event)
    raise AssertionError("an answer that does not raise ends with Answered")


def _sources(services: McpServices, principal: Principal) -> CallToolResult:
    statuses = shared_sources(services, principal)
    content, _ = sources_told(statuses)
    return _result(content, sources_of(statuses))


def _result(text: str, structured: BaseModel | None = None) -> CallToolResult:
    """The result; without output for programs it is an error."""
    make = partial(CallToolResult, content=[TextContent(type="text", text=text)])
    if structured is None:
        return make(is_error=True)
    return make(structured_content=structured.model_dump(mode="json"))
