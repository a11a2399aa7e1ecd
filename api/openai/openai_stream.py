"""A streamed answer in OpenAI's format, and the description of its events."""

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from api.event_schemas import JsonOf
from api.field_types import Schema
from api.openai.openai_answers import (
    Annotation,
    Evidence,
    FinishReason,
    Usage,
    annotations_of,
    finish_reason_of,
    sources_of,
    usage_of,
)
from api.openai.openai_error_responses import UNEXPECTED, OpenAIError, body_of
from domain import StepState, Turn
from domain.logs import get_logger
from services.events import (
    Condensing,
    Event,
    PassagesRetrieved,
    Searching,
    StepUpdated,
    TextDelta,
    TurnFinished,
)


class Delta(Schema):
    """The part of an answer that a chunk adds; the last one adds the evidence."""

    role: Literal["assistant"] | None = None
    """Role of the message's author; only in the first chunk"""
    content: str | None = Field(None, examples=["25 days"])
    """Text to append to the preceding pieces"""
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

_log = get_logger("api")


@dataclass
class ChunkStream:
    """Converts the events of an answer to chunks; `content` is the text sent so far."""

    id: str
    created: int
    model: str
    with_usage: bool
    content: str = field(default="", init=False)

    def lines(self, events: Generator[Event, None, None]) -> Generator[bytes, None, None]:
        """The lines to send, beginning with the role and ending with `[DONE]`.

        An error before the first text of the answer is raised before the first line, so that it
        can still become an HTTP status. A later error becomes the last event.
        """
        with closing(events):
            waited = _until_first_word(events)
            yield self._line({"role": "assistant", "content": ""})
            try:
                for event in chain(waited, events):
                    yield from self._event_lines(event)
            except Exception as error:  # noqa: BLE001  # the client waits for an end in any case
                body = body_of(error)
                if body.error.code == UNEXPECTED:
                    _log.error("An answer broke off", exc_info=error)
                yield _event(body.model_dump())
                return
            yield b"data: [DONE]\n\n"

    def _event_lines(self, event: Event) -> Iterator[bytes]:
        if isinstance(event, TextDelta):
            yield self._text_chunk(event.text)
        elif isinstance(event, StepUpdated) and event.step.state is StepState.RUNNING:
            # Text of an agent before a step is not part of its answer, but has been sent already.
            if self.content and not self.content.endswith("\n\n"):
                yield self._text_chunk("\n\n")
        elif isinstance(event, TurnFinished):
            yield from self._end(event.turn)

    def _end(self, turn: Turn) -> Iterator[bytes]:
        annotations = annotations_of(turn, self.content)
        if sources := sources_of(turn):
            yield self._text_chunk(sources)
        last = {
            "annotations": [one.model_dump() for one in annotations],
            "footnote": Evidence.model_validate(turn).model_dump(mode="json"),
        }
        yield self._line(last, finish_reason_of(turn))
        if self.with_usage:
            yield _event(self._chunk([], usage_of(turn)))

    def _text_chunk(self, text: str) -> bytes:
        self.content += text
        return self._line({"content": text})

    def _line(self, delta: dict[str, Any], finish_reason: FinishReason | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _event(self._chunk([choice]))

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


def _until_first_word(events: Iterator[Event]) -> list[Event]:
    """The events up to the first one that the client receives."""
    waited: list[Event] = []
    for event in events:
        waited.append(event)
        if not isinstance(event, Condensing | Searching | PassagesRetrieved):
            break
    return waited


def _event(value: Any) -> bytes:
    # Escaped, because some clients treat characters such as U+2028 as line ends.
    return f"data: {json.dumps(value)}\n\n".encode("ascii")
