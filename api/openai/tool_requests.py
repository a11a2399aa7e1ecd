"""The formats of answers and the caller's tools in requests: definitions, choices, and results."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, Field, StrictBool, StringConstraints
from pydantic_core import PydanticCustomError

from api.field_types import FUNCTION_NAME, NO_NUL, Schema
from api.openai.openai_error_responses import InvalidFieldError

if TYPE_CHECKING:
    from api.openai.openai_requests import Message


MAX_TOOLS = 128
"""The maximum number of tools and of calls in a message, the same as OpenAI's."""
MAX_DESCRIPTION_CHARS = 20_000
MAX_TEXT_CHARS = 1_000_000

MessageText = Annotated[str, StringConstraints(pattern=NO_NUL, max_length=MAX_TEXT_CHARS)]
Name = Annotated[str, StringConstraints(pattern=FUNCTION_NAME)]
Description = Annotated[str, StringConstraints(pattern=NO_NUL, max_length=MAX_DESCRIPTION_CHARS)]
CallId = Annotated[str, StringConstraints(pattern=NO_NUL, min_length=1, max_length=200)]
_NO_PARAMETERS = {"type": "object", "properties": {}}


def _object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type", "object") != "object":
        raise PydanticCustomError("json_schema", 'The type of parameters must be "object"')
    return schema


_Parameters = Annotated[
    dict[str, Any],
    AfterValidator(_object_schema),
    Field(json_schema_extra={"properties": {"type": {"const": "object"}}}),
]


class NamedFunction(Schema):
    """The name of a function."""

    name: Name = Field(examples=["get_weather"])
    """Name of the function"""


class Function(NamedFunction):
    """A function that the caller executes when the model calls it."""

    description: Description | None = Field(None, examples=["The weather in a city"])
    """What the function does and when to call it, for the model"""
    parameters: _Parameters | None = Field(
        None, examples=[{"type": "object", "properties": {"city": {"type": "string"}}}]
    )
    """A JSON Schema of the arguments, of the type `object`; null for none"""
    strict: StrictBool | None = None
    """Whether the chat model's server must enforce the schema; null leaves it to the server"""

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as in chat completions."""
        fields = self.model_dump(exclude_none=True, include=set(Function.model_fields))
        function = fields | {"parameters": _NO_PARAMETERS | (self.parameters or {})}
        return {"type": "function", "function": function}


class FunctionTool(Schema):
    """A tool of the caller."""

    type: Literal["function"]
    """Type of the tool; only functions are supported"""
    function: Function
    """The function"""

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as in chat completions."""
        return self.function.definition


class ResponseTool(Function):
    """A tool of the caller."""

    type: Literal["function"]
    """Type of the tool; only functions are supported"""


class FunctionChoice(Schema):
    """The function that the model must call."""

    type: Literal["function"]
    """Type of the tool"""
    function: NamedFunction
    """The function"""

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.name


class ResponseFunctionChoice(NamedFunction):
    """The function that the model must call."""

    type: Literal["function"]
    """Type of the tool"""


Mode = Literal["auto", "none", "required"]


class CalledFunction(NamedFunction):
    """The function of a call."""

    arguments: MessageText = Field(examples=['{"city": "Busan"}'])
    """The arguments as JSON, as the model wrote them"""


class ToolCall(Schema):
    """A call of a function."""

    id: CallId = Field(examples=["call_1"])
    """Id of the call, which its result repeats"""
    type: Literal["function"] = "function"
    """Type of the tool"""
    function: CalledFunction
    """The function and its arguments"""


class FunctionCallItem(CalledFunction):
    """A call of a function in an earlier response."""

    type: Literal["function_call"]
    """Type of the item"""
    call_id: CallId = Field(examples=["call_1"])
    """Id of the call, which its result repeats"""

    @property
    def call(self) -> ToolCall:
        """The call as in chat completions."""
        function = CalledFunction(name=self.name, arguments=self.arguments)
        return ToolCall(id=self.call_id, function=function)


def tool_definitions(
    tools: Sequence[FunctionTool | ResponseTool] | None,
    choice: Mode | FunctionChoice | ResponseFunctionChoice | None,
) -> dict[str, Any]:
    """The fields `tools` and `tool_choice` of `ModelOptions`.

    Raises:
        InvalidFieldError: Two tools have the same name, or the choice names none of them.
    """
    definitions = [tool.definition for tool in tools or ()]
    names = [one["function"]["name"] for one in definitions]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InvalidFieldError("tools", f"Two tools are named {twice!r}: rename one of them.")
    if isinstance(choice, FunctionChoice | ResponseFunctionChoice):
        if choice.name not in names:
            known = ", ".join(names) or "none"
            message = f"There is no tool {choice.name!r} in `tools`. Tools: {known}."
            raise InvalidFieldError("tool_choice", message)
        named = {"type": "function", "function": {"name": choice.name}}
        return {"tools": definitions, "tool_choice": named}
    if choice == "required" and not names:
        raise InvalidFieldError("tool_choice", "`required` needs tools: send them in `tools`.")
    return {"tools": definitions, "tool_choice": choice if definitions else None}


def require_results(messages: "Iterable[Message]", field: str) -> None:
    """Check that each tool call is followed by its result, and each result follows its call.

    Raises:
        InvalidFieldError: It is not so; `field` is where the messages were.
    """
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                _reject(field, f"No call before the result has the id {message.tool_call_id!r}")
            waiting.remove(message.tool_call_id)
        elif waiting:
            break
        elif message.role == "assistant":
            waiting = [call.id for call in message.tool_calls or ()]
            if len(set(waiting)) < len(waiting):
                _reject(field, "Two calls have the same id")
    if waiting:
        _reject(field, f"The call {waiting[0]!r} has no result")


def _reject(field: str, problem: str) -> NoReturn:
    advice = "Send each message with tool calls followed by one result for each call."
    raise InvalidFieldError(field, f"{problem[:300]}. {advice}")


def calling_message(calls: Sequence[ToolCall], text: str) -> "Any":
    """The message as LangChain's, which repairs arguments that are incomplete JSON."""
    from langchain_core.messages import AIMessageChunk
    from langchain_core.messages.tool import tool_call_chunk

    chunks = [
        tool_call_chunk(id=one.id, name=one.function.name, args=one.function.arguments, index=index)
        for index, one in enumerate(calls)
    ]
    return AIMessageChunk(content=text, tool_call_chunks=chunks)


class TextFormat(Schema):
    """The plain text format."""

    type: Literal["text"]
    """Type of the answer"""


class JsonFormat(Schema):
    """A JSON object; the question must say which."""

    type: Literal["json_object"]
    """Type of the answer"""


class NamedSchema(Schema):
    """A JSON Schema with a name for the model."""

    name: Name = Field(examples=["leave"])
    """Name of the format"""
    description: Description | None = Field(None, examples=["Days of leave"])
    """What the format is for"""
    schema_: dict[str, Any] | None = Field(
        None,
        alias="schema",
        examples=[{"type": "object", "properties": {"days": {"type": "integer"}}}],
    )
    """The JSON Schema that the answer must match; null for any JSON"""
    strict: StrictBool | None = None
    """Whether the chat model's server must enforce the schema; null leaves it to the server"""


class SchemaFormat(Schema):
    """JSON that matches a schema."""

    type: Literal["json_schema"]
    """Type of the answer"""
    json_schema: NamedSchema
    """The schema"""


class FlatSchemaFormat(NamedSchema):
    """JSON that matches a schema, as in the Responses API."""

    type: Literal["json_schema"]
    """Type of the answer"""

    @property
    def nested(self) -> SchemaFormat:
        """The format as in chat completions."""
        return SchemaFormat(type=self.type, json_schema=self)


Format = TextFormat | JsonFormat | SchemaFormat
