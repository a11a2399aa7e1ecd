"""Calls of tools in the messages of models."""

from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from domain import CUT_SHORT_REASONS
from services.texts import sanitize_json

if TYPE_CHECKING:  # slow, and not needed to open a page
    from langchain_core.messages import AIMessageChunk, ToolCall, ToolCallChunk

    Call = TypeVar("Call", ToolCall, ToolCallChunk)


def whole_tool_calls(message: "AIMessageChunk") -> "tuple[ToolCallChunk, ...]":
    """The calls with their arguments as text; none if the message was cut short.

    The arguments of a truncated message may be incomplete.
    """
    if message.response_metadata.get("finish_reason") in CUT_SHORT_REASONS:
        return ()
    calls: list[ToolCallChunk] = sanitize_json(message.tool_call_chunks)
    for call in calls:
        call["name"], call["args"] = call["name"] or "", call["args"] or "{}"
    return tuple(with_ids(calls))


def with_ids(calls: "list[Call]") -> "list[Call]":
    """The calls, of which those without a unique id get a new one."""
    ids: set[str | None] = {None, ""}
    for call in calls:
        if call["id"] in ids:
            call["id"] = f"call_{uuid4().hex}"
        ids.add(call["id"])
    return calls
