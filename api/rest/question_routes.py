"""Questions about the documents, with complete or streamed answers."""

from collections.abc import Callable, Generator, Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field, RootModel, TypeAdapter

from api.authentication import Call
from api.field_types import Question, Schema
from api.problems import ProblemError, problem_responses
from api.rest.answer_schemas import (
    Citation,
    Citations,
    RequestModel,
    ResponseModel,
    SearchOptions,
    Source,
    Step,
    Turn,
    UnsupportedSentences,
)
from api.streaming import (
    Answering,
    ErrorEvent,
    EventName,
    EventStream,
    JsonOf,
    encoded_event,
    json_event,
    stream_responses,
)
from services.chat.chat_service import turn_of
from services.events import (
    CitationVerified,
    Event,
    PassagesRetrieved,
    ReasoningDelta,
    Searching,
    StepUpdated,
    TextDelta,
    TurnFinished,
    TurnStarted,
)


class QuestionRequest(RequestModel):
    """A question, asked in an existing or a new conversation."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "How many days of leave do I get?"},
                {
                    "question": "And in the second year?",
                    "conversation_id": "0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b",
                    "search": {"mode": "convex", "k": 8, "scope": {"formats": ["pdf"]}},
                },
            ]
        }
    )

    question: Question = Field(examples=["How many days of leave do I get?"])
    """The question as the person typed it"""
    conversation_id: str | None = Field(None, examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"])
    """Id of the conversation to ask in; null starts a new one"""
    search: SearchOptions | None = None
    """Search options; null uses those of the conversation. A new conversation stores them."""
    turn_id: str | None = Field(None, examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Ask a new version of this turn of the conversation; null continues the selected branch"""
    standalone: Question | None = Field(None, examples=["How many days of annual leave do I get?"])
    """Standalone question to search for verbatim; null derives it from the question and its
    history"""


class StartedData(ResponseModel):
    """The ids of the stored question."""

    conversation_id: str = Field(examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"])
    """Id of the conversation"""
    turn_id: str = Field(examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the turn"""


class QuestionData(ResponseModel):
    """The question that is searched for, rewritten if it was a follow-up."""

    standalone: str = Field(examples=["How many days of annual leave do new employees get?"])
    """The standalone question"""


class ReasoningData(ResponseModel):
    """A piece of the model's reasoning, as plain text."""

    text: str = Field(examples=["The question is about leave."])
    """Text to append to the preceding pieces"""


class Token(ResponseModel):
    """A piece of the answer's Markdown, in which every unescaped [n] is a citation marker.

    HTML, links, and images are escaped, whatever the sizes of the pieces.
    """

    text: str = Field(examples=["New employees get 25 days"])
    """Text to append to the preceding pieces"""


class FoundCitation(ResponseModel):
    """A verified citation of the answer so far."""

    marker: int = Field(examples=[0])
    """Index of its `[n]` among those of the answer, from 0"""
    citation: Citation
    """The citation, which `citations` contains too"""


class CheckedCitations(ResponseModel):
    """The result of checking the answer."""

    citations: Citations
    unsupported_sentences: UnsupportedSentences


class StartedEvent(Schema):
    """The first event."""

    event: EventName[Literal["started"]]
    data: Annotated[str, JsonOf(StartedData)]
    """Ids of the conversation and the turn"""


class QuestionEvent(Schema):
    """Sent once the standalone question is known."""

    event: EventName[Literal["question"]]
    data: Annotated[str, JsonOf(QuestionData)]
    """The standalone question"""


class StepEvent(Schema):
    """Sent when a step of the agent begins, and again when it ends.

    Text written before a step is not part of the answer, and neither are its citations; it is
    repeated in the step's `said`.
    """

    event: EventName[Literal["step"]]
    data: Annotated[str, JsonOf(Step)]
    """Current state of the step"""


class SourcesEvent(Schema):
    """All passages so far, numbered from 1; an agent may send it several times."""

    event: EventName[Literal["sources"]]
    data: Annotated[str, JsonOf(list[Source])]
    """All passages so far, in the order of their numbers"""


class ReasoningEvent(Schema):
    """Sent for each piece of a thinking model's reasoning, which is not part of the answer."""

    event: EventName[Literal["reasoning"]]
    data: Annotated[str, JsonOf(ReasoningData)]
    """The piece of text"""


class TokenEvent(Schema):
    """Sent for each piece of the answer."""

    event: EventName[Literal["token"]]
    data: Annotated[str, JsonOf(Token)]
    """The piece of text"""


class CitationEvent(Schema):
    """Sent as soon as a quote of the answer was found in its document.

    A citation without a quote is checked once the answer is complete.
    """

    event: EventName[Literal["citation"]]
    data: Annotated[str, JsonOf(FoundCitation)]
    """The verified citation"""


class CitationsEvent(Schema):
    """Sent once the answer is complete."""

    event: EventName[Literal["citations"]]
    data: Annotated[str, JsonOf(CheckedCitations)]
    """The checked citations"""


class EndEvent(Schema):
    """The last event of a successful answer: the stored turn."""

    event: EventName[Literal["end"]]
    data: Annotated[str, JsonOf(Turn)]
    """The complete turn"""


class AnswerEvent(
    RootModel[
        StartedEvent
        | QuestionEvent
        | StepEvent
        | SourcesEvent
        | ReasoningEvent
        | TokenEvent
        | CitationEvent
        | CitationsEvent
        | EndEvent
        | ErrorEvent
    ]
):
    """One event: its name (`event:`) and its data (`data:`) as JSON on one line."""


_SOURCES = TypeAdapter(list[Source])
_EXAMPLE = """event: started
data: {"conversation_id": "0e9d8c7b", "turn_id": "5b1f0f3e"}

event: question
data: {"standalone": "How many days of annual leave do new employees get?"}

event: sources
data: [{"n": 1, "title": "Leave policy", "location": "leave.md", ...}]

event: token
data: {"text": "New employees get 25 days [1]."}

event: citation
data: {"marker": 0, "citation": {"n": 1, "state": "verified", ...}}

event: citations
data: {"citations": [{"n": 1, "state": "verified", ...}], "unsupported_sentences": 0}

event: end
data: {"id": "5b1f0f3e", "state": "complete", "answer": "New employees get 25 days [1].", ...}

"""

router = APIRouter(prefix="/ask", tags=["ask"], responses=problem_responses(404, 409, 502))


@router.post("")
async def ask(call: Answering, body: QuestionRequest) -> Turn:
    """Ask a question and wait for the whole answer.

    The answer is stopped if the caller disconnects; the text so far is stored.
    """
    begin = _answer_events(call, body)
    return Turn.model_validate(turn_of(await call.read(begin)))


@router.post(
    "/stream",
    status_code=200,
    response_class=EventStream,
    response_model=AnswerEvent,
    responses=stream_responses("AnswerEvent", _EXAMPLE),
)
async def ask_stream(call: Answering, body: QuestionRequest) -> Response:
    """Ask a question and stream its answer as Server-Sent Events.

    The events are `started`, `question`, `step` (of an agent), `sources`, `reasoning` (of a
    thinking model), `token`, `citation` (as soon as a quote is found), `citations`, and `end`;
    after a failure, the last one is `error`, with problem details. The answer is stopped if the
    caller disconnects; the text so far is stored.
    """
    begin = _answer_events(call, body)
    return await call.stream(begin, _event_bytes)


def _answer_events(call: Call, body: QuestionRequest) -> Callable[[], Generator[Event, None, None]]:
    """The function that starts the answer."""
    chat, search = call.services.chat, body.search.choice() if body.search else None
    if body.turn_id is None:
        return lambda: chat.stream(
            call.principal,
            body.question,
            body.conversation_id,
            search=search,
            standalone=body.standalone,
        )
    if body.conversation_id is None:
        raise ProblemError(404, "A turn belongs to a conversation: send its conversation_id too.")
    turn = (call.principal, body.conversation_id, body.turn_id)
    return lambda: chat.ask_again(
        *turn, question=body.question, standalone=body.standalone, search=search
    )


def _event_bytes(event_data: Event) -> bytes:
    return b"".join(_events(event_data))


def _events(event_data: Event) -> Iterator[bytes]:
    match event_data:
        case TextDelta(text):
            yield json_event("token", {"text": text})
        case ReasoningDelta(text):
            yield json_event("reasoning", {"text": text})
        case TurnStarted(turn):
            ids = StartedData(conversation_id=turn.conversation_id, turn_id=turn.id)
            yield encoded_event("started", ids.model_dump_json())
        case Searching(question):
            yield encoded_event("question", QuestionData(standalone=question).model_dump_json())
        case StepUpdated(step):
            yield encoded_event("step", Step.model_validate(step).model_dump_json())
        case PassagesRetrieved(sources):
            passages = _SOURCES.validate_python(sources, from_attributes=True)
            yield encoded_event("sources", _SOURCES.dump_json(passages).decode())
        case CitationVerified():
            yield encoded_event(
                "citation", FoundCitation.model_validate(event_data).model_dump_json()
            )
        case TurnFinished(turn):
            checked = CheckedCitations.model_validate(turn)
            yield encoded_event("citations", checked.model_dump_json())
            yield encoded_event("end", Turn.model_validate(turn).model_dump_json())
