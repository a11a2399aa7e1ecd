"""Answers in the format of OpenAI's Responses API, as models for the API's description."""

from typing import Any, Literal

from pydantic import Field

from api.field_types import Schema
from api.openai.openai_answers import (
    Annotation,
    Evidence,
    FinishReason,
    annotations_of,
    finish_reason_of,
    sources_of,
    usage_of,
)
from domain import Turn

Status = Literal["in_progress", "completed", "incomplete", "failed"]


class OutputCitation(Schema):
    """A citation of a web page."""

    type: Literal["url_citation"] = "url_citation"
    """Type of the annotation"""
    start_index: int = Field(examples=[8])
    """Start offset of `[n]`, in characters"""
    end_index: int = Field(examples=[11])
    """End offset, exclusive"""
    url: str = Field(examples=["https://wiki.example.com/leave"])
    """Address of the document"""
    title: str = Field(examples=["Leave policy"])
    """Title of the document"""


class OutputText(Schema):
    """The text of the answer."""

    type: Literal["output_text"] = "output_text"
    """Type of the part"""
    text: str = Field(examples=['25 days [1].\n\nSources:\n[1] Leave: "25 days." leave.md'])
    """As the content of a chat completion"""
    annotations: list[OutputCitation]
    """Citations of web pages in which the quoted words were found"""
    logprobs: list[Any] = Field([], max_length=0)
    """Always empty"""


class OutputMessage(Schema):
    """The message with the answer."""

    id: str = Field(examples=["msg_5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the message; nothing is stored under it"""
    type: Literal["message"] = "message"
    """Type of the item"""
    role: Literal["assistant"] = "assistant"
    """Role of the message's author"""
    status: Literal["in_progress", "completed", "incomplete"]
    """Whether the answer is complete"""
    content: list[OutputText]
    """A list with the text; empty while it has not begun"""


class InputTokens(Schema):
    """Details of the input tokens."""

    cached_tokens: Literal[0] = 0
    """Always 0: not reported"""
    cache_write_tokens: Literal[0] = 0
    """Always 0: not reported"""


class OutputTokens(Schema):
    """Details of the output tokens."""

    reasoning_tokens: Literal[0] = 0
    """Always 0: not reported"""


class ResponseUsage(Schema):
    """Tokens of all model calls for the answer; 0 if the model does not report them."""

    input_tokens: int = Field(examples=[812])
    """Tokens that the model read"""
    input_tokens_details: InputTokens = InputTokens()
    """Details of these"""
    output_tokens: int = Field(examples=[96])
    """Tokens that the model wrote"""
    output_tokens_details: OutputTokens = OutputTokens()
    """Details of these"""
    total_tokens: int = Field(examples=[908])
    """Sum of both"""


class IncompleteDetails(Schema):
    """Why the answer is incomplete; `footnote.error` says it in words."""

    reason: Literal["max_output_tokens", "content_filter"]
    """The limit that ended the answer, or the model's content filter"""


class FailureDetails(Schema):
    """Why the answer failed after it had begun."""

    code: str = Field(examples=["server_error"])
    """Machine-readable error code"""
    message: str = Field(examples=["The model can't be reached."])
    """What failed and what to do next"""


class AnswerResponse(Schema):
    """An answer; the fields for options that are not supported have constant values."""

    id: str = Field(examples=["resp_5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the answer; nothing is stored under it"""
    object: Literal["response"] = "response"
    """Type of the object"""
    created_at: int = Field(examples=[1795312800])
    """When the question was asked, in seconds since 1970"""
    status: Status
    """State of the answer; without a stream, it is `completed` or `incomplete`"""
    error: FailureDetails | None = None
    """Why the answer failed; null if it did not"""
    incomplete_details: IncompleteDetails | None = None
    """Why the answer is incomplete; null if it is complete"""
    model: str = Field(examples=["footnote"])
    """The requested model"""
    output: list[OutputMessage]
    """A list with the message; empty while it has not begun"""
    usage: ResponseUsage | None = None
    """Token usage of the answer; null until it ends"""
    footnote: Evidence | None = None
    """Footnote's extension: the evidence for the answer; null until it ends"""
    instructions: None = None
    """Always null: instructions are ignored"""
    metadata: dict[str, str] = Field({}, max_length=0)
    """Always empty"""
    parallel_tool_calls: Literal[False] = False
    """Always false"""
    previous_response_id: None = None
    """Always null: nothing is stored"""
    store: Literal[False] = False
    """Always false: nothing is stored"""
    temperature: None = None
    """Always null: the settings determine it"""
    tool_choice: Literal["none"] = "none"
    """Always `none`"""
    tools: list[Any] = Field([], max_length=0)
    """Always empty"""
    top_p: None = None
    """Always null: the settings determine it"""


def message_id(response_id: str) -> str:
    """The id of the only message of a response."""
    return response_id.replace("resp_", "msg_", 1)


def response_of(turn: Turn, id_: str, created: int, model: str) -> AnswerResponse:
    """The complete answer as a single response."""
    text = turn.answer + sources_of(turn)
    return finished_response(turn, id_, created, model, text, annotations_of(turn, turn.answer))


def finished_response(
    turn: Turn, id_: str, created: int, model: str, text: str, annotations: list[Annotation]
) -> AnswerResponse:
    """The response for a finished turn whose text and annotations were computed."""
    reason = finish_reason_of(turn)
    usage = usage_of(turn)
    return AnswerResponse(
        id=id_,
        created_at=created,
        status="completed" if reason == "stop" else "incomplete",
        incomplete_details=_incomplete_details(reason),
        model=model,
        output=[message_of(id_, text, annotations, is_complete=reason == "stop")],
        usage=ResponseUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            total_tokens=usage.total_tokens,
        ),
        footnote=Evidence.model_validate(turn),
    )


def message_of(
    id_: str, text: str, annotations: list[Annotation], *, is_complete: bool
) -> OutputMessage:
    """The message of the response with that id."""
    part = OutputText(text=text, annotations=output_citations(annotations))
    status: Literal["completed", "incomplete"] = "completed" if is_complete else "incomplete"
    return OutputMessage(id=message_id(id_), status=status, content=[part])


def output_citations(annotations: list[Annotation]) -> list[OutputCitation]:
    """The annotations in this format."""
    return [OutputCitation(**one.url_citation.model_dump()) for one in annotations]


def _incomplete_details(reason: FinishReason) -> IncompleteDetails | None:
    if reason == "content_filter":
        return IncompleteDetails(reason=reason)
    return IncompleteDetails(reason="max_output_tokens") if reason == "length" else None
