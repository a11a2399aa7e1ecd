"""The reviews of a catalogue's places: whose they are, and which of them can be used."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from domain import CatalogueDescription, ReviewColumns
from errors import UnreadableError
from loaders.catalogue.markdown import GivenReview
from loaders.catalogue.rows import Row, key_of
from loaders.catalogue.tables import check_columns, read_table

_READ = ("text", "id", "rating", "date", "group")
_TOLD = 10


@dataclass(slots=True)
class ReviewRows:
    """The rows of reviews by the id of their place.

    `columns` are theirs; `lost` are those of places that are not there.
    """

    of: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    lost: list[Row] = field(default_factory=list)


class Reviews(NamedTuple):
    """The reviews of a place that have a text, in order, and what is to be known of the others.

    `ratings` are of all that were rated; `number` is how many were written or rated.
    """

    given: Sequence[GivenReview] = ()
    ratings: Sequence[float] = ()
    number: int = 0
    warnings: Sequence[str] = ()


def review_rows(
    folder: Path, description: CatalogueDescription, places: Mapping[str, Sequence[Row]]
) -> ReviewRows:
    """Find the reviews in the file that the description names; none where it names none.

    Raises:
        SourceError: It can't be read, or lacks a column.
    """
    columns, found = description.reviews, ReviewRows()
    if columns is None or not columns.file:
        return found
    wanted = _named(columns, "place")
    table = read_table(folder / columns.file, [column for _, column in wanted])
    if table.rows or table.columns:
        check_columns(columns.file, table.columns, wanted)
    for row in table.rows:
        place = key_of(row, columns.place)
        if place in places:
            found.of[place].append(row)
        else:
            found.lost.append(row)
    return found


def check_nested(file: str, description: CatalogueDescription, rows: Iterable[Row]) -> None:
    """Make sure that the lists of reviews in the rows of places have what the description names.

    Raises:
        SourceError: No object in any of them has it.
    """
    columns = description.reviews
    if columns is None or not columns.column:
        return
    keys: dict[str, None] = {}
    for row in rows:
        for one in _nested(row, columns):
            keys |= dict.fromkeys(one.values)
    if keys:
        check_columns(f"{columns.column} of {file}", keys, _named(columns))


def read_reviews(place: Row, rows: Sequence[Row], description: CatalogueDescription) -> Reviews:
    """The reviews of a place: those of its `rows`, or those in its own row.

    What is wrong with one is among the warnings, and it is left out.

    Raises:
        UnreadableError: What stands in its row is no list of reviews.
    """
    columns = description.reviews
    if columns is None:
        return Reviews()
    nested = place.rows(columns.column) if columns.column else rows
    return _read(nested, columns, description.rating_scale)


def _read(rows: Sequence[Row], columns: ReviewColumns, scale: float) -> Reviews:
    good: list[GivenReview] = []
    problems: list[str] = []
    seen: set[str] = set()
    for row in rows:
        try:
            good.append(_review(row, columns, scale, seen))
        except UnreadableError as error:
            problems.append(str(error))
    written = [review for review in good if review.text]
    ratings = [review.rating for review in good if review.rating is not None]
    return Reviews(written, ratings, len(good), tuple(_warnings(problems)))


def _review(row: Row, columns: ReviewColumns, scale: float, seen: set[str]) -> GivenReview:
    """The review in a row; its id joins those `seen`, and must be none of them."""
    rating = row.number(columns.rating, 0, scale)
    text, id_ = row.paragraphs(columns.text), row.text(columns.id)
    if not text and rating is None:
        raise UnreadableError(f"{row.where}: {columns.text}: it is empty")
    if id_ in seen:
        raise UnreadableError(f"{row.where}: {columns.id}: {id_} is there twice")
    seen |= {id_} - {""}
    return GivenReview(text, row.text(columns.group), rating, row.text(columns.date), id_)


def _warnings(problems: Sequence[str]) -> Iterator[str]:
    for problem in problems[:_TOLD]:
        yield f"{problem}: the review is left out"
    if len(problems) > _TOLD:
        yield f"more reviews that are left out for such reasons: {len(problems) - _TOLD}"


def _nested(row: Row, columns: ReviewColumns) -> list[Row]:
    try:
        return row.rows(columns.column)
    except UnreadableError:  # told where the place is listed
        return []


def _named(columns: ReviewColumns, *more: str) -> list[tuple[str, str]]:
    """The fields of the description, and the columns that they name."""
    return [
        (f"reviews.{name}", column)
        for name in (*more, *_READ)
        if (column := getattr(columns, name))
    ]
