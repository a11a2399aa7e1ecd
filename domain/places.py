"""Catalogs of places: descriptions, queries, preferences, and search results.

A place is an item of a catalog, such as a restaurant, a home, or a device.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

ASPECTS = ("food", "service", "ambience", "price", "hygiene", "waiting", "accessibility")
"""The aspects with built-in word lists in English, Korean, and Japanese."""

Words = Mapping[str, tuple[str, ...]]
"""Names and synonyms by language (en, ko, ja)."""

FilterValue = str | tuple[str, ...]
"""The value that must match exactly, or several values, any of which may match."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value as it occurs in the data, such as italian_restaurant, with its names."""

    value: str
    words: Words = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that questions can filter by; `values` lists only values with names.

    `name` is the name of the filter, `column` the column in the data.
    """

    name: str
    column: str
    values: tuple[NamedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Aspect:
    """An aspect by which places are judged.

    `about`, `good`, and `bad` extend the built-in words of `ASPECTS`; other aspects have no
    built-in words.
    """

    name: str
    about: Words = field(default_factory=dict)
    good: Words = field(default_factory=dict)
    bad: Words = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReviewColumns:
    """The columns of reviews, which are a list in the places' `column` or a separate `file`.

    `place` is the column of that file with the place's id. "" means that a column does not exist.
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
class CatalogDescription:
    """The meaning of the columns of a catalog's data; "" means that a column does not exist.

    `places` and `reviews.file` are paths relative to the description. Ratings range from 0 to
    `rating_scale`; `rating_count` is the column with the number of ratings. `groups` are the
    reviewer groups, with their names by language.
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
        """The names of the aspects, in the order of the description."""
        return tuple(aspect.name for aspect in self.aspects)


class Review(NamedTuple):
    """A review: its span in the text of the place's document, and its author's group.

    `group` and `date` may be "". `rating` is on the catalog's scale.
    """

    start: int
    end: int
    group: str = ""
    rating: float | None = None
    date: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a catalog, and the document that contains its text and reviews.

    `fields` maps filter names to its values. `rating` is on the catalog's scale, None if it is not
    rated; `reviews` is the number of ratings or reviews that `rating` is based on. `aspects` maps
    each reviewed aspect to the numbers of reviews that praise and criticize it.
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
class CatalogFilters:
    """The filters of a query; None, or a name missing from `fields`, restricts nothing.

    `desired_types` exclude nothing but raise the score of places of these types. Places of
    `declined_types` are excluded unless they also have a desired type.
    """

    fields: Mapping[str, FilterValue] = field(default_factory=dict)
    desired_types: tuple[str, ...] | None = None
    min_rating: float | None = None
    declined_types: tuple[str, ...] = ()


def any_of(values: Iterable[str]) -> FilterValue:
    """A filter that any of the values matches; `values` must not be empty."""
    unique = tuple(dict.fromkeys(values))
    return unique[0] if len(unique) == 1 else unique


def values_of(filter_value: FilterValue) -> tuple[str, ...]:
    """The values, any of which may match."""
    return (filter_value,) if isinstance(filter_value, str) else filter_value


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """The analysis of a question about a catalog.

    `aspect_weights` maps each aspect to a weight from 0 to 1, or None if it was not mentioned.
    `analysed_by` is the name of the chat model, "" for the rules; `notice` says why the model was
    not used.
    """

    question: str
    query_en: str
    filters: CatalogFilters = field(default_factory=CatalogFilters)
    aspect_weights: Mapping[str, float | None] = field(default_factory=dict)
    analysed_by: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A person with preferences from 0 to 5 by aspect, and a language (en, ko, ja; "" for any).

    `owner_id` is the principal that manages the person; a program can manage many people with one
    API key.
    """

    owner_id: str
    id: str
    preferences: Mapping[str, float] = field(default_factory=dict)
    language: str = ""


class PlacePart(NamedTuple):
    """One term of a place's score: its `share` is `value` (0 to 1) times `weight`.

    Terms are named hybrid, confidence, type, cross_encoder, and aspects; the last replaces
    cross_encoder if there is no cross-encoder.
    """

    name: str
    value: float
    weight: float

    @property
    def share(self) -> float:
        """The contribution to the score."""
        return self.value * self.weight


class Quote(NamedTuple):
    """Words of a reviewer; `start` and `end` are their span in the text of the place's document."""

    text: str
    start: int
    end: int
    translation: str = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An opinion about an aspect that several reviewers of one group share.

    It is praise if `praises`, otherwise criticism. `count` of the group's `reviews` express it;
    `quotes` are examples. `rank` is its rank among the patterns of the place, from 1.
    """

    aspect: str
    group: str
    praises: bool
    count: int
    reviews: int
    quotes: tuple[Quote, ...]
    rank: int = 0


class PlacePassage(NamedTuple):
    """A passage of a place that matches the question; `start` and `end` are its span."""

    id: str
    start: int
    end: int
    text: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class PlaceHit:
    """A place in the results of a search; `score` is the sum of the parts' shares.

    `passages` are the passages that match the question, best first; `tags` are the names of
    the aspects that the place is known for.
    """

    place: Place
    score: float
    parts: tuple[PlacePart, ...]
    passages: tuple[PlacePassage, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    tags: tuple[str, ...] = ()
