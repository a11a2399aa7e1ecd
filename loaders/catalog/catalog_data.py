"""The data of a catalog in memory: the rows of its places and their reviews."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from domain import Aspect, CatalogDescription, Pattern, Review, ReviewColumns
from domain.errors import SourceError, UnreadableError
from domain.messages import _
from loaders.catalog.tables import Row, check_columns, read_table

_COLUMNS = ("text", "id", "rating", "date", "group")
_MAX_WARNINGS = 10


class ReviewText(NamedTuple):
    """A review in the data; `group`, `date`, and `id` are "" if unknown."""

    text: str
    group: str = ""
    rating: float | None = None
    date: str = ""
    id: str = ""


@dataclass(slots=True)
class ReviewRows:
    """The rows of reviews by place id; the places of `orphaned` reviews are missing."""

    by_place: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    orphaned: list[Row] = field(default_factory=list)


class Reviews(NamedTuple):
    """The reviews of a place that have text, in order, and statistics on all its reviews.

    `ratings` includes the ratings of reviews without text; `number` counts all valid reviews.
    """

    texts: Sequence[ReviewText] = ()
    ratings: Sequence[float] = ()
    number: int = 0
    warnings: Sequence[str] = ()


def review_rows(
    folder: Path, description: CatalogDescription, places: Mapping[str, Sequence[Row]]
) -> ReviewRows:
    """Read the file of reviews, if the description names one.

    Raises:
        SourceError: The file can't be read, or lacks a column.
    """
    columns, rows = description.reviews, ReviewRows()
    if columns is None or not columns.file:
        return rows
    fields = _fields(columns, "place")
    table = read_table(folder / columns.file, [column for _, column in fields])
    if table.rows or table.columns:
        check_columns(columns.file, table.columns, fields)
    for row in table.rows:
        place = row.text(columns.place)
        (rows.by_place[place] if place in places else rows.orphaned).append(row)
    return rows


def check_nested(file: str, description: CatalogDescription, rows: Iterable[Row]) -> None:
    """Check that the lists of reviews in the rows of places have the described keys.

    Raises:
        SourceError: One of these keys does not occur in any review.
    """
    columns = description.reviews
    if columns is None or not columns.column:
        return
    keys: dict[str, None] = {}
    for row in rows:
        for review in _nested_rows(row, columns):
            keys |= dict.fromkeys(review.values)
    if keys:
        check_columns(
            _("{column} of {file}").format(column=columns.column, file=file), keys, _fields(columns)
        )


def read_reviews(place: Row, rows: Sequence[Row], description: CatalogDescription) -> Reviews:
    """The reviews of a place, from `rows` or from its own row.

    Invalid reviews are omitted with a warning.

    Raises:
        UnreadableError: The place's cell is not a list of reviews.
    """
    columns = description.reviews
    if columns is None:
        return Reviews()
    nested = place.rows(columns.column) if columns.column else rows
    return _read(nested, columns, description.rating_scale)


def _read(rows: Sequence[Row], columns: ReviewColumns, scale: float) -> Reviews:
    valid: list[ReviewText] = []
    problems: list[str] = []
    ids: set[str] = set()
    for row in rows:
        try:
            valid.append(_review(row, columns, scale, ids))
        except UnreadableError as error:
            problems.append(str(error))
    texts = [review for review in valid if review.text]
    ratings = [review.rating for review in valid if review.rating is not None]
    return Reviews(texts, ratings, len(valid), tuple(_warnings(problems)))


def _review(row: Row, columns: ReviewColumns, scale: float, ids: set[str]) -> ReviewText:
    """Parse the review in a row; its id must not be in `ids`, and is added to them."""
    rating = row.number(columns.rating, 0, scale)
    text, id_ = row.paragraphs(columns.text), row.text(columns.id)
    if not text and rating is None:
        raise row.empty(columns.text)
    if id_ in ids:
        raise UnreadableError(
            _("{where}: {column}: duplicate value {value}").format(
                where=row.where, column=columns.id, value=id_
            )
        )
    ids |= {id_} - {""}
    return ReviewText(text, row.text(columns.group), rating, row.text(columns.date), id_)


def _warnings(problems: Sequence[str]) -> Iterator[str]:
    for problem in problems[:_MAX_WARNINGS]:
        yield _("{problem}: the review is skipped").format(problem=problem)
    if len(problems) > _MAX_WARNINGS:
        yield _("more reviews skipped for similar reasons: {number}").format(
            number=len(problems) - _MAX_WARNINGS
        )


def _nested_rows(row: Row, columns: ReviewColumns) -> list[Row]:
    try:
        return row.rows(columns.column)
    except UnreadableError:  # reported when the place is listed
        return []


def _fields(columns: ReviewColumns, *more: str) -> list[tuple[str, str]]:
    """The fields of the description with their columns."""
    return [
        (f"reviews.{name}", column)
        for name in (*more, *_COLUMNS)
        if (column := getattr(columns, name))
    ]


class ReviewFindings(NamedTuple):
    """The result of judging the reviews of a place.

    `aspects` has, for each aspect, the number of reviews that praise it and of those that criticize
    it. `patterns` are ordered by rank.
    """

    aspects: Mapping[str, tuple[int, int]]
    patterns: Sequence[Pattern]


class ReviewJudge:
    """Finds opinions about aspects in reviews; this base class finds none.

    The product uses `services.catalog.review_patterns.PatternJudge`. Places are imported again when
    `version` changes.
    """

    version: ClassVar[int] = 0

    def __init__(self, aspects: Sequence[Aspect]) -> None:
        """`aspects` are those of the catalog."""

    def judge(self, text: str, reviews: Sequence[Review]) -> ReviewFindings:  # noqa: ARG002  # subclasses use them
        """Judge the reviews, which are spans of the text of a place's document."""
        return ReviewFindings({}, ())


_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class Data:
    """The data of a catalog: rows by place id, and rows without an id.

    `path` is the file of the places. `layout` is the part of the description that affects
    documents.
    """

    path: Path
    description: CatalogDescription
    layout: Mapping[str, Any]
    places: dict[str, list[Row]]
    without_id: list[Row]
    reviews: ReviewRows
    judge: ReviewJudge

    def row(self, key: str, version: str) -> Row:
        """The row with that id and version, or the first row with that id if none matches."""
        rows = self.places[key]
        same = (row for row in rows if len(rows) > 1 and self.version(key, row) == version)
        return next(same, rows[0])

    def version(self, key: str, row: Row) -> str:
        """The version that the place has if this row defines it."""
        reviews = [review.values for review in self.reviews.by_place.get(key, ())]
        inputs = json.dumps([self.layout, row.values, reviews], sort_keys=True, default=str)
        return hashlib.sha256(inputs.encode()).hexdigest()


def _layout(description: CatalogDescription, judge: type[ReviewJudge]) -> dict[str, Any]:
    """The inputs of documents, without names and words that are only used to analyze questions."""
    filters = tuple(replace(one, values=()) for one in description.filters)
    bare = replace(description, name="", types=(), filters=filters, groups=())
    return asdict(bare) | {"judge": judge.version}


def data_files(folder: Path, description: CatalogDescription) -> list[Path]:
    """The paths of the data files, with links resolved.

    Raises:
        SourceError: A path is invalid, or outside the folder.
    """
    files = [("places", description.places)]
    if description.reviews and description.reviews.file:
        files.append(("reviews.file", description.reviews.file))
    paths = []
    for name, file in files:
        path = _resolve(folder, name, file)
        if not path.is_relative_to(folder.resolve()):
            raise SourceError(
                _("{field}: {file} is a link to a file outside the description's folder").format(
                    field=name, file=file
                )
            )
        paths.append(path)
    return paths


def columns_of(description: CatalogDescription) -> list[tuple[str, str]]:
    """The fields of a description that name columns of places, with the columns."""
    fields = [
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
    return [(field, column) for field, column in fields if column]


def _resolve(folder: Path, field: str, file: str) -> Path:
    try:
        path = (folder / file).resolve()
        path.exists()  # a path that resolves can still be too long, or in an unreadable folder
    except (OSError, ValueError, RuntimeError) as error:  # NUL, long name, link cycle
        reason = getattr(error, "strerror", None) or error
        raise SourceError(
            _("{field}: {file} can't be opened: {reason}").format(
                field=field, file=repr(file[:_SHOWN_CHARS]), reason=reason
            )
        ) from error
    return path


def read_data(folder: Path, description: CatalogDescription, judge: type[ReviewJudge]) -> Data:
    """Read the data files in the folder.

    Raises:
        SourceError: A file is missing or damaged, contains no places, or lacks a column.
    """
    data_files(folder, description)
    fields, file = columns_of(description), description.places
    table = read_table(folder / file, [column for _, column in fields])
    if not table.rows:
        raise SourceError(_("places: {file} contains no places").format(file=file))
    check_columns(file, table.columns, fields)
    check_nested(file, description, table.rows)
    places: dict[str, list[Row]] = {}
    for row in table.rows:
        places.setdefault(row.text(description.id), []).append(row)
    without_id = places.pop("", [])
    reviews = review_rows(folder, description, places)
    return Data(
        folder / file,
        description,
        _layout(description, judge),
        places,
        without_id,
        reviews,
        judge(description.aspects),
    )
