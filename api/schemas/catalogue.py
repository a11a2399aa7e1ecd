"""Questions about catalogues, how they were understood, and what answers them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

import domain
from api.schemas.answers import Citation, Given, Source, Told
from api.schemas.asking import ErrorEvent, JsonOf, Token, TokenEvent
from api.schemas.people import Language, PersonId, Preference
from api.schemas.places import FoundPlace
from api.schemas.texts import Line, Question
from services.questions import MAX_QUESTION_CHARS

_QUESTION = "가격 비싸도 괜찮으니 분위기 좋은 이탈리안"
_QUERY_EN = "Italian restaurant with a good ambience, price does not matter"
_FILTERS: Any = {"borough_en": None, "desired_types": ["italian_restaurant"], "min_rating": None}
_SAID: Any = {"food": None, "ambience": 0.9, "price": 0.1}
_WEIGHTS = {"food": 0.6, "ambience": 0.9, "price": 0.1}
_UNDERSTOOD: Any = {"query_en": _QUERY_EN, "filters": _FILTERS, "aspect_weights": _SAID}

_IN_ENGLISH = Field(description="The question in English", examples=[_QUERY_EN])
_BY_NAME = Field(
    description="By the name of each filter the value that is wanted, or a list of those of which"
    " any will do; null where none is said. `declined_types` is there where some are",
    examples=[_FILTERS, {**_FILTERS, "borough_en": ["Brooklyn", "Queens"]}],
)
_MENTIONED = Field(
    description="How much the question asks of each aspect, from 0 to 1; null where it does not"
    " mention it",
    examples=[_SAID],
)
_BY_MODEL = Field(
    description='The chat model that understood it, "" for the built-in rules', examples=[""]
)
_NOTICE = Field(
    description='Why no chat model understood it, "" where nothing is to be said', examples=[""]
)
_AS_WEIGHED = Field(
    description="The weight of each aspect, from 0 to 1: what the question says, else what the"
    " person prefers, else 0.5",
    examples=[_WEIGHTS],
)
Weight = Annotated[float, Field(ge=0, le=1, strict=True)]
Mentioned = dict[Line, Weight | None]
Values = Annotated[list[Line], Field(max_length=200, description="Values of which any will do")]


class GivenPlaceFilters(BaseModel):
    """Which places are wanted: values by the names of the catalogue's filters, and these three."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Line | Values | None] = Field(init=False)

    desired_types: list[Line] | None = Field(
        None,
        max_length=200,
        description="Types that score more; they exclude nothing",
        examples=[["italian_restaurant"]],
    )
    declined_types: list[Line] | None = Field(
        [],
        max_length=200,
        description="Places of these are left out, unless they are of a desired type too",
        examples=[["sushi_restaurant"]],
    )
    min_rating: Annotated[float, Field(ge=0, strict=True)] | None = Field(
        None, description="The least rating, on the catalogue's scale", examples=[4.0]
    )

    def filters(self) -> domain.CatalogueFilters:
        """The filters that it names."""
        told = {name: _listed(value) for name, value in self.__pydantic_extra__.items()}
        fields = {name: domain.any_of(values) for name, values in told.items() if values}
        types = tuple(self.desired_types) if self.desired_types else None
        declined = tuple(self.declined_types or ())
        return domain.CatalogueFilters(fields, types, self.min_rating, declined)


class GivenUnderstanding(Given):
    """How a question was understood: as it was told, without what a person took back."""

    query_en: Annotated[Question, _IN_ENGLISH]
    filters: Annotated[GivenPlaceFilters, _BY_NAME] = GivenPlaceFilters()
    aspect_weights: Annotated[Mentioned, _MENTIONED] = Field({})
    analysed_by: Annotated[Line, _BY_MODEL] = ""
    notice: Annotated[str, Field(max_length=MAX_QUESTION_CHARS), _NOTICE] = ""

    def query(self, question: str) -> domain.CatalogueQuery:
        """The same, as an analysis of the question."""
        return domain.CatalogueQuery(
            question,
            self.query_en.strip(),
            self.filters.filters(),
            self.aspect_weights,
            self.analysed_by,
            self.notice,
        )


class GivenCatalogueQuestion(Given):
    """A question about the places of a catalogue, for a person."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": _QUESTION, "user_id": "kim", "user_preferences": {"food": 3.0}},
                {"query": _QUESTION, "understood": _UNDERSTOOD},
            ]
        }
    )

    query: Question = Field(description="As a person types it", examples=[_QUESTION])
    user_id: PersonId | None = Field(
        None,
        description="Whose preferences count beside the question; null: nobody's",
        examples=["kim"],
    )
    user_preferences: dict[Line, Preference] = Field(
        default={},
        description="From 0 to 5 by aspect; they go before those that are kept of the person",
        examples=[{"food": 3.0, "price": 5.0}],
    )
    catalogue: Line = Field(
        "", description='Id or name of the catalogue; "" for the only one', examples=[""]
    )
    understood: GivenUnderstanding | None = Field(
        None,
        description="Searches again for this, the `understood` of an answer from which a filter"
        " was taken; null: the question is read anew",
    )
    language: Language = Field(
        "",
        description="Of the answer; \"\" for the person's, or else the question's",
        examples=["ko"],
    )


class Understanding(Told):
    """How the question was understood."""

    query_en: Annotated[str, _IN_ENGLISH]
    filters: Annotated[dict[str, str | float | list[str] | None], _BY_NAME]
    aspect_weights: Annotated[dict[str, float | None], _MENTIONED]
    analysed_by: Annotated[str, _BY_MODEL]
    notice: Annotated[str, _NOTICE]


class UnderstoodQuestion(Told):
    """How the question was understood, and what that weighs for the person."""

    understood: Understanding = Field(description="How the question was understood")
    weights: Annotated[dict[str, float], _AS_WEIGHED]


class RankedPlaces(Told):
    """The places that were found."""

    restaurants: list[FoundPlace] = Field(
        validation_alias="places", description="The places, the best first"
    )
    notices: list[str] = Field(
        description="What to know of them, such as that nothing was reranked", examples=[[]]
    )


class CatalogueAnswer(UnderstoodQuestion, RankedPlaces):
    """All that came of a question."""

    catalogue_id: str = Field(
        description="Id of the catalogue", examples=["7c9e6679742540de944be07fc1f90ae7"]
    )
    answer: str = Field(
        description="The answer in Markdown: `[n]` cites, a document's own brackets are escaped, "
        "`\\[42\\]`",
        examples=["Trattoria Luna has a quiet room [1]."],
    )
    citations: list[Citation] = Field(
        description="Of each number one, or one for each `[n]`, in the order of the answer"
    )
    sources: list[Source] = Field(
        description="The reviews and facts that were put before the answerer, by number"
    )
    unsupported_sentences: int = Field(
        description="How many sentences claim something without a verified citation", examples=[0]
    )
    model: str = Field(description="What answered", examples=["built-in extractive answerer"])
    language: str = Field(description="The language of the answer", examples=["ko"])
    timings_ms: dict[str, float] = Field(
        description="Milliseconds until each moment",
        examples=[{"understood": 2.0, "ranked": 95.0, "total": 310.0}],
    )


class UnderstoodEvent(BaseModel):
    """Comes first."""

    event: Literal["understood"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(UnderstoodQuestion)] = Field(
        description="How the question was understood"
    )


class RankedEvent(BaseModel):
    """Comes once the places are found; their patterns are not translated yet."""

    event: Literal["ranked"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(RankedPlaces)] = Field(description="The places")


class AnsweredEvent(BaseModel):
    """Comes last where all went well."""

    event: Literal["answered"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(CatalogueAnswer)] = Field(description="All of it")


class CatalogueEvent(
    RootModel[UnderstoodEvent | RankedEvent | TokenEvent | AnsweredEvent | ErrorEvent]
):
    """One event: its name (`event:`), and its data (`data:`), JSON on one line."""


def _listed(told: str | list[str] | None) -> list[str]:
    """The values that a filter is given; an empty one is none."""
    values = [told] if isinstance(told, str) else told or []
    return [value for value in values if value]


Happened = UnderstoodQuestion | RankedPlaces | Token | CatalogueAnswer
"""The data of an event, in the order in which they come."""


def understanding_of(query: domain.CatalogueQuery, filters: Sequence[str]) -> Understanding:
    """How a question was understood; `filters` are the names of those of its catalogue."""
    wanted = query.filters
    fields: Mapping[str, Any] = dict.fromkeys(filters) | dict(wanted.fields)
    types = None if wanted.desired_types is None else list(wanted.desired_types)
    declined = {"declined_types": list(wanted.declined_types)} if wanted.declined_types else {}
    return Understanding(
        query_en=query.query_en,
        filters={**fields, "desired_types": types, **declined, "min_rating": wanted.min_rating},
        aspect_weights=dict(query.aspect_weights),
        analysed_by=query.analysed_by,
        notice=query.notice,
    )
