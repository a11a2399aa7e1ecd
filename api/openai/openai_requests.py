"""Requests of OpenAI's clients.

They contain many options for the model (temperature, max_tokens, seed, user, and so on). The
settings determine these options, so unknown fields are accepted and ignored, as docs/api.md says.
Requests for unsupported features (images, several choices) are rejected.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from api.field_types import NO_NUL, NUMBER, Schema
from api.openai.openai_error_responses import InvalidFieldError
from api.openai.tool_requests import (
    MAX_TOOLS,
    CallId,
    Format,
    FunctionChoice,
    FunctionTool,
    MessageText,
    Mode,
    TextFormat,
    ToolCall,
    calling_message,
    require_results,
    tool_definitions,
)
from api.rest.answer_schemas import RequestModel, SearchOptions
from domain.errors import InputError
from services.chat.model_options import ModelOptions
from services.texts import checked_question

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

CHAIN = "footnote"
"""Searches once, for the standalone question."""
AGENT = "footnote-agent"
"""An agent searches, in as many steps as it needs; available only with a chat model."""

MAX_MESSAGES = 1000
MAX_PARTS = 100
MAX_INPUTS = 2048
"""The maximum number of texts in an embedding request, the same as OpenAI's."""
MAX_INPUT_CHARS = 20_000

_EmptyList = Annotated[list[Any], Field(max_length=0)]


def _boolean(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("Input should be a boolean")  # noqa: TRY004  # pydantic requires it
    return value


BOOLEAN = BeforeValidator(_boolean)  # without it, pydantic accepts 0 as false


class LenientModel(Schema):
    """Unknown fields are allowed: clients add their own, and return those of earlier answers."""

    model_config = ConfigDict(extra="allow")


class QuestionPart(LenientModel):
    """A part of a question; parts are joined by line breaks."""

    type: Literal["text", "input_text"]
    """Type of the part; responses call it `input_text`"""
    text: MessageText = Field(examples=["How many days of leave do I get?"])
    """Text of the question"""


class TextPart(LenientModel):
    """A part of a message; parts are joined by line breaks."""

    type: Literal["text", "input_text", "output_text"]
    """Type of the part; responses call it `output_text` in answers"""
    text: MessageText = Field(examples=["25 days [1]."])
    """Text of the message"""


class RefusalPart(LenientModel):
    """A part of an earlier answer in which a model refused to answer."""

    type: Literal["refusal"]
    """Type of the part"""
    text: MessageText = Field(alias="refusal", examples=["I can't help with that."])
    """Text of the refusal"""


_AnswerPart = Annotated[TextPart | RefusalPart, Field(discriminator="type")]


class UserMessage(LenientModel):
    """A question from the user; the last one is answered."""

    role: Literal["user"]
    """Role of the message's author"""
    content: (
        MessageText | Annotated[list[QuestionPart], Field(min_length=1, max_length=MAX_PARTS)]
    ) = Field(examples=["How many days of leave do I get?"])
    """A string, or parts of type text; images and audio are not accepted. The last question must
    not be blank and may have up to 20,000 characters"""


class AssistantMessage(LenientModel):
    """An earlier answer; its list of sources is removed from the history."""

    role: Literal["assistant"]
    """Role of the message's author"""
    content: MessageText | Annotated[list[_AnswerPart], Field(max_length=MAX_PARTS)] | None = Field(
        None, examples=["25 days [1]."]
    )
    """The answer: a string, parts of type text or refusal, or null if there is none"""
    tool_calls: Annotated[list[ToolCall], Field(max_length=MAX_TOOLS)] | None = None
    """Calls of the caller's tools; a message with the result of each must follow"""


class InstructionMessage(LenientModel):
    """Accepted but ignored: Footnote writes and checks answers by its own rules."""

    role: Literal["system", "developer"]
    """Role of the message's author"""
    content: MessageText | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] = Field(
        examples=["You are a helpful assistant."]
    )
    """A string, or parts of type text; ignored"""


class ToolMessage(LenientModel):
    """The result of a tool that the model called."""

    role: Literal["tool"]
    """Role of the message's author"""
    tool_call_id: CallId = Field(examples=["call_1"])
    """Id of the call"""
    content: MessageText | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] = Field(
        examples=["18 degrees, cloudy"]
    )
    """The result for the model: a string, or parts of type text"""


Message = Annotated[
    UserMessage | AssistantMessage | ToolMessage | InstructionMessage, Field(discriminator="role")
]

ASKS_SOMETHING = {
    "contains": {"type": "object", "properties": {"role": {"const": "user"}}, "required": ["role"]}
}


class StreamOptions(LenientModel):
    """Options of a streamed answer."""

    include_usage: StrictBool | None = Field(None, examples=[True])
    """Whether to send a chunk with the token usage before `[DONE]`; null means no"""


class FootnoteOptions(RequestModel):
    """Footnote's own options; clients send them as `extra_body`."""

    search: SearchOptions | None = Field(
        None, examples=[{"scope": {"collections": ["HR"]}, "k": 8}]
    )
    """Scope and search options; null uses the configured defaults. `by_agent` is ignored: `model`
    determines it"""


class AnswerRequest(LenientModel):
    """What requests for answers have in common."""

    FIELDS: ClassVar[Mapping[str, str]] = {}
    """Names in the fields of `ModelOptions` and their names here, if they differ, longest first."""

    model: str = Field(max_length=200, json_schema_extra={"enum": [CHAIN, AGENT]}, examples=[CHAIN])
    """`footnote` searches once, for the standalone question; `footnote-agent` lets an agent
    search in as many steps as it needs, and requires a chat model"""
    stream: StrictBool | None = Field(None, examples=[False])
    """Whether to stream the answer; null means no"""
    footnote: FootnoteOptions | None = None
    """Footnote's own options; OpenAI clients send them as `extra_body`"""
    parallel_tool_calls: Annotated[bool, BOOLEAN] | None = Field(None, examples=[True])
    """Whether the model may call several tools at once; null leaves it to the model's server"""
    top_logprobs: Annotated[int, Field(ge=0, le=0), NUMBER] | None = Field(None, examples=[0])
    """Not supported"""

    @model_validator(mode="before")
    @classmethod
    def _without_unused_tools(cls, body: Any) -> Any:
        """The body without tools that the caller asks not to call."""
        if not isinstance(body, dict) or body.get("tool_choice") != "none":
            return body
        return {name: value for name, value in body.items() if name != "tools"}

    @property
    @abstractmethod
    def options(self) -> ModelOptions:
        """What the chat model is asked for.

        Raises:
            InvalidFieldError: Fields contradict each other.
        """


class ChatRequest(AnswerRequest):
    """A question with the messages before it."""

    messages: Annotated[list[Message], Field(json_schema_extra=ASKS_SOMETHING)] = Field(
        min_length=1,
        max_length=MAX_MESSAGES,
        examples=[[{"role": "user", "content": "How many days of leave do I get?"}]],
    )
    """The last message with the role `user` is the question; the messages before it are the
    history"""
    stream_options: StreamOptions | None = Field(None, examples=[None])
    """Stream options; ignored without `stream`"""
    n: int | None = Field(None, ge=1, le=1, examples=[1])
    """Number of answers; only 1 is supported"""
    tools: Annotated[list[FunctionTool], Field(max_length=MAX_TOOLS)] | None = None
    """Functions that the caller executes, for the chat model; ignored with the `tool_choice`
    `none`"""
    tool_choice: Mode | FunctionChoice | None = Field(None, examples=["auto"])
    """Whether the model may (`auto`, the default), must (`required`), or must not (`none`) call
    tools, or the one that it must call"""
    response_format: Format | None = Field(None, discriminator="type")
    """Format of the answer; JSON needs a chat model that supports it"""
    logprobs: Annotated[Literal[False], BOOLEAN] | None = None
    """Not supported"""
    functions: _EmptyList | None = Field(None, examples=[[]])
    """Null or empty: use `tools`"""
    modalities: list[Literal["text"]] | None = Field(None, examples=[["text"]])
    """Only text is supported"""
    audio: None = None
    """Not supported"""
    web_search_options: None = None
    """Not supported: Footnote searches the library"""

    @property
    def wants_usage(self) -> bool:
        """Whether the stream ends with the token usage."""
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def options(self) -> ModelOptions:
        """What the chat model is asked for; see `AnswerRequest.options`."""
        return model_options(
            self.messages,
            "messages",
            self.response_format,
            **tool_definitions(self.tools, self.tool_choice),
            parallel_tool_calls=self.parallel_tool_calls,
        )


_Input = Annotated[str, StringConstraints(pattern=NO_NUL, min_length=1, max_length=MAX_INPUT_CHARS)]


class EmbeddingRequest(LenientModel):
    """Texts to embed."""

    model: str = Field(
        pattern=NO_NUL, min_length=1, max_length=200, examples=["multilingual-e5-small"]
    )
    """An embedding model listed in /v1/models: the one that the library's index uses"""
    input: _Input | Annotated[list[_Input], Field(min_length=1, max_length=MAX_INPUTS)] = Field(
        examples=[["annual leave"]]
    )
    """One text or several; token ids are not accepted"""
    encoding_format: Literal["float", "base64"] | None = None
    """`float` or null: numbers; `base64`: little-endian float32"""
    input_type: Literal["query", "passage"] | None = Field(None, examples=["passage"])
    """Type of the texts: some models embed questions (`query`) differently from passages; null
    means `passage`"""
    dimensions: Annotated[int | None, Field(ge=1), WithJsonSchema({"type": "null"})] = None
    """Null; also accepted is the number of dimensions of the model's vectors, which are not
    shortened"""

    @property
    def texts(self) -> list[str]:
        """The input as a list, even if it is a single text."""
        return [self.input] if isinstance(self.input, str) else self.input


SOURCES = "Sources:"
"""The first line of the list at the end of an answer."""

_LIST = re.compile(rf"\n\n{SOURCES}(\n\[\d+\].*)+\Z")


class QuestionWithHistory(NamedTuple):
    """A question, and earlier questions and answers, oldest first."""

    question: str
    history: list[tuple[str, str]]


def question_with_history(
    messages: Sequence[Schema], field: str = "messages"
) -> QuestionWithHistory:
    """The user's last question, with the turns before it.

    Instructions and answers before the first or after the last question are omitted. Consecutive
    answers are joined, and an unanswered question has the answer "".

    Raises:
        InvalidFieldError: There is no user message, or the last one is blank or too long; `field`
            names where the messages were.
    """
    turns: list[tuple[str, str]] = []
    place = field
    for index, message in enumerate(messages):
        if isinstance(message, UserMessage):
            turns.append((_text(message), ""))
            place = f"{field}[{index}].content"
        elif isinstance(message, AssistantMessage) and turns:
            question, answer = turns[-1]
            reply = without_sources(_text(message))
            turns[-1] = (question, f"{answer}\n\n{reply}" if answer else reply)
    if not turns:
        problem = "No message has the role user. Send the question as a message with this role."
        raise InvalidFieldError(field, problem)
    _require_question(turns[-1][0], place)
    return QuestionWithHistory(turns[-1][0], turns[:-1])


def _require_question(text: str, place: str) -> None:
    try:
        checked_question(text)
    except InputError as error:
        raise InvalidFieldError(place, str(error)) from error


def without_sources(answer: str) -> str:
    """The answer without the list of sources that clients send back with it."""
    # Strip trailing white space first: on a long run of it, the pattern would backtrack for hours.
    match = _LIST.search(answer.rstrip())
    return answer[: match.start()] if match else answer


def model_options(
    messages: Sequence[Message],
    field: str,
    chosen: Format | None,
    **options: Any,
) -> ModelOptions:
    """The options, with that format, and the tool calls and results after the last question.

    Raises:
        InvalidFieldError: A call or a result lacks the other; `field` is where the messages were.
    """
    require_results(messages, field)
    if chosen is not None and not isinstance(chosen, TextFormat):
        fields = {"type", "json_schema"}  # without unknown ones
        options["response_format"] = chosen.model_dump(
            include=fields, by_alias=True, exclude_none=True
        )
    return ModelOptions(**options, tool_messages=_since_question(messages))


def _since_question(messages: Sequence[Message]) -> "list[BaseMessage]":
    from langchain_core.messages import ToolMessage as Result

    found: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, UserMessage):
            found = []
        elif isinstance(message, ToolMessage):
            found.append(Result(_text(message), tool_call_id=message.tool_call_id))
        elif isinstance(message, AssistantMessage) and message.tool_calls:
            found.append(calling_message(message.tool_calls, without_sources(_text(message))))
    return found


def _text(message: UserMessage | AssistantMessage | ToolMessage) -> str:
    content = message.content or ""
    return content if isinstance(content, str) else "\n".join(part.text for part in content)
