"""A catalogue as a source: each place of its data is a document."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from domain import NOTHING_BEFORE, Before, DocumentRef, Gone, NewOptions, Skipped
from errors import UnreadableError
from loaders.catalogue.data import Data, data_files, read_data
from loaders.catalogue.description import description_of, read_description
from loaders.catalogue.document import document_of
from loaders.catalogue.facts import facts_of
from loaders.catalogue.judge import NO_JUDGE, Judge

if TYPE_CHECKING:  # slow, and a catalogue without news needs none of it
    from langchain_core.documents import Document


DESCRIPTION = "description"
"""Among a source's options: the mapping that `loaders.catalogue.description_of` reads."""


class CataloguePlaces:
    """Lists and reads the places of a catalogue; its data is in memory from the first of both."""

    def __init__(self, path: Path, judge: Judge = NO_JUDGE) -> None:
        """Take the catalogue that the file at `path` describes; nothing is opened.

        `judge` counts for each place what its reviews praise and blame.
        """
        self._path = path
        self._judge = judge
        self._data: Data | None = None

    def files(self) -> list[Path]:
        """The files of its data, as they lie when links are followed.

        Raises:
            SourceError: The description is wrong, or names a file outside its folder.
        """
        return data_files(self._path.parent, description_of(read_description(self._path)))

    def list(
        self, before: Before = NOTHING_BEFORE
    ) -> Iterator[DocumentRef | Skipped | Gone | NewOptions]:
        """Yield every place in the order of the data, its id as the key; last the description.

        A version follows from the place's row, its reviews, what the description says of their
        columns, and the words of aspects, which reviews are read by: the description's and, by its
        version, the judge's. It follows from no other words. A place with a wrong value is yielded
        as `Skipped` with the reason, so are the second row with an id and, as one, the reviews of
        places that are not there. Of rows with the same id the one imported `before` counts, else
        the first.

        Raises:
            SourceError: The description or a file is wrong, or a file lacks a column.
        """
        told = read_description(self._path)
        self._data = data = read_data(self._path.parent, description_of(told), self._judge)
        for key in data.places:
            known = before.documents.get(key)
            yield from _items(data, key, known.version if known else "")
        yield from _nameless(data, before)
        yield from _lost_reviews(data)
        yield NewOptions({DESCRIPTION: told})

    def read(self, ref: DocumentRef) -> "Document":
        """Read a place that `list` has yielded.

        Returns:
            The document in Markdown, with what `storage` keeps of places as `place` in its
            metadata, and the reviews that were left out among the `warnings`.

        Raises:
            UnreadableError: A value is wrong, or the place is gone meanwhile.
            SourceError: As for `list`.
        """
        if self._data is None:
            told = read_description(self._path)
            self._data = read_data(self._path.parent, description_of(told), self._judge)
        data = self._data
        if ref.key not in data.places:
            raise UnreadableError(f"{data.path.name} has no place {ref.key} (any more)")
        return document_of(data, ref.key, data.chosen(ref.key, ref.version))


def _items(data: Data, key: str, version: str) -> Iterator[DocumentRef | Skipped]:
    """The place of that id, and the other rows that have it."""
    chosen, location = data.chosen(key, version), str(data.path)
    title = chosen.text(data.description.title)
    try:
        facts_of(chosen, data.description)
        if data.description.reviews:
            chosen.rows(data.description.reviews.column)
        yield DocumentRef(key, data.version(key, chosen), location, title)
    except UnreadableError as error:
        yield Skipped(key, location, str(error), title=title)
    for row in data.places[key]:
        if row is not chosen:
            why = (
                f"{row.where}: {data.description.id}: {key} is the place of {chosen.where} already:"
                " give one of them another id"
            )
            yield Skipped(key, location, why, title=row.text(data.description.title))


def _nameless(data: Data, before: Before) -> Iterator[Skipped | Gone]:
    """The rows without an id; whatever else is missing could be one of them."""
    for row in data.nameless:
        why = f"{row.where}: {data.description.id}: it is empty"
        title = row.text(data.description.title)
        yield Skipped(row.where, str(data.path), why, title=title)
    for key in before.documents if data.nameless else ():
        if key not in data.places:
            why = f"its place is no longer in {data.path.name}, where a row has no id"
            yield Gone(key, why, is_certain=False)


def _lost_reviews(data: Data) -> Iterator[Skipped]:
    lost, columns = data.reviews.lost, data.description.reviews
    if lost and columns:
        first = f"{lost[0].where}: {columns.place}: {lost[0].text(columns.place) or '—'}"
        why = f"reviews of places that are not there: {len(lost)}; the first is {first}"
        yield Skipped(columns.file, str(data.path.parent / columns.file), why)
