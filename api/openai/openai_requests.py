"""Requests of OpenAI's clients.

They contain many options for the model (temperature, max_tokens, seed, user, and so on). The
settings determine these options, so unknown fields are accepted and ignored. Requests for
unsupported features (tools, images, several choices) are rejected.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints

from api.field_types import NO_NUL, Question, Schema
from api.openai.openai_error_responses import NoQuestionError
from api.rest.answer_schemas import RequestModel, SearchOptions

CHAIN = "footnote"
"""Searches once, for the standalone question."""
AGENT = "footnote-agent"
"""An agent searches, in as many steps as it needs; available only with a chat model."""

MAX_MESSAGES = 1000
MAX_PARTS = 100
MAX_TEXT_CHARS = 1_000_000
MAX_INPUTS = 2048
"""The maximum number of texts in an embedding request, the same as OpenAI's."""
MAX_INPUT_CHARS = 20_000

_MessageText = Annotated[str, StringConstraints(pattern=NO_NUL, max_length=MAX_TEXT_CHARS)]
_EmptyList = Annotated[list[Any], Field(max_length=0)]


def _boolean(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("Input should be a boolean")  # noqa: TRY004  # pydantic requires it
    return value


_BOOLEAN = BeforeValidator(_boolean)  # without it, pydantic accepts 0 as false


class _LenientModel(Schema):
    """Unknown fields are allowed: clients add their own, and return those of earlier answers."""

    model_config = ConfigDict(extra="allow")


class QuestionPart(_LenientModel):
    """A part of a question; parts are joined by line breaks."""

    type: Literal["text"]
    """Type of the part"""
    text: Question = Field(examples=["How many days of leave do I get?"])
    """Text of the question"""


class TextPart(_LenientModel):
    """A part of a message; parts are joined by line breaks."""

    type: Literal["text"]
    """Type of the part"""
    text: _MessageText = Field(examples=["25 days [1]."])
    """Text of the message"""


class UserMessage(_LenientModel):
    """A question from the user; the last one is answered."""

    role: Literal["user"]
    """Role of the message's author"""
    content: Question | Annotated[list[QuestionPart], Field(min_length=1, max_length=MAX_PARTS)] = (
        Field(examples=["How many days of leave do I get?"])
    )
    """A string, or parts of type text; images and audio are not accepted"""


class AssistantMessage(_LenientModel):
    """An earlier answer; its list of sources is removed from the history."""

    role: Literal["assistant"]
    """Role of the message's author"""
    content: _MessageText | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] | None = Field(
        None, examples=["25 days [1]."]
    )
    """The answer: a string, parts of type text, or null if there is none"""
    tool_calls: _EmptyList | None = None
    """Null or empty: the caller's tools are never called"""


class InstructionMessage(_LenientModel):
    """Accepted but ignored: Footnote writes and checks answers by its own rules."""

    role: Literal["system", "developer"]
    """Role of the message's author"""
    content: _MessageText | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] = Field(
        examples=["You are a helpful assistant."]
    )
    """A string, or parts of type text; ignored"""


Message = Annotated[
    UserMessage | AssistantMessage | InstructionMessage, Field(discriminator="role")
]

_ASKS_SOMETHING = {
    "contains": {"type": "object", "properties": {"role": {"const": "user"}}, "required": ["role"]}
}


class StreamOptions(_LenientModel):
    """Options of a streamed answer."""

    include_usage: StrictBool | None = Field(None, examples=[True])
    """Whether to send a chunk with the token usage before `[DONE]`; null means no"""


class TextFormat(_LenientModel):
    """The plain text format."""

    type: Literal["text"]
    """Type of the answer"""


class FootnoteOptions(RequestModel):
    """Footnote's own options; clients send them as `extra_body`."""

    search: SearchOptions | None = Field(
        None, examples=[{"scope": {"collections": ["HR"]}, "k": 8}]
    )
    """Scope and search options; null uses the configured defaults. `by_agent` is ignored: `model`
    determines it"""


class ChatRequest(_LenientModel):
    """A question with the messages before it."""

    model: str = Field(max_length=200, json_schema_extra={"enum": [CHAIN, AGENT]}, examples=[CHAIN])
    """`footnote` searches once, for the standalone question; `footnote-agent` lets an agent
    search in as many steps as it needs, and requires a chat model"""
    messages: Annotated[list[Message], Field(json_schema_extra=_ASKS_SOMETHING)] = Field(
        min_length=1,
        max_length=MAX_MESSAGES,
        examples=[[{"role": "user", "content": "How many days of leave do I get?"}]],
    )
    """The last message with the role `user` is the question; the messages before it are the
    history"""
    stream: StrictBool | None = Field(None, examples=[False])
    """Whether to stream the answer in chunks; null means no"""
    stream_options: StreamOptions | None = Field(None, examples=[None])
    """Stream options; ignored without `stream`"""
    footnote: FootnoteOptions | None = None
    """Footnote's own options; OpenAI clients send them as `extra_body`"""
    n: int | None = Field(None, ge=1, le=1, examples=[1])
    """Number of answers; only 1 is supported"""
    response_format: TextFormat | None = None
    """Format of the answer; only text is supported"""
    logprobs: Annotated[Literal[False], _BOOLEAN] | None = None
    """Not supported"""
    tools: _EmptyList | None = Field(None, examples=[[]])
    """Null or empty: the caller's tools are never called"""
    functions: _EmptyList | None = Field(None, examples=[[]])
    """Null or empty, like `tools`"""

    @property
    def wants_usage(self) -> bool:
        """Whether the stream ends with the token usage."""
        return bool(self.stream_options and self.stream_options.include_usage)


_Input = Annotated[str, StringConstraints(pattern=NO_NUL, min_length=1, max_length=MAX_INPUT_CHARS)]


class EmbeddingRequest(_LenientModel):
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
    dimensions: int | None = Field(None, ge=1, examples=[384])
    """Null, or the dimension of the model's vectors; vectors are not shortened"""

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


def question_with_history(messages: Sequence[Message]) -> QuestionWithHistory:
    """The user's last question, with the turns before it.

    Instructions and answers before the first or after the last question are omitted. Consecutive
    answers are joined, and an unanswered question has the answer "".

    Raises:
        NoQuestionError: There is no user message.
    """
    turns: list[tuple[str, str]] = []
    for message in messages:
        if isinstance(message, UserMessage):
            turns.append((_text(message), ""))
        elif isinstance(message, AssistantMessage) and turns:
            question, answer = turns[-1]
            reply = without_sources(_text(message))
            turns[-1] = (question, f"{answer}\n\n{reply}" if answer else reply)
    if not turns:
        raise NoQuestionError
    return QuestionWithHistory(turns[-1][0], turns[:-1])


def without_sources(answer: str) -> str:
    """The answer without the list of sources that clients send back with it."""
    # Strip trailing white space first: on a long run of it, the pattern would backtrack for hours.
    match = _LIST.search(answer.rstrip())
    return answer[: match.start()] if match else answer


def _text(message: UserMessage | AssistantMessage) -> str:
    content = message.content or ""
    return content if isinstance(content, str) else "\n".join(part.text for part in content)
