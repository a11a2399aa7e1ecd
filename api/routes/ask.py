"""Asking questions, answered at once or as the answer is written."""

from collections.abc import Callable, Generator, Iterator

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from api.access import Asker, OpenServices
from api.problems import ProblemError, problem_responses
from api.schemas.answers import Source
from api.schemas.asking import AnswerEvent, Begun, Checked, GivenQuestion, Searched
from api.schemas.turns import Step, Turn
from api.sent_events import event, named, sent, streamed
from api.streaming import GONE, EventStream, OpenStreams, next_unless_gone, read_unless_gone
from bootstrap import Services
from domain import Principal
from services.events import Answered, Event, Found, Searching, Started, Stepped, Written, turn_of

_SOURCES = TypeAdapter(list[Source])
_EXAMPLE = """event: started
data: {"conversation_id": "0e9d8c7b", "turn_id": "5b1f0f3e"}

event: question
data: {"standalone": "How many days of annual leave do new employees get?"}

event: sources
data: [{"n": 1, "title": "Leave policy", "location": "handbook/leave.md", ...}]

event: token
data: {"text": "New employees get 25 days [1]."}

event: citations
data: {"citations": [{"n": 1, "state": "verified", ...}], "unsupported_sentences": 0}

event: end
data: {"id": "5b1f0f3e", "state": "complete", "answer": "New employees get 25 days [1].", ...}

"""

router = APIRouter(prefix="/ask", tags=["ask"], responses=problem_responses(404, 409, 502))


@router.post("")
async def ask(
    services: OpenServices,
    principal: Asker,
    streams: OpenStreams,
    given: GivenQuestion,
    request: Request,
) -> Turn:
    """Ask a question and wait for the whole answer.

    A caller that goes away before stops it; what was written until then is kept.
    """
    stream = streams.start(_asking(services, principal, given))
    events = await read_unless_gone(stream, request)
    if events is None:
        return GONE  # type: ignore[return-value]  # read by nobody
    return Turn.model_validate(turn_of(events))


@router.post(
    "/stream",
    status_code=200,
    response_class=EventStream,
    response_model=AnswerEvent,
    responses=streamed("AnswerEvent", _EXAMPLE),
)
async def ask_stream(
    services: OpenServices,
    principal: Asker,
    streams: OpenStreams,
    given: GivenQuestion,
    request: Request,
) -> Response:
    """Ask a question and follow its answer as Server-Sent Events.

    The events are `started`, `question`, `step` (of an agent), `sources`, `token`, `citations` and
    `end`; where it goes wrong on the way `error` is the last, with problem details. A caller that
    goes away stops the answer; what was written until then is kept.
    """
    stream = streams.start(_asking(services, principal, given))
    first = await next_unless_gone(stream, request)
    return EventStream(sent(first, stream, _wire), stream) if first else GONE


def _asking(
    services: Services, principal: Principal, given: GivenQuestion
) -> Callable[[], Generator[Event, None, None]]:
    """Begins to answer when it is called."""
    chat, search = services.chat, given.search.choice() if given.search else None
    if given.turn_id is None:
        return lambda: chat.stream(
            principal,
            given.question,
            given.conversation_id,
            search=search,
            standalone=given.standalone,
        )
    if given.conversation_id is None:
        raise ProblemError(404, "A turn is found in its conversation: send conversation_id too.")
    asked = (principal, given.conversation_id, given.turn_id)
    return lambda: chat.ask_again(
        *asked, question=given.question, standalone=given.standalone, search=search
    )


def _wire(happened: Event) -> bytes:
    return b"".join(_events(happened))


def _events(happened: Event) -> Iterator[bytes]:
    match happened:
        case Written(text):
            yield event("token", {"text": text})
        case Started(turn):
            begun = Begun(conversation_id=turn.conversation_id, turn_id=turn.id)
            yield named("started", begun.model_dump_json())
        case Searching(question):
            yield named("question", Searched(standalone=question).model_dump_json())
        case Stepped(step):
            yield named("step", Step.model_validate(step).model_dump_json())
        case Found(sources):
            told = _SOURCES.validate_python(sources, from_attributes=True)
            yield named("sources", _SOURCES.dump_json(told).decode())
        case Answered(turn):
            yield named("citations", Checked.model_validate(turn).model_dump_json())
            yield named("end", Turn.model_validate(turn).model_dump_json())
