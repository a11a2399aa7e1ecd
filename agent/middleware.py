"""What an agent does around its calls of tools and models. Slow to import, as langchain is."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ModelCallLimitMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallLimitMiddleware,
)
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from agent.failures import failed, reason_of
from agent.prompts import AGENT_PROMPT, LAST_CALL
from domain import CUT_SHORT_REASONS
from services.storable import storable_json

Middleware = AgentMiddleware[AgentState[Any], Any, Any]
ToolResult = ToolMessage | Command[Any]


def middleware(model_calls: int, tool_calls: int) -> list[Any]:
    """The limits of one run, and that neither they nor a tool that fails raise anything."""
    return [
        ModelCallLimitMiddleware(run_limit=model_calls, exit_behavior="end"),
        ToolCallLimitMiddleware(run_limit=tool_calls, exit_behavior="continue"),
        LastCall(model_calls),
        SoundCalls(),
        ToolFailures(),
    ]


class ToolFailures(Middleware):
    """Tells the model what a tool raised: the tools of others may."""

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]
    ) -> ToolResult:
        """What the tool gives, or a message with status "error"."""
        try:
            return _failure_named(handler(request))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001  # logged, and told to the model
            return _failure(request, error)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        """What the tool gives, or a message with status "error"."""
        try:
            return _failure_named(await handler(request))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001  # logged, and told to the model
            return _failure(request, error)


class LastCall(Middleware):
    """Tells the model when it is asked for the last time, so that it answers with what it has."""

    def __init__(self, model_calls: int) -> None:
        super().__init__()
        self._model_calls = model_calls

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """The model's answer."""
        return handler(self._told(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The model's answer."""
        return await handler(self._told(request))

    def _told(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        calls: int = request.state.get("run_model_call_count", 0)  # type: ignore[assignment]
        if calls + 1 < self._model_calls:
            return request
        return request.override(system_message=SystemMessage(AGENT_PROMPT + LAST_CALL))


class SoundCalls(Middleware):
    """Puts right what careless servers send, so that it can be answered and sent back to them.

    Half characters are replaced, each call gets an id of its own, and calls that can't be read
    are left out beside others that can: nothing would answer them. A message that was cut short
    calls nothing: what is there of its calls may look whole.
    """

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """The model's answer, put right."""
        return _sound(handler(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The model's answer, put right."""
        return _sound(await handler(request))


def _sound(response: ModelResponse[Any]) -> ModelResponse[Any]:
    return replace(response, result=[_sound_message(one) for one in response.result])


def _sound_message(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage):
        return message
    is_cut = message.response_metadata.get("finish_reason") in CUT_SHORT_REASONS
    calls = [] if is_cut else message.tool_calls
    unreadable = () if is_cut or calls else message.invalid_tool_calls
    changes = {
        "content": storable_json(message.content),
        "tool_calls": _with_ids(storable_json(calls)),
        "invalid_tool_calls": storable_json(unreadable),
    }
    return message.model_copy(update=changes)


def _with_ids(calls: list[ToolCall]) -> list[ToolCall]:
    seen: set[str | None] = {None, ""}
    for call in calls:
        if call["id"] in seen:
            call["id"] = f"call_{uuid4().hex}"
        seen.add(call["id"])
    return calls


def _failure_named(result: ToolResult) -> ToolResult:
    """As all failures begin: LangChain words some of them itself, such as of an unknown tool."""
    if not isinstance(result, ToolMessage) or result.status != "error":
        return result
    told = result.text.removeprefix(failed("")).removeprefix("Error: ")
    return result.model_copy(update={"content": failed(told)})


def _failure(request: ToolCallRequest, error: Exception) -> ToolMessage:
    call = request.tool_call
    told = failed(reason_of(error, call["name"]))
    return ToolMessage(told, tool_call_id=call["id"] or "", name=call["name"], status="error")
