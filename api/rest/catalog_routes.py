"""Questions about the places of catalogs, with complete or streamed answers."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field, RootModel

import domain
from api.authentication import Call
from api.field_types import Line, Question, Schema
from api.problems import problem_responses
from api.rest.answer_schemas import Citation, RequestModel, ResponseModel, Source
from api.rest.place_routes import FoundPlace, Language, PersonId, Preference, to_fields
from api.rest.question_routes import Token, TokenEvent
from api.streaming import (
    Answering,
    ErrorEvent,
    EventName,
    EventStream,
    JsonOf,
    encoded_event,
    stream_responses,
)
from domain import CatalogQuery
from domain.errors import ConflictError
from services.catalog import catalog_question
from services.catalog.place_search import PlacesRanked
from services.texts import MAX_QUESTION_CHARS

_QUESTION = "가격 비싸도 괜찮으니 분위기 좋은 이탈리안"
_QUERY_EN = "Italian restaurant with a good ambience, price does not matter"
_FILTERS: Any = {"borough_en": None, "desired_types": ["italian_restaurant"], "min_rating": None}
_ASPECTS: Any = {"food": None, "ambience": 0.9, "price": 0.1}
_UNDERSTOOD: Any = {"query_en": _QUERY_EN, "filters": _FILTERS, "aspect_weights": _ASPECTS}

_IN_ENGLISH = Field(description="The question in English", examples=[_QUERY_EN])
_FILTERS_FIELD = Field(
    description="Maps each filter to the desired value, or to a list of acceptable values; "
    "null if the question does not mention it. `declined_types` is present only "
    "if some are declined",
    examples=[_FILTERS, {**_FILTERS, "borough_en": ["Brooklyn", "Queens"]}],
)
_ASPECTS_FIELD = Field(
    description="Importance of each aspect in the question, from 0 to 1; null if the question"
    " does not mention it",
    examples=[_ASPECTS],
)
_ANALYZED_BY = Field(
    description="The chat model that analyzed the question; empty for the built-in rules",
    examples=[""],
)
_NOTICE = Field(description="Why no chat model analyzed the question; may be empty", examples=[""])
Weight = Annotated[float, Field(ge=0, le=1, strict=True)]
AspectWeights = dict[Line, Weight | None]
Values = Annotated[list[Line], Field(max_length=200, description="Acceptable values")]


class PlaceFiltersRequest(Schema):
    """Filters for places: values by filter name of the catalog, and the fields below."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Line | Values | None] = Field(init=False)

    desired_types: list[Line] | None = Field(
        None, max_length=200, examples=[["italian_restaurant"]]
    )
    """Types that raise a place's score; they exclude nothing"""
    declined_types: list[Line] | None = Field([], max_length=200, examples=[["sushi_restaurant"]])
    """Types to exclude, except for places that also have a desired type"""
    min_rating: Annotated[float, Field(ge=0, strict=True)] | None = Field(None, examples=[4.0])
    """Minimum rating, on the catalog's scale"""

    def filters(self) -> domain.CatalogFilters:
        """The filters as a domain object; empty values are ignored."""
        lists = {
            name: [value] if isinstance(value, str) else value or []
            for name, value in self.__pydantic_extra__.items()
        }
        fields = to_fields({name: [*filter(None, values)] for name, values in lists.items()})
        types = tuple(self.desired_types) if self.desired_types else None
        declined = tuple(self.declined_types or ())
        return domain.CatalogFilters(fields, types, self.min_rating, declined)


class UnderstandingRequest(RequestModel):
    """The analysis of a question, as returned earlier and possibly without some filters."""

    query_en: Annotated[Question, _IN_ENGLISH]
    filters: Annotated[PlaceFiltersRequest, _FILTERS_FIELD] = PlaceFiltersRequest()
    aspect_weights: Annotated[AspectWeights, _ASPECTS_FIELD] = Field({})
    analysed_by: Annotated[Line, _ANALYZED_BY] = ""
    notice: Annotated[str, Field(max_length=MAX_QUESTION_CHARS), _NOTICE] = ""

    def query(self, question: str) -> domain.CatalogQuery:
        """The analysis as a domain object."""
        return domain.CatalogQuery(
            question,
            self.query_en.strip(),
            self.filters.filters(),
            self.aspect_weights,
            self.analysed_by,
            self.notice,
        )


class CatalogQuestionRequest(RequestModel):
    """A question about the places of a catalog."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": _QUESTION, "user_id": "kim", "user_preferences": {"food": 3.0}},
                {"query": _QUESTION, "understood": _UNDERSTOOD},
            ]
        }
    )

    query: Question = Field(examples=[_QUESTION])
    """The question as the person typed it"""
    user_id: PersonId | None = Field(None, examples=["kim"])
    """Id of the person whose preferences count in addition to the question; null for none"""
    user_preferences: dict[Line, Preference] = Field(
        default={}, examples=[{"food": 3.0, "price": 5.0}]
    )
    """Preferences by aspect, from 0 to 5; they override the person's stored preferences"""
    catalogue: Line = Field("", examples=[""])
    """Id or name of the catalog; may be empty if there is only one"""
    understood: UnderstandingRequest | None = None
    """Searches again with this analysis: the `understood` of an earlier answer from which a
    filter was removed; null analyzes the question"""
    language: Language = Field("", examples=["ko"])
    """Language of the answer; if empty, the person's or else the question's language"""


class Understanding(ResponseModel):
    """The analysis of a question."""

    query_en: Annotated[str, _IN_ENGLISH]
    filters: Annotated[dict[str, str | float | list[str] | None], _FILTERS_FIELD]
    aspect_weights: Annotated[dict[str, float | None], _ASPECTS_FIELD]
    analysed_by: Annotated[str, _ANALYZED_BY]
    notice: Annotated[str, _NOTICE]


class UnderstoodQuestion(ResponseModel):
    """The analysis of a question, and the resulting weights."""

    understood: Understanding
    """How the question was understood"""
    weights: dict[str, float] = Field(examples=[{"food": 0.6, "ambience": 0.9, "price": 0.1}])
    """Weight of each aspect, from 0 to 1: from the question, else from the person's preferences,
    else 0.5"""


class RankedPlaces(ResponseModel):
    """The places that were found."""

    restaurants: list[FoundPlace] = Field(validation_alias="places")
    """The places, best first"""
    notices: list[str] = Field(examples=[[]])
    """Notices about the result, for example that reranking was skipped"""


class CatalogAnswer(UnderstoodQuestion, RankedPlaces):
    """The complete result of a question."""

    catalogue_id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the catalog"""
    answer: str = Field(examples=["Trattoria Luna has a quiet room [1]."])
    r"""The answer in Markdown: `[n]` is a citation; brackets from documents are
    escaped, `\[42\]`"""
    citations: list[Citation]
    """The checked citations in the order of the answer: one for each number, or one for each
    `[n]`"""
    sources: list[Source]
    """The reviews and facts used to answer, by number"""
    unsupported_sentences: int = Field(examples=[0])
    """Number of sentences that make a claim without a verified citation"""
    model: str = Field(examples=["built-in extractive answerer"])
    """Name of the model that answered"""
    language: str = Field(examples=["ko"])
    """Language of the answer"""
    timings_ms: dict[str, float] = Field(
        examples=[{"understood": 2.0, "ranked": 95.0, "total": 310.0}]
    )
    """Milliseconds until each stage was reached"""
    is_refusal: bool = Field(examples=[False])
    """Whether the question is not about the catalog: no places were searched, and the answer says
    what can be asked"""


class UnderstoodEvent(Schema):
    """The first event."""

    event: EventName[Literal["understood"]]
    data: Annotated[str, JsonOf(UnderstoodQuestion)]
    """How the question was understood"""


class RankedEvent(Schema):
    """Sent once the places are found; their patterns are not translated yet."""

    event: EventName[Literal["ranked"]]
    data: Annotated[str, JsonOf(RankedPlaces)]
    """The places found, best first"""


class AnsweredEvent(Schema):
    """The last event of a successful answer."""

    event: EventName[Literal["answered"]]
    data: Annotated[str, JsonOf(CatalogAnswer)]
    """The complete result"""


class CatalogEvent(
    RootModel[UnderstoodEvent | RankedEvent | TokenEvent | AnsweredEvent | ErrorEvent]
):
    """One event: its name (`event:`) and its data (`data:`) as JSON on one line."""


EventData = UnderstoodQuestion | RankedPlaces | Token | CatalogAnswer
"""The data of an event, in the order of the events."""


def understanding_of(query: domain.CatalogQuery, filter_names: Sequence[str]) -> Understanding:
    """The analysis of a question; `filter_names` are all filters of its catalog."""
    filters = query.filters
    fields: Mapping[str, Any] = dict.fromkeys(filter_names) | dict(filters.fields)
    types = None if filters.desired_types is None else list(filters.desired_types)
    declined = {"declined_types": list(filters.declined_types)} if filters.declined_types else {}
    values = {**fields, "desired_types": types, **declined, "min_rating": filters.min_rating}
    return Understanding.from_objects(query, filters=values)


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
    prefix="/chat/search", tags=["catalog"], responses=problem_responses(404, 409, 502)
)


@router.post("")
async def search_catalogue(call: Answering, body: CatalogQuestionRequest) -> CatalogAnswer:
    """Find places and wait for the whole answer.

    The answer is stopped if the caller disconnects; nothing is stored.
    """
    *_, last = await call.read(partial(_answer_events, call, body))
    return last  # type: ignore[return-value]  # what does not raise ends with the answer


@router.post(
    "/stream",
    status_code=200,
    response_class=EventStream,
    response_model=CatalogEvent,
    responses=stream_responses("CatalogEvent", _EXAMPLE),
)
async def search_catalogue_stream(call: Answering, body: CatalogQuestionRequest) -> Response:
    """Find places and stream the answer as Server-Sent Events.

    The events are `understood`, `ranked`, `token`, and `answered`; after a failure, the last one is
    `error`, with problem details. The answer is stopped if the caller disconnects.
    """
    begin = partial(_answer_events, call, body)
    return await call.stream(begin, _event_bytes)


def _answer_events(call: Call, body: CatalogQuestionRequest) -> Generator[EventData, None, None]:
    """The events of the answer; closing the generator closes the model's stream."""
    catalog = call.services.catalog.find(call.principal, body.catalogue)
    description = catalog.description
    filter_names = [one.name for one in description.filters]
    events = call.services.catalog.search(
        call.principal,
        body.query,
        catalog=catalog,
        user_id=body.user_id or "",
        preferences=body.user_preferences,
        analysis=_analysis(body, filter_names, description.aspect_names),
        language=body.language,
    )
    with closing(events):
        for event in events:
            yield _event_data(event, filter_names)


def _analysis(
    body: CatalogQuestionRequest, filter_names: list[str], aspects: tuple[str, ...]
) -> CatalogQuery | None:
    if body.understood is None:
        return None
    query = body.understood.query(body.query)
    checks = (
        ("filter", query.filters.fields, filter_names),
        ("aspect", query.aspect_weights, aspects),
    )
    for kind, names, known in checks:
        if unknown := [name for name in names if name not in known]:
            raise ConflictError(
                f"understood: the catalog has no {kind} {unknown[0][:40]!r};"
                f" known: {', '.join(known) or 'none'}"
            )
    return query


def _event_data(event: catalog_question.CatalogEvent, filter_names: list[str]) -> EventData:
    match event:
        case catalog_question.AnswerText(text):
            return Token(text=text)
        case catalog_question.QuestionAnalyzed(query, weights):
            understood = understanding_of(query, filter_names)
            return UnderstoodQuestion(understood=understood, weights=dict(weights))
        case PlacesRanked():
            return RankedPlaces.model_validate(event)
        case catalog_question.AnswerCompleted(answer):
            understood = understanding_of(answer.query, filter_names)
            return CatalogAnswer.from_objects(answer, understood=understood, places=answer.places)


_NAMES: Mapping[type[EventData], str] = {
    UnderstoodQuestion: "understood",
    RankedPlaces: "ranked",
    Token: "token",
    CatalogAnswer: "answered",
}


def _event_bytes(event_data: EventData) -> bytes:
    return encoded_event(_NAMES[type(event_data)], event_data.model_dump_json())
