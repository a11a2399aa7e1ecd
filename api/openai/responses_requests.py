"""Requests of OpenAI's Responses API; most of their options are ignored, as in `ChatRequest`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from api.field_types import NO_NUL, Question
from api.openai.openai_requests import (
    BOOLEAN,
    MAX_MESSAGES,
    MAX_PARTS,
    AnswerRequest,
    AssistantMessage,
    LenientModel,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
    model_options,
)
from api.openai.tool_requests import (
    MAX_TOOLS,
    CallId,
    FlatSchemaFormat,
    FunctionCallItem,
    JsonFormat,
    MessageText,
    Mode,
    ResponseFunctionChoice,
    ResponseTool,
    TextFormat,
    tool_definitions,
)
from services.chat.model_options import ModelOptions


class FunctionCallOutput(LenientModel):
    """The result of a function that the model called."""

    type: Literal["function_call_output"]
    """Type of the item"""
    call_id: CallId = Field(examples=["call_1"])
    """Id of the call"""
    output: MessageText | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] = Field(
        examples=["18 degrees, cloudy"]
    )
    """The result for the model: a string, or parts of type text"""


_OTHER_ITEMS = ("function_call", "function_call_output")


def _kind(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else getattr(item, "type", "")
    return str(kind) if kind in _OTHER_ITEMS else "message"


Item = Annotated[
    Annotated[Message, Tag("message")]
    | Annotated[FunctionCallItem, Tag("function_call")]
    | Annotated[FunctionCallOutput, Tag("function_call_output")],
    Discriminator(_kind),
]

_QUESTION = {"role": {"const": "user"}, "type": {"not": {"enum": [*_OTHER_ITEMS]}}}
_HAS_QUESTION = {"contains": {"type": "object", "properties": _QUESTION, "required": ["role"]}}


class ResponseText(LenientModel):
    """Options of the text."""

    format: TextFormat | JsonFormat | FlatSchemaFormat | None = Field(None, discriminator="type")
    """Format of the answer; JSON needs a chat model that supports it"""


class ResponseRequest(AnswerRequest):
    """A question with the messages before it."""

    FIELDS: ClassVar[Mapping[str, str]] = {
        "response_format.json_schema": "text.format",
        "response_format": "text.format",
        "messages": "input",
        ".function": "",
    }

    input: (
        Question
        | Annotated[
            list[Item],
            Field(min_length=1, max_length=MAX_MESSAGES, json_schema_extra=_HAS_QUESTION),
        ]
    ) = Field(examples=["How many days of leave do I get?"])
    """The question, or items: the last message with the role `user` is the question, the items
    before it are the history, and function calls with their outputs may follow"""
    instructions: Annotated[str, Field(pattern=NO_NUL)] | None = None
    """Accepted but ignored, like messages with the role `system`"""
    tools: Annotated[list[ResponseTool], Field(max_length=MAX_TOOLS)] | None = None
    """Functions that the caller executes, for the chat model; ignored with the `tool_choice`
    `none`"""
    tool_choice: Mode | ResponseFunctionChoice | None = Field(None, examples=["auto"])
    """Whether the model may (`auto`, the default), must (`required`), or must not (`none`) call
    tools, or the one that it must call"""
    text: ResponseText | None = None
    """Options of the text"""
    previous_response_id: None = None
    """Not supported, because nothing is stored: send the earlier messages as `input`"""
    conversation: None = None
    """Not supported, because nothing is stored: send the earlier messages as `input`"""
    prompt: None = None
    """Not supported"""
    background: Annotated[Literal[False], BOOLEAN] | None = None
    """Not supported"""

    @property
    def items(self) -> Sequence[Item]:
        """The input as items."""
        if isinstance(self.input, str):
            return [UserMessage(role="user", content=self.input)]
        return self.input

    @property
    def messages(self) -> Sequence[Message]:
        """The input as messages of a chat."""
        return list(_messages_of(self.items))

    @property
    def options(self) -> ModelOptions:
        """What the chat model is asked for; see `AnswerRequest.options`."""
        chosen = self.text.format if self.text else None
        return model_options(
            self.messages,
            "input",
            chosen.nested if isinstance(chosen, FlatSchemaFormat) else chosen,
            **tool_definitions(self.tools, self.tool_choice),
            parallel_tool_calls=self.parallel_tool_calls,
        )


def _messages_of(items: Sequence[Item]) -> Iterator[Message]:
    """The items as messages; consecutive function calls are one message."""
    for is_call, group in groupby(items, _is_call):
        if is_call:
            calls = [item.call for item in group if isinstance(item, FunctionCallItem)]
            yield AssistantMessage(role="assistant", tool_calls=calls)
            continue
        for item in group:
            if isinstance(item, FunctionCallOutput):
                yield ToolMessage(role="tool", tool_call_id=item.call_id, content=item.output)
            elif not isinstance(item, FunctionCallItem):
                yield item


def _is_call(item: Item) -> bool:
    return isinstance(item, FunctionCallItem)
