"""Answers in the format of OpenAI's Responses API, as models for the API's description."""

from typing import Any, Literal

from pydantic import Field

from api.field_types import Schema
from api.openai.openai_answers import (
    Annotation,
    Evidence,
    UrlCitation,
    annotations_of,
    finish_reason_of,
    sources_of,
    tool_calls_of,
    usage_of,
)
from api.openai.responses_requests import ResponseRequest
from api.openai.tool_requests import (
    FunctionCallItem,
    Mode,
    ResponseFunctionChoice,
    ResponseTool,
)
from services.chat.running_answer import FILTERED, TOO_LONG
from services.events import TurnFinished

Status = Literal["in_progress", "completed", "incomplete", "failed"]


class OutputCitation(UrlCitation):
    """A citation of a web page."""

    type: Literal["url_citation"] = "url_citation"
    """Type of the annotation"""


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


class FunctionCallOutputItem(FunctionCallItem):
    """A call of a caller's function."""

    id: str = Field(examples=["fc_5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910_0"])
    """Id of the item; nothing is stored under it"""
    status: Literal["in_progress", "completed"]
    """Whether the call is complete"""


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
    """The limit of tokens, or the model's content filter"""


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
    """Why the answer is incomplete; null if it is complete, or for a reason that OpenAI lacks,
    such as a time limit"""
    model: str = Field(examples=["footnote"])
    """The requested model"""
    output: list[OutputMessage | FunctionCallOutputItem]
    """The message, unless there are only function calls, then the calls"""
    usage: ResponseUsage | None = None
    """Token usage of the answer; null until it ends"""
    footnote: Evidence | None = None
    """Footnote's extension: the evidence for the answer; null until it ends"""
    instructions: None = None
    """Always null: instructions are ignored"""
    metadata: dict[str, str] = Field({}, max_length=0)
    """Always empty"""
    parallel_tool_calls: bool = Field(False, examples=[False])
    """Whether the model may call several tools at once"""
    previous_response_id: None = None
    """Always null: nothing is stored"""
    store: Literal[False] = False
    """Always false: nothing is stored"""
    temperature: None = None
    """Always null: the settings determine it"""
    tool_choice: Mode | ResponseFunctionChoice = Field("none", examples=["none"])
    """As in the request; `none` without tools"""
    tools: list[ResponseTool] = Field([], examples=[[]])
    """The caller's tools"""
    top_p: None = None
    """Always null: the settings determine it"""


def message_id(response_id: str) -> str:
    """The id of the only message of a response."""
    return response_id.replace("resp_", "msg_", 1)


def tool_fields(request: ResponseRequest) -> dict[str, Any]:
    """The fields of a response that repeat the tools of its request."""
    if not request.tools:
        return {}
    return {
        "tools": request.tools,
        "tool_choice": request.tool_choice or "auto",
        "parallel_tool_calls": request.parallel_tool_calls is not False,
    }


def response_of(end: TurnFinished, id_: str, request: ResponseRequest) -> AnswerResponse:
    """The complete answer as a single response."""
    text, created = end.turn.answer + sources_of(end), int(end.turn.created_at.timestamp())
    annotations = annotations_of(end, end.turn.answer)
    return finished_response(end, id_, created, request, text, annotations)


def finished_response(
    end: TurnFinished,
    id_: str,
    created: int,
    request: ResponseRequest,
    text: str,
    annotations: list[Annotation],
) -> AnswerResponse:
    """The response for a finished answer whose text and annotations were computed."""
    calls = function_calls_of(end, id_)
    usage = usage_of(end.turn)
    is_complete = finish_reason_of(end) in ("stop", "tool_calls")
    message = message_of(id_, text, annotations, is_complete=is_complete)
    return AnswerResponse(
        id=id_,
        created_at=created,
        status="completed" if is_complete else "incomplete",
        incomplete_details=_incomplete_details(end.turn.error),
        model=request.model,
        output=[message, *calls] if text or not calls else calls,
        usage=ResponseUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            total_tokens=usage.total_tokens,
        ),
        footnote=Evidence.model_validate(end.turn),
        **tool_fields(request),
    )


def function_calls_of(end: TurnFinished, id_: str) -> list[FunctionCallOutputItem]:
    """The calls of the caller's functions in the response with that id."""
    return [
        FunctionCallOutputItem.model_construct(
            type="function_call",
            id=f"{id_.replace('resp_', 'fc_', 1)}_{index}",
            call_id=one.id,
            name=one.function.name,
            arguments=one.function.arguments,
            status="completed",
        )
        for index, one in enumerate(tool_calls_of(end))
    ]


def message_of(
    id_: str, text: str, annotations: list[Annotation], *, is_complete: bool
) -> OutputMessage:
    """The message of the response with that id."""
    citations = [OutputCitation(**one.url_citation.model_dump()) for one in annotations]
    part = OutputText(text=text, annotations=citations)
    status: Literal["completed", "incomplete"] = "completed" if is_complete else "incomplete"
    return OutputMessage(id=message_id(id_), status=status, content=[part])


def _incomplete_details(error: str) -> IncompleteDetails | None:
    if error == FILTERED:
        return IncompleteDetails(reason="content_filter")
    return IncompleteDetails(reason="max_output_tokens") if error == TOO_LONG else None
