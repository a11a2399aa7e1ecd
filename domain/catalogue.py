"""Catalogues of places: what describes one, what a person prefers, and what was found.

A place is whatever a catalogue lists: a restaurant, a home, a device.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

ASPECTS = ("food", "service", "ambience", "price", "hygiene", "waiting", "accessibility")
"""The aspects that words are known for in English, Korean and Japanese."""

Words = Mapping[str, tuple[str, ...]]
"""By language (en, ko, ja), the words that people use for something."""

WantedValue = str | tuple[str, ...]
"""What a filter asks for: one value as it is, or several of which a place has any."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value as the data writes it, such as italian_restaurant, and what people call it."""

    value: str
    words: Words = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field of places that questions may filter by; `values` are those with words of their own.

    `name` is what it is called in filters, `column` where the data has it.
    """

    name: str
    column: str
    values: tuple[NamedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Aspect:
    """What people judge places by; `about`, `good` and `bad` are words beside the known ones.

    An aspect that is none of `ASPECTS` is known by its own words alone.
    """

    name: str
    about: Words = field(default_factory=dict)
    good: Words = field(default_factory=dict)
    bad: Words = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReviewColumns:
    """Where the data has reviews: in the list of a column of each place, or in a file of their own.

    There, `place` is the column with the place's id. "" is a column that there is not.
    """

    text: str
    column: str = ""
    file: str = ""
    place: str = ""
    id: str = ""
    rating: str = ""
    date: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueDescription:
    """What the columns of a catalogue's data mean; "" is a column that there is not.

    `places` is the path of the data, and like that of the reviews relative to the description.
    Ratings are from 0 to `rating_scale`; `rating_count` is the column with how many a rating rests
    on. `groups` are those that write reviews, with the name of each by language.
    """

    name: str
    places: str
    id: str
    title: str
    text: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    types_column: str = ""
    types: tuple[NamedValue, ...] = ()
    filters: tuple[FilterField, ...] = ()
    rating: str = ""
    rating_scale: float = 5.0
    rating_count: str = ""
    latitude: str = ""
    longitude: str = ""
    reviews: ReviewColumns | None = None
    groups: tuple[tuple[str, Mapping[str, str]], ...] = ()
    aspects: tuple[Aspect, ...] = tuple(map(Aspect, ASPECTS))

    @property
    def aspect_names(self) -> tuple[str, ...]:
        """The names of the aspects, in their order."""
        return tuple(aspect.name for aspect in self.aspects)


class Review(NamedTuple):
    """A review: where it stands in the text of its place's document, and who wrote it.

    `group` and `date` are "" where the data has none. `rating` is on the catalogue's scale.
    """

    start: int
    end: int
    group: str = ""
    rating: float | None = None
    date: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a catalogue, and the document that holds its text and reviews.

    `fields` are the filterable ones by the names of the filters; `rating` is from 0 to the
    catalogue's scale, None where nobody rated it; `reviews` is how many ratings or reviews it
    rests on. `aspects` has those that reviews judge: how many praise each, and how many blame it.
    """

    document_id: str
    catalogue_id: str
    place_id: str
    title: str
    types: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    rating: float | None = None
    reviews: int = 0
    latitude: float | None = None
    longitude: float | None = None
    aspects: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogueFilters:
    """Which places are wanted; None and what `fields` does not name is not narrowed.

    `fields` are what is asked for by the names of the filters. `desired_types` exclude nothing: a
    place of one of them scores more. Places of `declined_types` are left out, but for those that
    are of a desired type as well.
    """

    fields: Mapping[str, WantedValue] = field(default_factory=dict)
    desired_types: tuple[str, ...] | None = None
    min_rating: float | None = None
    declined_types: tuple[str, ...] = ()


def any_of(values: Iterable[str]) -> WantedValue:
    """What a filter asks for that any of the values will do, at least one of which is given."""
    told = tuple(dict.fromkeys(values))
    return told[0] if len(told) == 1 else told


def values_of(wanted: WantedValue) -> tuple[str, ...]:
    """The values of which a place has any."""
    return (wanted,) if isinstance(wanted, str) else wanted


@dataclass(frozen=True, slots=True)
class CatalogueQuery:
    """A question about a catalogue, as it was understood.

    `aspect_weights` has each aspect of the catalogue: 0 to 1, None where it was not mentioned.
    `analysed_by` is the chat model's name, "" for the rules; `notice` says why not the model.
    """

    question: str
    query_en: str
    filters: CatalogueFilters = field(default_factory=CatalogueFilters)
    aspect_weights: Mapping[str, float | None] = field(default_factory=dict)
    analysed_by: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with preferences from 0 to 5 by aspect, and a language (en, ko, ja; "" any).

    Whoever `owner_id` is keeps them: a program keeps many people under one key.
    """

    owner_id: str
    id: str
    preferences: Mapping[str, float] = field(default_factory=dict)
    language: str = ""


class PlacePart(NamedTuple):
    """One term of a place's score: `value` from 0 to 1 times `weight` is its `share`.

    Terms are named hybrid, confidence, type, cross_encoder, and aspects, which stands in for the
    cross_encoder.
    """

    name: str
    value: float
    weight: float

    @property
    def share(self) -> float:
        """What it adds to the score."""
        return self.value * self.weight


class Quote(NamedTuple):
    """The words of a reviewer: `start` and `end` are their span in the place's document."""

    text: str
    start: int
    end: int
    translation: str = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the reviewers of one group say of an aspect again and again.

    `praises` tells praise from blame; `count` reviews of the group's `reviews` say it; `quotes` are
    a few of them. `rank` is its place among all of the place's patterns, from 1.
    """

    aspect: str
    group: str
    praises: bool
    count: int
    reviews: int
    quotes: tuple[Quote, ...]
    rank: int = 0


class PlacePassage(NamedTuple):
    """A passage of a place that the question found; `start` and `end` are its span."""

    id: str
    start: int
    end: int
    text: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A place that was found: its score is the sum of its parts' shares.

    `passages` are those that the question found in it, the best first; `patterns` what its
    reviewers say again and again; `tags` what it is known for, as `aspect` names of praise.
    """

    place: Place
    score: float
    parts: tuple[PlacePart, ...]
    passages: tuple[PlacePassage, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    tags: tuple[str, ...] = ()
