"""What a caller asks of the chat model: its own tools, whose calls are read here, and a format."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from domain import CUT_SHORT_REASONS
from domain.errors import ModelOptionError
from domain.language.surrogate_pairs import join_pairs
from domain.messages import _
from services.chat.json_schema import schema_problem
from services.texts import sanitize_json

if TYPE_CHECKING:  # slow, and not needed to open a page
    from langchain_core.language_models import BaseChatModel, LanguageModelLike
    from langchain_core.messages import AIMessageChunk, BaseMessage, ToolCall, ToolCallChunk
    from langchain_core.prompts import ChatPromptTemplate

    Call = TypeVar("Call", ToolCall, ToolCallChunk)

_SIGNS = {
    "response_format": ("response_format", "json", "structured output", "schema"),
    "tools": ("tool", "function"),
}
"""Words in the messages of servers that do not support an option."""
_ANSWER_SCHEMA = "response_format.json_schema.schema"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options for the chat model that answers, in the format of OpenAI's chat completions."""

    tools: Sequence[dict[str, Any]] = ()
    """Functions that the caller executes. The answer may consist of their calls."""
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: Mapping[str, Any] | None = None
    """The format of a JSON answer; None for text."""
    tool_messages: "Sequence[BaseMessage]" = ()
    """The calls of tools since the question, each message followed by the results."""

    @property
    def names(self) -> list[str]:
        """The names of the options, as fields of a request."""
        fields = {
            "tools": self.tools,
            "response_format": self.response_format,
            "messages": self.tool_messages,
        }
        return [name for name, value in fields.items() if value]

    def require_schemas(self) -> None:
        """Raise ModelOptionError if the schemas are too long, or that of the answer is invalid.

        The schemas of tools are only passed on: the model's server decides what they may contain.
        """
        named = (self.response_format or {}).get("json_schema", {})
        schema = named.get("schema") or {}
        schemas = {
            f"tools[{index}].function.parameters": tool["function"].get("parameters")
            for index, tool in enumerate(self.tools)
        }
        length = 0
        for field, one in {**schemas, _ANSWER_SCHEMA: schema}.items():
            length += len(json.dumps(one))
            if length > MAX_SCHEMA_CHARS:
                raise ModelOptionError(UNUSABLE.format(problem=TOO_LONG), field)
        if schema and (problem := schema_problem(schema)):
            raise ModelOptionError(UNUSABLE.format(problem=problem), _ANSWER_SCHEMA)

    def require_none(self, reason: str) -> None:
        """Raise ModelOptionError with the reason if there is any option."""
        if self.names:
            raise ModelOptionError(reason, self.names[0])

    def bound_to(self, model: "BaseChatModel") -> "LanguageModelLike":
        """The model with these options."""
        bound: LanguageModelLike = model
        if self.tools:
            bound = model.bind_tools(
                self.tools,
                tool_choice=self.tool_choice,  # type: ignore[arg-type]  # or a mapping, for OpenAI
                parallel_tool_calls=self.parallel_tool_calls,
            )
        return bound.bind(response_format=self.response_format) if self.response_format else bound

    def prompt(self) -> "ChatPromptTemplate":
        """The prompt for the answer, with the rules for these options."""
        from chains.chat_prompts import JSON_RULE, TOOL_RULE, answer_prompt

        tool_rules = [TOOL_RULE] if self.tools or self.tool_messages else []
        return answer_prompt(*tool_rules, *([JSON_RULE] if self.response_format else []))

    def refused_by(self, message: str) -> str:
        """The name of the option that a server's error message is about, or ""."""
        text = message.lower()
        names = (name for name in _SIGNS if name in self.names)
        return next((name for name in names if any(sign in text for sign in _SIGNS[name])), "")


NO_OPTIONS = ModelOptions()

MAX_SCHEMA_CHARS = 100_000
"""The maximum length of all schemas of a request together, as JSON."""
TOO_LONG = _("all schemas together have more than {limit} characters").format(
    limit=f"{MAX_SCHEMA_CHARS:,}"
)
UNUSABLE = _("The JSON Schema can't be used: {problem}.")
NEEDS_MODEL = _(
    "Tools and response formats need a chat model: set FOOTNOTE_CHAT_MODEL and OPENAI_API_KEY or"
    " OPENAI_BASE_URL, or omit them."
)
NOT_FOR_AGENT = _(
    "The agent calls only its own tools and answers in text: ask without the agent (model"
    " footnote), or omit tools and response formats."
)


def whole_tool_calls(message: "AIMessageChunk") -> "tuple[ToolCallChunk, ...]":
    """The calls with their arguments as text; none if the message was cut short.

    The arguments of a truncated message may be incomplete.
    """
    if message.response_metadata.get("finish_reason") in CUT_SHORT_REASONS:
        return ()
    chunks = message.tool_call_chunks
    whole = [{**chunk, "args": join_pairs(chunk["args"] or "{}")} for chunk in chunks]
    calls: list[ToolCallChunk] = sanitize_json(whole)
    for call in calls:
        call["name"] = call["name"] or ""
    return tuple(with_ids(calls))


def with_ids(calls: "list[Call]") -> "list[Call]":
    """The calls, of which those without a unique id get a new one."""
    ids: set[str | None] = {None, ""}
    for call in calls:
        if call["id"] in ids:
            call["id"] = f"call_{uuid4().hex}"
        ids.add(call["id"])
    return calls
