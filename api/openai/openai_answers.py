"""Answers in OpenAI's format, as models for the API's description."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from api.field_types import Schema
from api.openai.openai_requests import SOURCES
from api.openai.tool_requests import CalledFunction, ToolCall
from api.rest.answer_schemas import Citation, ResponseModel, Source, Step
from domain import Citation as Cited
from domain import CitationState, Turn, TurnState, is_on_web
from services.chat.running_answer import (
    BLANK,
    CALLED_TOOLS,
    FILTERED,
    NO_ANSWER,
    UNREADABLE_CALL,
)
from services.events import TurnFinished
from services.export.answer_text import escape, location_text, marker_spans

_LOST = "⚠"
"""Marks a listed citation that is not verified: its quote or its source was not found."""

FinishReason = Literal["stop", "length", "content_filter", "tool_calls"]

_WITHOUT_ANSWER = frozenset((BLANK, CALLED_TOOLS, NO_ANSWER, UNREADABLE_CALL))
"""Why an answer is incomplete although the model ended it."""


class UrlCitation(Schema):
    """The position of a citation in the content, and the cited web page."""

    start_index: int = Field(examples=[8])
    """Start offset of `[n]`, in characters"""
    end_index: int = Field(examples=[11])
    """End offset, exclusive"""
    url: str = Field(examples=["https://wiki.example.com/leave"])
    """Address of the document"""
    title: str = Field(examples=["Leave policy"])
    """Title of the document"""


class Annotation(Schema):
    """A citation in the form that clients use for web pages."""

    type: Literal["url_citation"] = "url_citation"
    """Type of the annotation"""
    url_citation: UrlCitation
    """The cited web page, and its position in the content"""


class Evidence(ResponseModel):
    """Footnote's extension of an answer: its evidence in structured form."""

    citations: list[Citation]
    """The checked citations in the order of the answer: one for each number, or one for each
    `[n]`"""
    sources: list[Source]
    """The passages used to answer, by number"""
    standalone_question: str = Field(examples=["How many days of leave do I get?"])
    """The standalone question that was searched for"""
    steps: list[Step]
    """The agent's steps; always empty for the model `footnote`"""
    unsupported_sentences: int = Field(examples=[0])
    """Number of sentences that make a claim without a verified citation"""
    model: str = Field(examples=["built-in extractive answerer"])
    """Name of the model that wrote the answer"""
    error: str = Field(examples=[""])
    """Why the answer is incomplete; empty if it is complete"""


class AnswerMessage(Schema):
    """The message with the answer; its citations are in `annotations` and `footnote`."""

    role: Literal["assistant"] = "assistant"
    """Role of the message's author"""
    content: str | None = Field(
        examples=['25 days [1].\n\nSources:\n[1] Leave: "New employees get 25 days." leave.md']
    )
    r"""The answer in Markdown with `[n]` after each statement, followed by a list of the cited
    sources; brackets from documents are escaped, `\[42\]`, and so are HTML, links, and images. In
    another `response_format`, the JSON as the model wrote it. Null if there are only tool calls"""
    tool_calls: list[ToolCall] | None = Field(None, examples=[None])
    """Calls of the caller's tools; null if there are none"""
    refusal: None = None
    """Always null"""
    annotations: list[Annotation]
    """Citations of web pages in which the quoted words were found"""
    footnote: Evidence
    """The evidence for the answer"""


class Choice(Schema):
    """The only answer."""

    index: Literal[0] = 0
    """Index of the choice; there is only one"""
    message: AnswerMessage
    """The answer as a message"""
    logprobs: None = None
    """Always null"""
    finish_reason: FinishReason
    """`stop`: the model ended the answer; `tool_calls`: it calls tools of the caller;
    `content_filter`: a filter of the model's server stopped it; `length`: it was cut off for
    another reason. `footnote.error` explains why an answer is incomplete"""


class Usage(Schema):
    """Tokens of all model calls for the answer; 0 if the model does not report them."""

    prompt_tokens: int = Field(examples=[812])
    """Tokens that the model read"""
    completion_tokens: int = Field(examples=[96])
    """Tokens that the model wrote"""
    total_tokens: int = Field(examples=[908])
    """Sum of both"""


class ChatCompletion(Schema):
    """An answer to a chat."""

    id: str = Field(examples=["chatcmpl-5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the answer; nothing is stored under it"""
    object: Literal["chat.completion"] = "chat.completion"
    """Type of the object"""
    created: int = Field(examples=[1795312800])
    """When the question was asked, in seconds since 1970"""
    model: str = Field(examples=["footnote"])
    """The requested model"""
    choices: list[Choice]
    """A list with one answer"""
    usage: Usage
    """Token usage of the answer"""


def completion_of(end: TurnFinished, id_: str, model: str) -> ChatCompletion:
    """The complete answer as a single response."""
    turn, calls = end.turn, tool_calls_of(end)
    text = turn.answer + sources_of(end)
    message = AnswerMessage(
        content=text if text or not calls else None,
        tool_calls=calls or None,
        annotations=annotations_of(end, turn.answer),
        footnote=Evidence.model_validate(turn),
    )
    return ChatCompletion(
        id=id_,
        created=int(turn.created_at.timestamp()),
        model=model,
        choices=[Choice(message=message, finish_reason=finish_reason_of(end))],
        usage=usage_of(turn),
    )


def tool_calls_of(end: TurnFinished) -> list[ToolCall]:
    """The calls of the caller's tools."""
    return [
        ToolCall.model_construct(  # unchecked, because it is what the model wrote
            id=str(one["id"]),
            function=CalledFunction.model_construct(
                name=str(one["name"]), arguments=str(one["args"])
            ),
        )
        for one in end.tool_calls
    ]


def sources_of(end: TurnFinished) -> str:
    """The list of cited sources below the answer, one line per quote; "" if there are none.

    Nothing is added to an answer in JSON. The format is the same in every language, so that
    `without_sources` can recognize the list.
    """
    if end.is_json:
        return ""
    lines = [_line(one) for one in sorted(end.turn.citations, key=lambda one: one.n)]
    return "\n".join([f"\n\n{SOURCES}", *dict.fromkeys(lines)]) if lines else ""


def annotations_of(end: TurnFinished, content: str) -> list[Annotation]:
    """The positions in the content that cite web pages; files have no address for a browser.

    An answer in JSON has none.

    Args:
        end: The end of the answer.
        content: The text sent to the client; it ends with the turn's answer.
    """
    if end.is_json:
        return []
    turn = end.turn
    begin = len(content) - len(turn.answer)
    return [
        Annotation(
            url_citation=UrlCitation(
                start_index=begin + start,
                end_index=begin + end,
                url=citation.location,
                title=citation.title,
            )
        )
        for start, end, citation in _marks(turn)
        if citation.state is CitationState.VERIFIED and is_on_web(citation.location)
    ]


def finish_reason_of(end: TurnFinished) -> FinishReason:
    """Why the answer ended; `length` if it was cut off for any reason but a filter."""
    turn = end.turn
    if end.tool_calls:
        return "tool_calls"
    if turn.state is TurnState.COMPLETE or turn.error in _WITHOUT_ANSWER:
        return "stop"
    return "content_filter" if turn.error == FILTERED else "length"


def usage_of(turn: Turn) -> Usage:
    """The tokens that the model reported."""
    read, wrote = (turn.usage.get(name, 0) for name in ("input_tokens", "output_tokens"))
    return Usage(prompt_tokens=read, completion_tokens=wrote, total_tokens=read + wrote)


def _line(citation: Cited) -> str:
    if citation.state is CitationState.NO_SUCH_SOURCE:
        return f"[{citation.n}] {_LOST}"
    sign = "" if citation.state is CitationState.VERIFIED else f"{_LOST} "
    page = f", page {citation.page}" if citation.page else ""
    words = f': "{escape(citation.quote)}"' if citation.quote else ""
    title, where = escape(citation.title), location_text(citation.location)
    return " ".join(f"[{citation.n}] {sign}{title}{page}{words} {where}".split())


def _marks(turn: Turn) -> Iterator[tuple[int, int, Cited]]:
    """The span of each `[n]` in the answer, and its citation.

    A number has one citation for all of its markers, or one for each in the order of the text.
    """
    by_number: dict[int, list[Cited]] = {}
    for citation in turn.citations:
        by_number.setdefault(citation.n, []).append(citation)
    for n, start, end in marker_spans(turn.answer):
        if remaining := by_number.get(n):
            yield start, end, remaining.pop(0) if len(remaining) > 1 else remaining[0]
