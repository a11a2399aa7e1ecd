"""Catalogues and their places, as they are listed and found."""

from typing import Annotated, Any

from pydantic import AliasPath, Field

from api.paging import Page
from api.schemas.answers import Told

_DOCUMENT = "9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"
_TYPES = Field(description="What kinds of place it is", examples=[["italian_restaurant"]])
_START = Field(
    description="Where it begins in the text of the place's document, in characters", examples=[420]
)
_END = Field(description="Where it ends, itself not included", examples=[468])
_QUOTE = "The pasta is fresh and the room is quiet."


class Catalogue(Told):
    """A catalogue, and what questions about its places may name."""

    id: str = Field(description="Its id", examples=["7c9e6679742540de944be07fc1f90ae7"])
    name: str = Field(description="What it is called", examples=["New York restaurants"])
    places: int = Field(ge=0, description="How many places it has so far", examples=[300])
    aspects: list[str] = Field(
        description="What its places are judged by, and people have preferences of",
        examples=[["food", "service", "price"]],
    )
    filters: dict[str, list[str]] = Field(
        description="By the name of each filter, the values that its places have",
        examples=[{"borough_en": ["Bronx", "Brooklyn"]}],
    )
    types: list[str] = Field(
        description="The types that its places have", examples=[["italian_restaurant"]]
    )
    groups: dict[str, dict[str, str]] = Field(
        description="Those that write reviews, and what each is called, by language",
        examples=[{"korean": {"en": "Korean review", "ko": "한국인 리뷰"}}],
    )
    rating_scale: float = Field(
        validation_alias=AliasPath("description", "rating_scale"),
        description="Ratings are from 0 to this",
        examples=[5.0],
    )


class CataloguePage(Page[Catalogue]):
    """Some catalogues, by name."""


class Place(Told):
    """A place of a catalogue."""

    place_id: str = Field(description="Its id in the catalogue", examples=["r17"])
    catalogue_id: str = Field(
        description="Id of the catalogue", examples=["7c9e6679742540de944be07fc1f90ae7"]
    )
    document_id: str = Field(
        description="Id of the document with its text and reviews", examples=[_DOCUMENT]
    )
    title: str = Field(description="What it is called", examples=["Trattoria Luna"])
    types: Annotated[list[str], _TYPES]
    fields: dict[str, str] = Field(
        description="Its values by the names of the catalogue's filters",
        examples=[{"borough_en": "Brooklyn"}],
    )
    facts: dict[str, str] = Field(
        description="What else is known of it, by column", examples=[{"address": "12 Elm Street"}]
    )
    rating: float | None = Field(
        description="From 0 to the catalogue's scale; null where nobody rated it", examples=[4.4]
    )
    review_count: int = Field(
        validation_alias="reviews",
        ge=0,
        description="How many ratings or reviews the rating rests on",
        examples=[128],
    )
    latitude: float | None = Field(
        description="In degrees north; null if not known", examples=[40.68]
    )
    longitude: float | None = Field(
        description="In degrees east; null if not known", examples=[-73.97]
    )


class PlacePage(Page[Place]):
    """Some places, by title."""


class Quote(Told):
    """Words of a reviewer."""

    text: str = Field(description="As they are written", examples=[_QUOTE])
    start: Annotated[int, _START]
    end: Annotated[int, _END]
    translation: str = Field(
        description='In the language of the answer; "" where they are not translated', examples=[""]
    )


class Pattern(Told):
    """What the reviewers of one group say of an aspect again and again."""

    aspect: str = Field(description="Of what they say it", examples=["ambience"])
    group: str = Field(
        description='Who wrote the reviews; "" where that is not known', examples=["korean"]
    )
    praises: bool = Field(description="Whether they praise it; otherwise they blame it")
    count: int = Field(description="How many of the reviews say it", examples=[4])
    reviews: int = Field(description="How many reviews the group wrote of the place", examples=[6])
    quotes: list[Quote] = Field(description="A few of them")
    rank: int = Field(description="Its place among the place's patterns, from 1", examples=[1])


class Review(Told):
    """A review of a place."""

    id: str = Field(description='Its id in the data, "" without one', examples=["v201"])
    group: str = Field(
        description='Who wrote it: a group of the catalogue; "" where that is not known',
        examples=["korean"],
    )
    rating: float | None = Field(
        description="From 0 to the catalogue's scale; null without one", examples=[5.0]
    )
    date: str = Field(
        description='When it was written, as the data says it; "" where that is not known',
        examples=["2026-05-14"],
    )
    text: str = Field(description="What it says", examples=[_QUOTE])
    start: Annotated[int, _START]
    end: Annotated[int, _END]


class PlaceDetails(Told):
    """A place with its reviews, and what these say again and again."""

    place: Place = Field(description="The place")
    text: str = Field(
        description="The whole text of its document, where reviews and quotes stand",
        examples=["# Trattoria Luna"],
    )
    reviews: list[Review] = Field(description="In the order of the text")
    patterns: list[Pattern] = Field(
        description="What reviewers say again and again, the most frequent first"
    )
    tags: list[str] = Field(
        description="The aspects that it is praised for", examples=[["ambience", "food"]]
    )


class PlacePart(Told):
    """One term of a place's score."""

    name: str = Field(
        description="The term: `hybrid`, `confidence`, `type`, `cross_encoder` or, where that one"
        " is missing, `aspects`",
        examples=["hybrid"],
    )
    value: float = Field(description="From 0 to 1", examples=[0.92])
    weight: float = Field(description="What it is multiplied by", examples=[1.0])
    share: float = Field(description="What it adds to the score", examples=[0.92])


class PlacePassage(Told):
    """A passage of a place that the question found."""

    id: str = Field(description="Its id", examples=["8d0c:3"])
    start: Annotated[int, _START]
    end: Annotated[int, _END]
    text: str = Field(description="The whole passage", examples=[_QUOTE])
    version: str = Field(
        description="The version of the document that it is from", examples=["3f8a1c"]
    )


class FoundPlace(Told):
    """A place that was found, and why."""

    place: Place = Field(description="The place")
    score: float = Field(description="The sum of its parts' shares", examples=[1.71])
    parts: list[PlacePart] = Field(
        description="The terms of the score; one that could not be told is left out"
    )
    passages: list[PlacePassage] = Field(
        description="Those that the question found in it, the best first"
    )
    patterns: list[Pattern] = Field(
        description="What its reviewers say again and again, the most frequent first"
    )
    tags: list[str] = Field(
        description="The aspects that it is praised for", examples=[["ambience", "food"]]
    )


def details_of(found: Any) -> PlaceDetails:
    """What is told of a place; `found` is `catalog.places_view.PlaceDetails`."""
    reviews = [
        Review(**one._asdict(), text=found.text[one.start : one.end]) for one in found.reviews
    ]
    return PlaceDetails(
        place=Place.model_validate(found.place),
        text=found.text,
        reviews=reviews,
        patterns=[Pattern.model_validate(one) for one in found.patterns],
        tags=list(found.tags),
    )
