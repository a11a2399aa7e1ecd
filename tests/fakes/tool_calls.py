"""Streamed tool calls of an OpenAI-compatible server, and its checks of client messages."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.openai_wire import Text

MOST_TOOLS = 128
FUNCTION_FIELDS = {"name", "description", "parameters", "strict"}


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` is a string if they are to be malformed."""

    name: str
    arguments: dict[str, Any] | str
    id: str = ""


class ToolCalls(Text):
    """A reply that calls tools after some text: `ToolCalls(Call(...), text="I look.")`.

    The arguments are streamed in pieces of a few characters, one call after another, as OpenAI
    does.
    """

    calls: tuple[Call, ...]

    def __init__(self, *calls: Call, text: str = "", **settings) -> None:
        super().__init__(*([text] if text else []), finish_reason="tool_calls", **settings)
        object.__setattr__(self, "calls", calls)

    def deltas(self) -> Iterator[dict]:
        yield from super().deltas()
        for index, call in enumerate(self._as_objects()):
            arguments = call["function"]["arguments"]
            start = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            yield {"tool_calls": [start]}
            for at in range(0, len(arguments), 7):
                piece = {"arguments": arguments[at : at + 7]}
                yield {"tool_calls": [{"index": index, "function": piece}]}

    def message(self) -> dict:
        return {**super().message(), "tool_calls": self._as_objects()}

    def _as_objects(self) -> list[dict]:
        return [
            {
                "id": call.id or f"call_{id(self)}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": _as_text(call.arguments)},
            }
            for index, call in enumerate(self.calls)
        ]


def wrong_tools(body: dict) -> str | None:
    """The first error in tools and tool messages; None if they are valid."""
    return _wrong_definitions(body) or _wrong_order(body["messages"])


def _as_text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _wrong_definitions(body: dict) -> str | None:
    tools = body.get("tools")
    for option in ("tool_choice", "parallel_tool_calls"):
        if option in body and not tools:
            return f"{option} without tools"
    if tools is None:
        return None
    if not tools:
        return "tools is empty"
    names = [tool.get("function", {}).get("name") for tool in tools]
    if not all(names) or len(set(names)) < len(names):
        return f"tools need distinct names: {names}"
    if len(tools) > MOST_TOOLS:
        return f"{len(tools)} tools"
    unknown = {field for tool in tools for field in tool["function"]} - FUNCTION_FIELDS
    if unknown or {tool.get("type") for tool in tools} != {"function"}:
        return f"tools must be functions without {sorted(unknown)}"
    parameters = [tool["function"].get("parameters", {}).get("type") for tool in tools]
    if set(parameters) != {"object"}:
        return f"parameters must be an object: {names}"
    return _wrong_choice(body.get("tool_choice", "auto"), names)


def _wrong_choice(choice: str | dict, names: Sequence[str]) -> str | None:
    if isinstance(choice, str):
        return None if choice in {"auto", "none", "required"} else f"no such choice: {choice}"
    named = {"type": "function", "function": {"name": choice.get("function", {}).get("name")}}
    is_known = choice == named and named["function"]["name"] in names
    return None if is_known else f"tool_choice {choice} names none of {names}"


def _wrong_order(messages: Sequence[dict]) -> str | None:
    """Each call is answered exactly once, directly after the message that contains it."""
    open_calls: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"no call {message.get('tool_call_id')!r} is open"
            open_calls.remove(message["tool_call_id"])
            if not isinstance(message.get("content"), str | list):
                return "a tool message needs content"
            continue
        if open_calls:
            return f"tool calls without an answer: {sorted(open_calls)}"
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    return f"tool calls without an answer: {sorted(open_calls)}" if open_calls else None
