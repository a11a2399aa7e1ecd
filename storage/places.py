"""Reads the places of catalogues: one by one, page by page, and those that filters leave."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Text, cast, func, not_, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from domain import Pattern, Place, Quote, Review, WantedValue, values_of
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.place_contents import NOTHING, Contents, PlaceColumns, contents_of
from storage.place_rows import DETAIL
from storage.tables import DocumentRow, PlaceRow

_REVIEWS = DocumentRow.details[(DETAIL, "reviews")].as_json()
_PATTERNS = DocumentRow.details[(DETAIL, "patterns")].as_json()
# As text, so that what is equal need not be decoded twice.
_COLUMNS = select(
    cast(PlaceRow.types, Text),
    cast(PlaceRow.fields, Text),
    cast(PlaceRow.aspects, Text),
    PlaceRow.rating,
)
_BY_TITLE = (PlaceRow.title, PlaceRow.place_id, PlaceRow.document_id)


class PlacePage(NamedTuple):
    """Some of the places that were asked for, and how many there are in all."""

    places: tuple[Place, ...]
    total: int


class Places:
    """The places of all catalogues. `Ledger.publish` writes them, with their documents."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[str, tuple[object, Contents]] = {}

    def get(self, catalogue_id: str, place_id: str) -> Place:
        """The place with that id in that catalogue.

        Raises:
            NotFoundError: There is none (any more).
        """
        wanted = select(PlaceRow).where(
            PlaceRow.catalogue_id == catalogue_id, PlaceRow.place_id == place_id
        )
        with self._database.read() as session:
            row = session.scalar(wanted)
            if row is None:
                raise NotFoundError(
                    f"there is no place {place_id!r} in the catalogue {catalogue_id}"
                )
            return _place(row)

    def matching(
        self,
        catalogue_id: str,
        fields: Mapping[str, WantedValue] | None = None,
        min_rating: float | None = None,
        declined_types: Sequence[str] = (),
        desired_types: Sequence[str] = (),
    ) -> list[str]:
        """The ids of the documents of a catalogue's places that these filters leave, in no order.

        The filters are those of `list`; a place of a declined type is left out, unless it is of a
        desired type too.
        """
        wanted = select(PlaceRow.document_id).where(
            PlaceRow.catalogue_id == catalogue_id,
            *_narrowed(fields or {}, min_rating),
            *_without_types(declined_types, desired_types),
        )
        with self._database.read() as session:
            return list(session.scalars(wanted))

    def by_documents(self, document_ids: Sequence[str]) -> dict[str, Place]:
        """The places of these documents by document id; documents that are none are left out."""
        found: dict[str, Place] = {}
        with self._database.read() as session:
            for group in in_groups(document_ids):
                rows = session.scalars(select(PlaceRow).where(PlaceRow.document_id.in_(group)))
                found |= {row.document_id: _place(row) for row in rows}
        return found

    def contents(self, catalogue_id: str) -> Contents:
        """What the places of a catalogue hold together; it is read again after an import only."""
        # The moment alone would not tell a change after the clock was put back.
        changed = select(
            func.count(), func.max(DocumentRow.imported_at), func.sum(DocumentRow.revision)
        ).where(DocumentRow.source_id == catalogue_id)
        with self._database.read() as session:
            as_of = tuple(session.execute(changed).one())
            kept, contents = self._kept.get(catalogue_id, (None, NOTHING))
            if kept != as_of:
                wanted = _COLUMNS.where(PlaceRow.catalogue_id == catalogue_id)
                contents = contents_of([PlaceColumns(*row) for row in session.execute(wanted)])
                self._kept[catalogue_id] = as_of, contents
        return contents

    def reviews(self, document_ids: Sequence[str]) -> dict[str, list[Review]]:
        """By document id, the reviews of these places in the order of the text.

        Documents that are no places are left out; a place without reviews has an empty list.
        """
        return {
            id_: [Review(*review) for review in told or ()]
            for id_, told in self._details(_REVIEWS, document_ids).items()
        }

    def patterns(self, document_ids: Sequence[str]) -> dict[str, tuple[Pattern, ...]]:
        """By document id, all that the reviewers of these places say again and again, by rank.

        Documents that are no places are left out; of a place nothing may be said twice.
        """
        return {
            id_: tuple(_pattern(rank, *each) for rank, each in enumerate(told or (), start=1))
            for id_, told in self._details(_PATTERNS, document_ids).items()
        }

    def _details(self, detail: ColumnElement[Any], document_ids: Sequence[str]) -> dict[str, Any]:
        """That detail of each of these documents that is a place, by its id."""
        wanted = select(DocumentRow.id, detail).join(
            PlaceRow, PlaceRow.document_id == DocumentRow.id
        )
        with self._database.read() as session:
            return {
                id_: told
                for group in in_groups(document_ids)
                for id_, told in session.execute(wanted.where(DocumentRow.id.in_(group)))
            }

    def list(
        self,
        catalogue_id: str = "",
        *,
        fields: Mapping[str, WantedValue] | None = None,
        types: Sequence[str] = (),
        min_rating: float | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PlacePage:
        """The places by title, then id: `limit` of them after the first `offset`, and their count.

        Of one catalogue, or of all where it is "". A place has, exactly as it is written, what each
        of `fields` asks for, any of the `types`, and at least that rating; one that nobody rated
        has none.
        """
        one = [PlaceRow.catalogue_id == catalogue_id] if catalogue_id else []
        wanted = [*one, *_narrowed(fields or {}, min_rating), *_of_types(types)]
        counted = select(func.count()).select_from(PlaceRow).where(*wanted)
        page = select(PlaceRow).where(*wanted).order_by(*_BY_TITLE).offset(offset).limit(limit)
        with self._database.read() as session:
            places = tuple(_place(row) for row in session.scalars(page))
            return PlacePage(places, session.scalar(counted) or 0)


def _narrowed(
    fields: Mapping[str, WantedValue], min_rating: float | None
) -> Iterator[ColumnElement[bool]]:
    for name, wanted in fields.items():
        written = (f"{json.dumps(name)}: {json.dumps(value)}" for value in values_of(wanted))
        yield or_(*(_holds(PlaceRow.fields, one) for one in written))
    if min_rating is not None:
        yield PlaceRow.rating >= min_rating


def _of_types(types: Sequence[str]) -> Iterator[ColumnElement[bool]]:
    if types:
        yield or_(*(_holds(PlaceRow.types, json.dumps(type_)) for type_ in types))


def _without_types(
    declined: Sequence[str], desired: Sequence[str]
) -> Iterator[ColumnElement[bool]]:
    for condition in _of_types(declined):
        yield or_(not_(condition), *_of_types(desired))


def _holds(column: InstrumentedAttribute[Any], written: str) -> ColumnElement[bool]:
    # Not by a path into the JSON: SQLite before 3.45 doesn't find a name there that was written
    # with escapes, as every Korean one is. Nor by LIKE, which takes "Bar" for "bar". It is exact
    # where no name and no type has a quotation mark in it.
    text = cast(column, Text)
    return func.replace(text, written, "") != text


def _pattern(rank: int, *told: Any) -> Pattern:
    aspect, group, praises, count, reviews, quotes = told
    words = tuple(Quote(*quote) for quote in quotes)
    return Pattern(aspect, group, praises, count, reviews, words, rank)


def _place(row: PlaceRow) -> Place:
    return Place(
        document_id=row.document_id,
        catalogue_id=row.catalogue_id,
        place_id=row.place_id,
        title=row.title,
        types=tuple(row.types),
        fields=row.fields,
        facts=row.facts,
        rating=row.rating,
        reviews=row.ratings,
        latitude=row.latitude,
        longitude=row.longitude,
        aspects={name: (praise, blame) for name, (praise, blame) in row.aspects.items()},
    )
