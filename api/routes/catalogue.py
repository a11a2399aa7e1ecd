"""Questions about the places of catalogues, answered at once or as the answer is written."""

from collections.abc import Generator
from contextlib import closing
from functools import partial

from fastapi import APIRouter, Request, Response

from api.access import Asker, OpenServices
from api.problems import problem_responses
from api.schemas.asking import Token
from api.schemas.catalogue import (
    CatalogueAnswer,
    CatalogueEvent,
    GivenCatalogueQuestion,
    Happened,
    RankedPlaces,
    UnderstoodQuestion,
    understanding_of,
)
from api.sent_events import named, sent, streamed
from api.streaming import GONE, EventStream, OpenStreams, next_unless_gone, read_unless_gone
from bootstrap import Services
from catalog import events
from domain import CatalogueQuery, Principal
from errors import ConflictError

_EXAMPLE = """event: understood
data: {"understood": {"query_en": "...", "filters": {"borough_en": null, ...}, ...}, "weights": ...}

event: ranked
data: {"restaurants": [{"place": {"place_id": "r17", ...}, "score": 1.71, ...}], "notices": []}

event: token
data: {"text": "Trattoria Luna has a quiet room [1]."}

event: answered
data: {"answer": "Trattoria Luna has a quiet room [1].", "citations": [...], "restaurants": [...]}

"""

router = APIRouter(
    prefix="/chat/search", tags=["catalogue"], responses=problem_responses(404, 409, 502)
)


@router.post("")
async def search_catalogue(
    services: OpenServices,
    principal: Asker,
    streams: OpenStreams,
    given: GivenCatalogueQuestion,
    request: Request,
) -> CatalogueAnswer:
    """Find places for a person, and wait for the whole answer.

    A caller that goes away before stops it; nothing of it is kept.
    """
    stream = streams.start(partial(_asking, services, principal, given))
    happened = await read_unless_gone(stream, request)
    if happened is None:
        return GONE  # type: ignore[return-value]  # read by nobody
    *_, last = happened
    return last  # type: ignore[return-value]  # what does not raise ends with the answer


@router.post(
    "/stream",
    status_code=200,
    response_class=EventStream,
    response_model=CatalogueEvent,
    responses=streamed("CatalogueEvent", _EXAMPLE),
)
async def search_catalogue_stream(
    services: OpenServices,
    principal: Asker,
    streams: OpenStreams,
    given: GivenCatalogueQuestion,
    request: Request,
) -> Response:
    """Find places for a person, and follow the answer as Server-Sent Events.

    The events are `understood`, `ranked`, `token` and `answered`; where it goes wrong on the way
    `error` is the last, with problem details. A caller that goes away stops the answer.
    """
    stream = streams.start(partial(_asking, services, principal, given))
    first = await next_unless_gone(stream, request)
    return EventStream(sent(first, stream, _wire), stream) if first else GONE


def _asking(
    services: Services, principal: Principal, given: GivenCatalogueQuestion
) -> Generator[Happened, None, None]:
    """What happens, as callers are told it; closing this ends what a model is still writing."""
    catalogue = services.catalogue.known.find(principal, given.catalogue)
    description = catalogue.description
    filters = [one.name for one in description.filters]
    happening = services.catalogue.search(
        principal,
        given.query,
        catalogue=catalogue,
        user_id=given.user_id or "",
        preferences=given.user_preferences,
        understood=_understood(given, filters, description.aspect_names),
        language=given.language,
    )
    with closing(happening):
        for happened in happening:
            yield _as_told(happened, filters)


def _understood(
    given: GivenCatalogueQuestion, filters: list[str], aspects: tuple[str, ...]
) -> CatalogueQuery | None:
    if given.understood is None:
        return None
    query = given.understood.query(given.query)
    told = (
        ("filter", query.filters.fields, filters),
        ("aspect", query.aspect_weights, aspects),
    )
    for what, names, known in told:
        if unknown := [name for name in names if name not in known]:
            raise ConflictError(
                f"understood: the catalogue has no {what} {unknown[0][:40]!r};"
                f" there are {', '.join(known) or 'none'}"
            )
    return query


def _as_told(happened: events.CatalogueEvent, filters: list[str]) -> Happened:
    match happened:
        case events.Written(text):
            return Token(text=text)
        case events.Understood(query, weights):
            understood = understanding_of(query, filters)
            return UnderstoodQuestion(understood=understood, weights=dict(weights))
        case events.Ranked():
            return RankedPlaces.model_validate(happened)
        case events.Answered(answer):
            understood = understanding_of(answer.query, filters)
            fields = {name: getattr(answer, name) for name in answer.__dataclass_fields__}
            return CatalogueAnswer.model_validate(
                fields | {"understood": understood}, from_attributes=True
            )


def _wire(happened: Happened) -> bytes:
    match happened:
        case CatalogueAnswer():
            name = "answered"
        case UnderstoodQuestion():
            name = "understood"
        case RankedPlaces():
            name = "ranked"
        case Token():
            name = "token"
    return named(name, happened.model_dump_json())
