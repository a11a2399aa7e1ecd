"""Lists and reads the places of a catalog as documents in Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from domain import (
    NEVER_IMPORTED,
    CatalogDescription,
    DocumentRef,
    NewOptions,
    Pattern,
    PreviousImport,
    Removed,
    Review,
    Skipped,
)
from domain.errors import UnreadableError
from domain.messages import _, join_messages
from loaders.catalog.catalog_data import (
    Data,
    ReviewJudge,
    Reviews,
    ReviewText,
    data_files,
    read_data,
    read_reviews,
)
from loaders.catalog.catalog_description import description_of, read_description
from loaders.catalog.tables import Row
from loaders.formats.content import one_line

if TYPE_CHECKING:  # slow to load, and an unchanged catalog does not need it
    from langchain_core.documents import Document


_MAX_RATINGS = 10**12


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """The facts of a place; numbers are None if the data lacks them.

    `rating` is on the catalog's scale, and `ratings` is the number of ratings. `fields` has values
    by filter name, and `facts` by column.
    """

    title: str
    types: tuple[str, ...]
    fields: dict[str, str]
    facts: dict[str, str]
    rating: float | None
    ratings: int | None
    latitude: float | None
    longitude: float | None


def facts_of(row: Row, description: CatalogDescription) -> PlaceFacts:
    """Parse the facts in the row of a place.

    Raises:
        UnreadableError: A value is invalid; the message names the file, line, and column.
    """
    latitude = row.number(description.latitude, -90, 90)
    longitude = row.number(description.longitude, -180, 180)
    if (latitude is None) != (longitude is None):
        columns = [description.latitude, description.longitude]
        column, other = columns if latitude is None else columns[::-1]
        raise UnreadableError(
            _("{where}: {column} is empty, but {other} is not").format(
                where=row.where, column=column, other=other
            )
        )
    title = row.text(description.title)
    if not title:
        raise row.empty(description.title)
    return PlaceFacts(
        title,
        row.texts(description.types_column),
        {one.name: value for one in description.filters if (value := row.text(one.column))},
        {column: value for column in description.facts if (value := row.text(column))},
        row.number(description.rating, 0, description.rating_scale),
        _count(row, description.rating_count),
        latitude,
        longitude,
    )


def fact_lines(
    facts: PlaceFacts, description: CatalogDescription, rating: float | None
) -> Iterator[tuple[str, str]]:
    """Yield each column once with its values: types, filters, facts, and the rating."""
    lines: dict[str, str] = {}
    if facts.types:
        lines[description.types_column] = ", ".join(facts.types)
    columns = {one.name: one.column for one in description.filters}
    lines |= {columns[name]: value for name, value in facts.fields.items()}
    lines |= facts.facts
    if rating is not None:
        lines[description.rating or "rating"] = f"{rating:.4g}/{description.rating_scale:g}"
    if facts.ratings is not None:
        lines[description.rating_count] = str(facts.ratings)
    yield from ((one_line(column), value) for column, value in lines.items())


def _count(row: Row, column: str) -> int | None:
    number = row.number(column, 0, _MAX_RATINGS)
    if number is None or number.is_integer():
        return None if number is None else int(number)
    raise UnreadableError(
        _("{where}: {column}: {number} is not a whole number").format(
            where=row.where, column=column, number=f"{number:g}"
        )
    )


# A line that starts a section or code block, or turns the line above it into a heading.
_STRUCTURE = re.compile(r"^([^\S\n]*)(?=#{1,6}(?:\s|$)|```|~~~|(?:=+|-+)[^\S\n]*$)", re.MULTILINE)
_BREAK = "\n\n"


class PlaceText(NamedTuple):
    """The text of a place, and the spans of its reviews, in order."""

    text: str
    spans: list[tuple[int, int]]


def place_text(
    title: str,
    paragraphs: Iterable[str],
    facts: Iterable[tuple[str, str]],
    reviews: Sequence[ReviewText],
    scale: float,
) -> PlaceText:
    """Render a place; ratings of reviews range from 0 to `scale`.

    Headings and fences in the texts are escaped, so that `loaders.split` splits between reviews,
    but not at headings within a review.
    """
    parts = [f"# {title}", *map(escaped, paragraphs)]
    if items := [f"- {name}: {value}" for name, value in facts]:
        parts += ["## Facts", "\n".join(items)]
    if reviews:
        parts.append("## Reviews")
    spans = []
    end = len(_BREAK.join(parts))
    for review in reviews:
        parts += [f"### {_heading(review, scale)}", escaped(review.text)]
        start = end + len(_BREAK) + len(parts[-2]) + len(_BREAK)
        end = start + len(parts[-1])
        spans.append((start, end))
    return PlaceText(_BREAK.join(parts), spans)


def escaped(text: str) -> str:
    """Strip the text, and put a backslash before Markdown headings and fences."""
    return _STRUCTURE.sub(r"\1\\", text.strip())


def _heading(review: ReviewText, scale: float) -> str:
    rating = "" if review.rating is None else f"{review.rating:g}/{scale:g}"
    return " · ".join(filter(None, (review.group or "Review", rating, review.date)))


FORMAT = "place"


def document_of(data: Data, key: str, row: Row) -> "Document":
    """Convert the place in a row to a document.

    Raises:
        UnreadableError: A value is invalid; the message names the file, line, and column.
    """
    from langchain_core.documents import Document

    description, rows = data.description, data.reviews.by_place.get(key, ())
    facts, reviews = facts_of(row, description), read_reviews(row, rows, description)
    rating = _place_rating(facts, reviews)
    document = place_text(
        facts.title,
        [text for column in description.text if (text := row.paragraphs(column))],
        fact_lines(facts, description, rating),
        reviews.texts,
        description.rating_scale,
    )
    metadata = {
        "key": key,
        "version": data.version(key, row),
        "location": str(data.path),
        "title": facts.title,
        "format": FORMAT,
        "warnings": list(reviews.warnings),
        "place": _place_json(key, facts, rating, reviews) | _reviews_json(data, document, reviews),
    }
    return Document(document.text, metadata=metadata)


def _place_rating(facts: PlaceFacts, reviews: Reviews) -> float | None:
    """The rating of the place, or the mean rating of its reviews if it has none."""
    if facts.rating is not None or not reviews.ratings:
        return facts.rating
    return sum(reviews.ratings) / len(reviews.ratings)


def _rating_count(facts: PlaceFacts, reviews: Reviews) -> int:
    """The number of ratings in the data, or of review ratings, or of reviews if there are none."""
    if facts.ratings is not None:
        return facts.ratings
    is_mean = facts.rating is None and reviews.ratings
    return len(reviews.ratings) if is_mean else reviews.number


def _reviews_json(data: Data, document: PlaceText, reviews: Reviews) -> dict[str, Any]:
    """The reviews of a place and the findings of the judge."""
    spans = [
        Review(start, end, review.group, review.rating, review.date, review.id)
        for (start, end), review in zip(document.spans, reviews.texts, strict=True)
    ]
    findings = data.judge.judge(document.text, spans)
    return {
        "reviews": [list(review) for review in spans],
        "aspects": {name: list(counts) for name, counts in findings.aspects.items()},
        "patterns": [_pattern_json(pattern) for pattern in findings.patterns],
    }


def _pattern_json(pattern: Pattern) -> list[Any]:
    """The pattern without its rank, which is its index in the list."""
    quotes = [[quote.text, quote.start, quote.end] for quote in pattern.quotes]
    return [pattern.aspect, pattern.group, pattern.praises, pattern.count, pattern.reviews, quotes]


def _place_json(
    key: str, facts: PlaceFacts, rating: float | None, reviews: Reviews
) -> dict[str, Any]:
    """The fields of a place other than its text and reviews."""
    return {
        "place_id": key,
        "types": list(facts.types),
        "fields": facts.fields,
        "facts": facts.facts,
        "rating": rating,
        "ratings": _rating_count(facts, reviews),
        "latitude": facts.latitude,
        "longitude": facts.longitude,
    }


DESCRIPTION = "description"
"""The source option that contains the mapping for `description_of`."""


class CatalogPlaces:
    """Lists and reads the places of a catalog. The first call loads all data into memory."""

    reads_without_listing = False  # each loader reads the whole catalog

    def __init__(self, path: Path, judge: type[ReviewJudge] = ReviewJudge) -> None:
        """`path` is the file of the description."""
        self._path = path
        self._judge = judge
        self._data: Data | None = None

    def files(self) -> list[Path]:
        """The paths of the data files, with links resolved.

        Raises:
            SourceError: The description is invalid, or names a file outside its folder.
        """
        return data_files(self._path.parent, description_of(read_description(self._path)))

    def list(
        self, previous: PreviousImport = NEVER_IMPORTED
    ) -> Iterator[DocumentRef | Skipped | Removed | NewOptions]:
        """Yield every place in the order of the data, with its id as the key; then the description.

        A version depends on the row of the place, its reviews, the description of their columns,
        the aspects with their words, and the version of the judge, but on no other words. Places
        with an invalid value, duplicate ids, and (as a single item) the reviews of missing places
        are skipped. If several rows have the same id, the one imported before is used, else the
        first.

        Raises:
            SourceError: The description or a file is invalid, or a file lacks a column.
        """
        description, data = self._read()
        for key in data.places:
            imported = previous.documents.get(key)
            yield from _items(data, key, imported.version if imported else "")
        yield from _rows_without_id(data, previous)
        yield from _orphaned_reviews(data)
        yield NewOptions({DESCRIPTION: description})

    def read(self, ref: DocumentRef) -> "Document":
        """Read a place that `list` has yielded.

        Returns:
            The document in Markdown. Its metadata contains the `place` for the ledger, and
            `warnings` about reviews that were skipped.

        Raises:
            UnreadableError: A value is invalid, or the place was removed in the meantime.
            SourceError: As for `list`.
        """
        data = self._data or self._read()[1]
        if ref.key not in data.places:
            raise UnreadableError(
                _("{name} no longer contains the place {key}").format(
                    name=data.path.name, key=ref.key
                )
            )
        return document_of(data, ref.key, data.row(ref.key, ref.version))

    def _read(self) -> tuple[dict[str, Any], Data]:
        description = read_description(self._path)
        self._data = read_data(self._path.parent, description_of(description), self._judge)
        return description, self._data


def _items(data: Data, key: str, version: str) -> Iterator[DocumentRef | Skipped]:
    """Yield the place with that id, and a `Skipped` for each other row with the same id."""
    place, location = data.row(key, version), str(data.path)
    title = place.text(data.description.title)
    try:
        facts_of(place, data.description)
        if data.description.reviews:
            place.rows(data.description.reviews.column)
        yield DocumentRef(key, data.version(key, place), location, title)
    except UnreadableError as error:
        yield Skipped(key, location, str(error), title=title)
    for row in data.places[key]:
        if row is not place:
            reason = _(
                "{where}: {column}: {key} is already the id of {other}: change one of them"
            ).format(where=row.where, column=data.description.id, key=key, other=place.where)
            yield Skipped(key, location, reason, title=row.text(data.description.title))


def _rows_without_id(data: Data, previous: PreviousImport) -> Iterator[Skipped | Removed]:
    """Yield the rows without an id, and the missing places, any of which could be such a row."""
    for row in data.without_id:
        reason = str(row.empty(data.description.id))
        title = row.text(data.description.title)
        yield Skipped(row.where, str(data.path), reason, title=title)
    for key in previous.documents if data.without_id else ():
        if key not in data.places:
            reason = _(
                "its place is no longer in {name}, unless it is one of the rows without an id"
            ).format(name=data.path.name)
            yield Removed(key, reason, is_certain=False)


def _orphaned_reviews(data: Data) -> Iterator[Skipped]:
    rows, columns = data.reviews.orphaned, data.description.reviews
    if rows and columns:
        place = rows[0].text(columns.place) or "—"
        first = join_messages((rows[0].where, columns.place, place), ": ")
        reason = _("reviews of missing places: {number}; the first is {first}").format(
            number=len(rows), first=first
        )
        yield Skipped(columns.file, str(data.path.parent / columns.file), reason)
