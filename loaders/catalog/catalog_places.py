"""Lists and reads the places of a catalog as documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain import NEVER_IMPORTED, DocumentRef, NewOptions, PreviousImport, Removed, Skipped
from domain.errors import UnreadableError
from domain.messages import _, join_messages
from loaders.catalog.catalog_data import Data, ReviewJudge, data_files, read_data
from loaders.catalog.catalog_description import description_of, read_description
from loaders.catalog.place_document import document_of, facts_of

if TYPE_CHECKING:  # slow to load, and an unchanged catalog does not need it
    from langchain_core.documents import Document


DESCRIPTION = "description"
"""The source option that contains the mapping for `description_of`."""


class CatalogPlaces:
    """Lists and reads the places of a catalog. The first call loads all data into memory."""

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
