"""A streamed answer in the format of OpenAI's Responses API, and the description of its events."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from api.field_types import Schema
from api.openai.answer_stream import AnswerStream, encoded
from api.openai.openai_answers import Annotation
from api.openai.openai_error_responses import ErrorBody
from api.openai.responses_answers import (
    AnswerResponse,
    FailureDetails,
    FunctionCallOutputItem,
    OutputCitation,
    OutputMessage,
    OutputText,
    finished_response,
    message_id,
    message_of,
    tool_fields,
)
from api.openai.responses_requests import ResponseRequest
from api.streaming import JsonOf
from services.events import TurnFinished

EventType = Literal[
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.annotation.added",
    "response.output_text.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
    "response.incomplete",
    "response.failed",
]


class ResponseUpdate(Schema):
    """The data of an event; the fields after the second one depend on the type."""

    type: EventType
    """Type of the event, which is also its name"""
    sequence_number: int = Field(ge=0, examples=[4])
    """Number of the event in the stream, from 0"""
    response: AnswerResponse | None = None
    """The answer, in events about the whole of it"""
    output_index: int = Field(0, ge=0)
    """Index of the item in the output, from 0"""
    content_index: Literal[0] = 0
    """Index of the text in the message; there is only one"""
    item_id: str = Field("", examples=["msg_5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the item"""
    item: OutputMessage | FunctionCallOutputItem | None = None
    """The message or the function call, when it is added or done"""
    part: OutputText | None = None
    """The text with its annotations, when it is added or done"""
    delta: str = Field("", examples=["25 days"])
    """Text to append to the preceding pieces, or all arguments of a function call"""
    arguments: str = Field("", examples=['{"city": "Busan"}'])
    """The arguments of a function call, when they are done"""
    text: str = Field("", examples=["25 days [1]."])
    """The whole text, when it is done"""
    annotation: OutputCitation | None = None
    """An added annotation"""
    annotation_index: int = Field(0, ge=0)
    """Index of the annotation, from 0"""
    logprobs: list[Any] = Field([], max_length=0)
    """Always empty"""


class ResponseEvent(Schema):
    """One event of a streamed answer."""

    event: EventType
    """Name of the event"""
    data: Annotated[str, JsonOf(ResponseUpdate)]
    """Its data"""


RESPONSE_STREAMED: dict[str, Any] = {
    "text/event-stream": {"schema": {"$ref": "#/components/schemas/ResponseEvent"}}
}
"""The description of a streamed answer."""


@dataclass
class ResponseStream(AnswerStream):
    """The events of a streamed answer."""

    request: ResponseRequest
    _number: int = field(default=0, init=False)
    _has_message: bool = field(default=False, init=False)

    def begin(self) -> Iterator[bytes]:
        """The events before the output."""
        begun = self._response(status="in_progress", output=[])
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)

    def text(self, piece: str) -> bytes:
        """An event with the piece, and before the first one, those that begin the message."""
        begin = b"" if self._has_message else b"".join(self._message_begin())
        return begin + self._part_event("response.output_text.delta", delta=piece, logprobs=[])

    def end(self, end: TurnFinished, annotations: list[Annotation]) -> Iterator[bytes]:
        """The events after the text."""
        if not (self._has_message or end.tool_calls):
            yield from self._message_begin()
        response = finished_response(
            end, self.id, self.created, self.request, self.content, annotations
        )
        for index, item in enumerate(response.output):
            if isinstance(item, OutputMessage):
                yield from self._message_end(item)
            else:
                yield from self._call_events(index, item)
        name = f"response.{response.status}"
        yield self._event(name, response=response.model_dump(mode="json"))

    def failure(self, error: ErrorBody) -> bytes:
        """The event of a failed answer, with the text so far."""
        message = message_of(self.id, self.content, [], is_complete=False)
        failed = self._response(
            status="failed",
            error=FailureDetails(code="server_error", message=error.message),
            output=[message] if self._has_message else [],
        )
        return self._event("response.failed", response=failed)

    def _message_begin(self) -> Iterator[bytes]:
        self._has_message = True
        message = OutputMessage(id=message_id(self.id), status="in_progress", content=[])
        yield self._event("response.output_item.added", output_index=0, item=message.model_dump())
        part = OutputText(text="", annotations=[]).model_dump()
        yield self._part_event("response.content_part.added", part=part)

    def _message_end(self, message: OutputMessage) -> Iterator[bytes]:
        [part] = message.content
        for index, one in enumerate(part.annotations):
            yield self._part_event(
                "response.output_text.annotation.added",
                annotation=one.model_dump(),
                annotation_index=index,
            )
        yield self._part_event("response.output_text.done", text=part.text, logprobs=[])
        yield self._part_event("response.content_part.done", part=part.model_dump())
        yield self._event("response.output_item.done", output_index=0, item=message.model_dump())

    def _call_events(self, index: int, call: FunctionCallOutputItem) -> Iterator[bytes]:
        begun = call.model_copy(update={"arguments": "", "status": "in_progress"})
        place = {"output_index": index, "item_id": call.id}
        yield self._event("response.output_item.added", output_index=index, item=begun.model_dump())
        kind = "response.function_call_arguments"
        yield self._event(f"{kind}.delta", **place, delta=call.arguments)
        yield self._event(f"{kind}.done", **place, arguments=call.arguments)
        yield self._event("response.output_item.done", output_index=index, item=call.model_dump())

    def _response(self, **fields: Any) -> dict[str, Any]:
        response = AnswerResponse(
            id=self.id,
            created_at=self.created,
            model=self.model,
            **tool_fields(self.request),
            **fields,
        )
        return response.model_dump(mode="json")

    def _part_event(self, name: str, **data: Any) -> bytes:
        place = {"item_id": message_id(self.id), "output_index": 0, "content_index": 0}
        return self._event(name, **place, **data)

    def _event(self, name: str, **data: Any) -> bytes:
        number, self._number = self._number, self._number + 1
        return encoded({"type": name, "sequence_number": number, **data}, name)
