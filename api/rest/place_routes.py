"""Catalogs, their places, and the preferences of people."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import AliasPath, ConfigDict, Field, StringConstraints

from api.authentication import AskCall, ReadCall
from api.field_types import NOT_BLANK, Line, Page, Paging
from api.problems import CONFLICT, NOT_FOUND
from api.rest.answer_schemas import RequestModel, ResponseModel
from domain import FilterValue, any_of
from domain.errors import InputError
from services.catalog.preferences import MAX_ID_CHARS

_DOCUMENT = "9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"
_START = Field(
    description="Start offset in the text of the place's document, in characters", examples=[420]
)
_END = Field(description="End offset, exclusive", examples=[468])
_QUOTE = "The pasta is fresh and the room is quiet."


class Catalog(ResponseModel):
    """A catalog, and the values that questions about its places can mention."""

    id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the catalog"""
    name: str = Field(examples=["New York restaurants"])
    """Name of the catalog"""
    places: int = Field(ge=0, examples=[300])
    """Number of places imported so far"""
    aspects: list[str] = Field(examples=[["food", "service", "price"]])
    """Aspects by which places are judged, and for which people have preferences"""
    filters: dict[str, list[str]] = Field(examples=[{"borough_en": ["Bronx", "Brooklyn"]}])
    """Values of each filter that occur in the catalog"""
    types: list[str] = Field(examples=[["italian_restaurant"]])
    """Types that occur in the catalog"""
    groups: dict[str, dict[str, str]] = Field(
        examples=[{"korean": {"en": "Korean review", "ko": "한국인 리뷰"}}]
    )
    """Groups of reviewers, with their names by language"""
    rating_scale: float = Field(
        validation_alias=AliasPath("description", "rating_scale"), examples=[5.0]
    )
    """Maximum of the rating scale, which starts at 0"""


class CatalogPage(Page[Catalog]):
    """A page of catalogs, by name."""


class Place(ResponseModel):
    """A place of a catalog."""

    place_id: str = Field(examples=["r17"])
    """Id of the place in the catalog"""
    catalogue_id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the catalog"""
    document_id: str = Field(examples=[_DOCUMENT])
    """Id of the document that contains its text and reviews"""
    title: str = Field(examples=["Trattoria Luna"])
    """Name of the place"""
    types: list[str] = Field(examples=[["italian_restaurant"]])
    """Types of the place"""
    fields: dict[str, str] = Field(examples=[{"borough_en": "Brooklyn"}])
    """Values by filter name"""
    facts: dict[str, str] = Field(examples=[{"address": "12 Elm Street"}])
    """Other facts, by column"""
    rating: float | None = Field(examples=[4.4])
    """Rating from 0 to the catalog's maximum; null if there is none"""
    review_count: int = Field(validation_alias="reviews", ge=0, examples=[128])
    """Number of ratings or reviews behind the rating"""
    latitude: float | None = Field(examples=[40.68])
    """Latitude in degrees north; null if unknown"""
    longitude: float | None = Field(examples=[-73.97])
    """Longitude in degrees east; null if unknown"""


class PlacePage(Page[Place]):
    """A page of places, by title."""


class Quote(ResponseModel):
    """A quote from a review."""

    text: str = Field(examples=[_QUOTE])
    """The quoted words"""
    start: Annotated[int, _START]
    end: Annotated[int, _END]
    translation: str = Field(examples=[""])
    """Translation into the language of the answer; empty if not translated"""


class Pattern(ResponseModel):
    """What the reviewers of a group repeatedly say about an aspect."""

    aspect: str = Field(examples=["ambience"])
    """Name of the aspect"""
    group: str = Field(examples=["korean"])
    """Group of the reviewers; empty if unknown"""
    praises: bool
    """Whether the reviewers praise the aspect; otherwise they criticize it"""
    count: int = Field(examples=[4])
    """Number of reviews that express this opinion"""
    reviews: int = Field(examples=[6])
    """Number of reviews of the place by this group"""
    quotes: list[Quote]
    """A few examples"""
    rank: int = Field(examples=[1])
    """Rank among the place's patterns, from 1"""


class Review(ResponseModel):
    """A review of a place."""

    id: str = Field(examples=["v201"])
    """Id of the review in the data; empty if it has none"""
    group: str = Field(examples=["korean"])
    """Group of the reviewer in the catalog; empty if unknown"""
    rating: float | None = Field(examples=[5.0])
    """Rating from 0 to the catalog's maximum; null if there is none"""
    date: str = Field(examples=["2026-05-14"])
    """Date of the review as given in the data; empty if unknown"""
    text: str = Field(examples=[_QUOTE])
    """Text of the review"""
    start: Annotated[int, _START]
    end: Annotated[int, _END]


class PlaceDetails(ResponseModel):
    """A place with its reviews and their patterns."""

    place: Place
    """The place"""
    text: str = Field(examples=["# Trattoria Luna"])
    """Text of the place's document, which contains the reviews and quotes"""
    reviews: list[Review]
    """Reviews in the order of the text"""
    patterns: list[Pattern]
    """What reviewers repeatedly say, most frequent first"""
    tags: list[str] = Field(examples=[["ambience", "food"]])
    """Aspects that the place is praised for"""


class PlacePart(ResponseModel):
    """One term of a place's score."""

    name: str = Field(examples=["hybrid"])
    """Name of the term: `hybrid`, `confidence`, `type`, `cross_encoder`, or, without a
    cross-encoder, `aspects`"""
    value: float = Field(examples=[0.92])
    """Value from 0 to 1"""
    weight: float = Field(examples=[1.0])
    """Weight of the term"""
    share: float = Field(examples=[0.92])
    """Contribution to the score"""


class PlacePassage(ResponseModel):
    """A passage of a place that matches the question."""

    id: str = Field(examples=["8d0c:3"])
    """Id of the passage"""
    start: Annotated[int, _START]
    end: Annotated[int, _END]
    text: str = Field(examples=[_QUOTE])
    """Text of the passage"""
    version: str = Field(examples=["3f8a1c"])
    """Version of the document"""


class FoundPlace(ResponseModel):
    """A place that was found, with its score."""

    place: Place
    """The place"""
    score: float = Field(examples=[1.71])
    """Sum of the parts' shares"""
    parts: list[PlacePart]
    """Terms of the score; a term that could not be determined is omitted"""
    passages: list[PlacePassage]
    """Passages of the place that match the question, best first"""
    patterns: list[Pattern]
    """What its reviewers repeatedly say, most frequent first"""
    tags: list[str] = Field(examples=[["ambience", "food"]])
    """Aspects that the place is praised for"""


_EXAMPLE: Any = {"food": 4.5, "price": 2.0}

Language = Literal["", "en", "ko", "ja"]
PersonId = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_ID_CHARS)]
Preference = Annotated[float, Field(ge=0, le=5, strict=True)]


class User(ResponseModel):
    """A person with stored preferences."""

    id: str = Field(examples=["kim"])
    """Id of the person, chosen by the caller"""
    preferences: dict[str, float] = Field(examples=[_EXAMPLE])
    """Importance of each aspect to the person, from 0 to 5"""
    language: str = Field(examples=["ko"])
    """Language of the person's answers: `en`, `ko`, or `ja`; empty for the question's language"""


class UserChange(RequestModel):
    """Changes; omitted fields stay unchanged."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"preferences": _EXAMPLE, "language": "ko"},
                {"preferences": {"price": None}},
            ]
        }
    )

    preferences: dict[Line, Preference | None] = Field(default={}, examples=[_EXAMPLE])
    """Importance from 0 to 5 by aspect; null removes an aspect, others stay unchanged"""
    language: Language | None = Field(default=None, examples=["ko"])
    """Language of the person's answers; empty for the question's language, null leaves it
    unchanged"""


router = APIRouter(tags=["catalog"], responses=CONFLICT)
_MAX_VALUES = 200

CatalogName = Annotated[
    Line, Query(description="Id or name of the catalog; may be empty if there is only one")
]
Types = Annotated[
    list[Line],
    Query(
        alias="type",
        max_length=_MAX_VALUES,
        description="Types; a place needs at least one of them",
    ),
]
MinRating = Annotated[
    float | None,
    Query(ge=0, allow_inf_nan=False, description="Minimum rating, on the catalog's scale"),
]
FieldValue = Annotated[Line, Query(json_schema_extra={"pattern": r"^[^:\x00]+:[^\x00]*$"})]
FieldValues = Annotated[
    list[FieldValue],
    Query(
        alias="field",
        max_length=_MAX_VALUES,
        description="Filters as `name:value`, for example `borough_en:Brooklyn`. All names must "
        "match; of several values of one name, any may match",
    ),
]
PlaceId = Annotated[str, Path(description="Id of a place in its catalog", examples=["r17"])]
UserId = Annotated[
    PersonId, Path(description="Id of a person, chosen by the caller", examples=["kim"])
]


@router.get("/catalogues")
def list_catalogues(call: ReadCall, paging: Paging) -> CatalogPage:
    """List the catalogs, and the values that questions about their places can mention."""
    return CatalogPage.slice_of(call.services.catalog.catalogs(call.principal), paging)


@router.get("/restaurants")
def list_restaurants(
    call: ReadCall,
    paging: Paging,
    catalogue: CatalogName = "",
    types: Types = [],  # noqa: B006  # nothing changes it
    min_rating: MinRating = None,
    field: FieldValues = [],  # noqa: B006  # nothing changes it
) -> PlacePage:
    """List the matching places of a catalog, by title."""
    page = call.services.catalog.places(
        call.principal,
        catalogue,
        fields=_parse_filters(field),
        types=types,
        min_rating=min_rating,
        **paging._asdict(),
    )
    return PlacePage.of(page.places, page.total)


@router.get("/restaurants/{place_id:path}", responses=NOT_FOUND)
def read_restaurant(call: ReadCall, place_id: PlaceId, catalogue: CatalogName = "") -> PlaceDetails:
    """Read a place with its reviews and their patterns."""
    details = call.services.catalog.place(call.principal, place_id, catalogue)
    reviews = [
        Review(**one._asdict(), text=details.text[one.start : one.end]) for one in details.reviews
    ]
    return PlaceDetails.from_objects(details, reviews=reviews)


@router.get("/users/{user_id:path}", responses=NOT_FOUND)
def read_user(call: AskCall, user_id: UserId) -> User:
    """Read a person's preferences."""
    return User.model_validate(call.services.people.get(call.principal, user_id))


@router.patch("/users/{user_id:path}", responses=NOT_FOUND)
def change_user(call: AskCall, user_id: UserId, change: UserChange) -> User:
    """Change a person's preferences, creating the person if necessary."""
    person = call.services.people.patch(
        call.principal, user_id, change.preferences, change.language
    )
    return User.model_validate(person)


def _parse_filters(filters: list[str]) -> dict[str, FilterValue]:
    """Filters by name.

    Raises:
        InputError: A filter does not have the form `name:value`.
    """
    values: dict[str, list[str]] = {}
    for one in filters:
        name, colon, value = one.partition(":")
        if not (name and colon):
            raise InputError(
                f"field: {one[:40]!r} is not a filter: write name:value, such as"
                " borough_en:Brooklyn"
            )
        values.setdefault(name, []).append(value)
    return to_fields(values)


def to_fields(values: Mapping[str, Sequence[str]]) -> dict[str, FilterValue]:
    """The values of filters by name, without filters that have none."""
    return {name: any_of(of_filter) for name, of_filter in values.items() if of_filter}
