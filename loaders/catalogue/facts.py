"""What the row of a place says of it beside its texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from domain import CatalogueDescription
from errors import UnreadableError
from loaders.catalogue.rows import Row
from loaders.formats.content import one_line

_MOST_RATINGS = 10**12


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """The facts of a place; of numbers None is one that the data does not have.

    `rating` is on the catalogue's scale, `ratings` how many it rests on. `fields` are by the names
    of filters, `facts` by their columns.
    """

    title: str
    types: tuple[str, ...]
    fields: dict[str, str]
    facts: dict[str, str]
    rating: float | None
    ratings: int | None
    latitude: float | None
    longitude: float | None


def columns_of(description: CatalogueDescription) -> list[tuple[str, str]]:
    """The fields of a description that name columns of places, with those columns."""
    told = [
        ("id", description.id),
        ("title", description.title),
        *(("text", column) for column in description.text),
        *(("facts", column) for column in description.facts),
        ("types.column", description.types_column),
        *((f"filters.{one.name}.column", one.column) for one in description.filters),
        ("rating.column", description.rating),
        ("rating.count", description.rating_count),
        ("location.latitude", description.latitude),
        ("location.longitude", description.longitude),
        ("reviews.column", description.reviews.column if description.reviews else ""),
    ]
    return [(field, column) for field, column in told if column]


def facts_of(row: Row, description: CatalogueDescription) -> PlaceFacts:
    """What a row says of its place.

    Raises:
        UnreadableError: A value can't be; the message names file, line and column.
    """
    latitude = row.number(description.latitude, -90, 90)
    longitude = row.number(description.longitude, -180, 180)
    if (latitude is None) != (longitude is None):
        empty = description.latitude if latitude is None else description.longitude
        raise UnreadableError(f"{row.where}: {empty}: it is empty, but its other half is not")
    title = row.text(description.title)
    if not title:
        raise UnreadableError(f"{row.where}: {description.title}: it is empty")
    told = {one.name: row.text(one.column) for one in description.filters}
    return PlaceFacts(
        title,
        row.texts(description.types_column),
        {name: value for name, value in told.items() if value},
        {column: value for column in description.facts if (value := row.text(column))},
        row.number(description.rating, 0, description.rating_scale),
        _count(row, description.rating_count),
        latitude,
        longitude,
    )


def fact_lines(
    facts: PlaceFacts, description: CatalogueDescription, rating: float | None
) -> Iterator[tuple[str, str]]:
    """What there is by column, each once: types, filters, facts, and the rating that it has."""
    shown: dict[str, Any] = {}
    if facts.types:
        shown[description.types_column] = ", ".join(facts.types)
    columns = {one.name: one.column for one in description.filters}
    shown |= {columns[name]: value for name, value in facts.fields.items()}
    shown |= facts.facts
    if rating is not None:
        shown[description.rating or "rating"] = f"{rating:.4g}/{description.rating_scale:g}"
    if facts.ratings is not None:
        shown[description.rating_count] = str(facts.ratings)
    yield from ((one_line(column), value) for column, value in shown.items())


def _count(row: Row, column: str) -> int | None:
    number = row.number(column, 0, _MOST_RATINGS)
    if number is None or number.is_integer():
        return None if number is None else int(number)
    raise UnreadableError(f"{row.where}: {column}: {number:g} is not a whole number")
