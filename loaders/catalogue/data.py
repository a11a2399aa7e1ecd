"""The data of a catalogue in memory: the rows of its places, and the reviews of each."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from domain import CatalogueDescription
from errors import SourceError
from loaders.catalogue.facts import columns_of
from loaders.catalogue.judge import Judge, Judging
from loaders.catalogue.reviews import ReviewRows, check_nested, review_rows
from loaders.catalogue.rows import Row, key_of
from loaders.catalogue.tables import check_columns, read_table

_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of a catalogue's data, by the ids of places; `path` is the file of these.

    `nameless` are those of places without an id. `layout` is what documents follow from beside
    their rows; `judge` reads what reviews praise and blame.
    """

    path: Path
    description: CatalogueDescription
    layout: Mapping[str, Any]
    places: dict[str, list[Row]]
    nameless: list[Row]
    reviews: ReviewRows
    judge: Judging

    def chosen(self, key: str, version: str) -> Row:
        """The row with that id and version; the first where none is."""
        rows = self.places[key]
        same = (row for row in rows if len(rows) > 1 and self.version(key, row) == version)
        return next(same, rows[0])

    def version(self, key: str, row: Row) -> str:
        """The version of the place, were it of that row."""
        reviews = [review.values for review in self.reviews.of.get(key, ())]
        told = [self.layout, row.values, reviews]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def _layout(description: CatalogueDescription, judge: Judge) -> dict[str, Any]:
    """What the documents follow from: no names, and no words that only questions are asked in."""
    filters = tuple(replace(one, values=()) for one in description.filters)
    bare = replace(description, name="", types=(), filters=filters, groups=())
    return asdict(bare) | {"judge": judge.version}


def data_files(folder: Path, description: CatalogueDescription) -> list[Path]:
    """The files of the data, as they lie when links are followed.

    Raises:
        SourceError: One can't be there, or is not in the folder.
    """
    named = [("places", description.places)]
    if description.reviews and description.reviews.file:
        named.append(("reviews.file", description.reviews.file))
    found = []
    for field, file in named:
        path = _resolved(folder, field, file)
        if not path.is_relative_to(folder.resolve()):
            raise SourceError(
                f"{field}: {file} is a link to something outside the description's folder"
            )
        found.append(path)
    return found


def _resolved(folder: Path, field: str, file: str) -> Path:
    try:
        path = (folder / file).resolve()
        path.exists()  # what resolves can still be too long, or within what may not be opened
    except (OSError, ValueError, RuntimeError) as error:  # NUL, a name too long, a loop of links
        told = getattr(error, "strerror", None) or error
        raise SourceError(f"{field}: {file[:_SHOWN_CHARS]!r} can't be opened: {told}") from error
    return path


def read_data(folder: Path, description: CatalogueDescription, judge: Judge) -> Data:
    """Read all of the data, which lies in a folder; `judge` is to read the reviews.

    Raises:
        SourceError: A file is missing or broken, holds no place or lacks a column.
    """
    data_files(folder, description)
    named, file = columns_of(description), description.places
    table = read_table(folder / file, [column for _, column in named])
    if not table.rows:
        raise SourceError(f"places: there is no place in {file}")
    check_columns(file, table.columns, named)
    check_nested(file, description, table.rows)
    places: dict[str, list[Row]] = {}
    for row in table.rows:
        places.setdefault(key_of(row, description.id), []).append(row)
    nameless = places.pop("", [])
    reviews = review_rows(folder, description, places)
    layout, judging = _layout(description, judge), judge.of(description.aspects)
    return Data(folder / file, description, layout, places, nameless, reviews, judging)
