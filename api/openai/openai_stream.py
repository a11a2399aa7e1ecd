"""A streamed answer in OpenAI's format, and the description of its events."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from api.field_types import Schema
from api.openai.answer_stream import AnswerStream, encoded
from api.openai.openai_answers import (
    Annotation,
    Evidence,
    FinishReason,
    Usage,
    finish_reason_of,
    tool_calls_of,
    usage_of,
)
from api.openai.openai_error_responses import ErrorBody, OpenAIError
from api.openai.tool_requests import ToolCall
from api.streaming import JsonOf
from services.events import TurnFinished


class ToolCallDelta(ToolCall):
    """A whole call of a caller's tool, whose arguments are not divided."""

    index: int = Field(ge=0, examples=[0])
    """Index of the call in the answer, from 0"""


class Delta(Schema):
    """The part of an answer that a chunk adds; the last one adds the evidence."""

    role: Literal["assistant"] | None = None
    """Role of the message's author; only in the first chunk"""
    content: str | None = Field(None, examples=["25 days"])
    """Text to append to the preceding pieces"""
    tool_calls: list[ToolCallDelta] | None = None
    """A call of a caller's tool"""
    annotations: list[Annotation] | None = None
    """As in a complete answer; only in the last chunk"""
    footnote: Evidence | None = None
    """As in a complete answer; only in the last chunk"""


class ChunkChoice(Schema):
    """The part of the only answer."""

    index: Literal[0]
    """Index of the choice; there is only one"""
    delta: Delta
    """What the chunk adds"""
    logprobs: None
    """Always null"""
    finish_reason: FinishReason | None
    """As in a complete answer; null before the last chunk"""


class ChatCompletionChunk(Schema):
    """A part of a streamed answer."""

    id: str = Field(examples=["chatcmpl-5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the answer; nothing is stored under it"""
    object: Literal["chat.completion.chunk"]
    """Type of the object"""
    created: int = Field(examples=[1795312800])
    """When the question was asked, in seconds since 1970"""
    model: str = Field(examples=["footnote"])
    """The requested model"""
    choices: list[ChunkChoice]
    """A list with one part of the answer; empty in the chunk with the usage"""
    usage: Usage | None = None
    """Token usage of the answer, if requested: in the last chunk, and null before"""


class ChunkEvent(Schema):
    """An event with a part of the answer."""

    data: Annotated[str, JsonOf(ChatCompletionChunk)]
    """The part of the answer"""


class BrokenOffEvent(Schema):
    """The last event if the answer fails after it has begun."""

    data: Annotated[str, JsonOf(OpenAIError)]
    """What went wrong"""


class DoneEvent(Schema):
    """The last event of a complete answer."""

    data: Literal["[DONE]"]
    """The end of the stream"""


class ChatCompletionEvent(RootModel[ChunkEvent | BrokenOffEvent | DoneEvent]):
    """One event of a streamed answer; it has no name."""


STREAMED: dict[str, Any] = {
    "text/event-stream": {"schema": {"$ref": "#/components/schemas/ChatCompletionEvent"}}
}
"""The description of a streamed answer."""


@dataclass
class ChunkStream(AnswerStream):
    """The chunks of an answer, which end with `[DONE]`."""

    with_usage: bool

    def begin(self) -> Iterator[bytes]:
        """The role."""
        yield self._line({"role": "assistant", "content": ""})

    def text(self, piece: str) -> bytes:
        """A chunk with the piece."""
        return self._line({"content": piece})

    def end(self, end: TurnFinished, annotations: list[Annotation]) -> Iterator[bytes]:
        """The tool calls, then the evidence, the usage if requested, and `[DONE]`."""
        for index, call in enumerate(tool_calls_of(end)):
            yield self._line({"tool_calls": [{"index": index, **call.model_dump()}]})
        last = {
            "annotations": [one.model_dump() for one in annotations],
            "footnote": Evidence.model_validate(end.turn).model_dump(mode="json"),
        }
        yield self._line(last, finish_reason_of(end))
        if self.with_usage:
            yield encoded(self._chunk([], usage_of(end.turn)))
        yield b"data: [DONE]\n\n"

    def failure(self, error: ErrorBody) -> bytes:
        """The error."""
        return encoded(OpenAIError(error=error).model_dump())

    def _line(self, delta: dict[str, Any], finish_reason: FinishReason | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return encoded(self._chunk([choice]))

    def _chunk(self, choices: list[dict[str, Any]], usage: Usage | None = None) -> dict[str, Any]:
        chunk = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }
        usage_field = {"usage": usage.model_dump() if usage else None} if self.with_usage else {}
        return chunk | usage_field
