"""Reads the places of catalogues: one by one, page by page, and those that filters leave."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Text, cast, func, not_, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from domain import Place, Review
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.place_rows import DETAIL
from storage.tables import DocumentRow, PlaceRow

_REVIEWS = DocumentRow.details[(DETAIL, "reviews")].as_json()
_BY_TITLE = (PlaceRow.title, PlaceRow.place_id, PlaceRow.document_id)


class PlacePage(NamedTuple):
    """Some of the places that were asked for, and how many there are in all."""

    places: tuple[Place, ...]
    total: int


class Places:
    """The places of all catalogues. `Ledger.publish` writes them, with their documents."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: dict[str, tuple[object, dict[str, tuple[int, int]]]] = {}

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
            raise NotFoundError(f"there is no place {place_id!r} in the catalogue {catalogue_id}")
        return _place(row)

    def named(self, place_id: str) -> list[Place]:
        """The places with that id, at most one of each catalogue, by the catalogue's id."""
        wanted = select(PlaceRow).where(PlaceRow.place_id == place_id)
        with self._database.read() as session:
            return [_place(row) for row in session.scalars(wanted.order_by(PlaceRow.catalogue_id))]

    def matching(
        self,
        catalogue_id: str,
        fields: Mapping[str, str] | None = None,
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

    def mean_rating(self, catalogue_id: str) -> float | None:
        """The mean of the ratings of a catalogue's places; None where none is rated."""
        wanted = select(func.avg(PlaceRow.rating)).where(PlaceRow.catalogue_id == catalogue_id)
        with self._database.read() as session:
            mean = session.scalar(wanted)
        return None if mean is None else float(mean)

    def aspect_counts(self, catalogue_id: str) -> dict[str, tuple[int, int]]:
        """By aspect, how many reviews of a catalogue's places praise it and how many blame it.

        Aspects that no review judges are left out. It is counted again after an import only.
        """
        changed = select(func.count(), func.max(DocumentRow.imported_at)).where(
            DocumentRow.source_id == catalogue_id
        )
        with self._database.read() as session:
            as_of = tuple(session.execute(changed).one())
            kept, counts = self._counted.get(catalogue_id, (None, {}))
            if kept != as_of:
                # As text, so that all are decoded at once, which is faster.
                aspects = select(cast(PlaceRow.aspects, Text))
                told = session.scalars(aspects.where(PlaceRow.catalogue_id == catalogue_id))
                counts = _sums(json.loads(f"[{','.join(told)}]"))
                self._counted[catalogue_id] = as_of, counts
        return counts

    def values(self, catalogue_id: str) -> dict[str, list[str]]:
        """By the name of each filter, the values that places of the catalogue have, sorted."""
        found: dict[str, set[str]] = {}
        for fields in self._distinct(PlaceRow.fields, catalogue_id):
            for name, value in fields.items():
                found.setdefault(name, set()).add(value)
        return {name: sorted(values) for name, values in sorted(found.items())}

    def types(self, catalogue_id: str) -> list[str]:
        """The types that places of the catalogue have, sorted."""
        return sorted(
            {one for types in self._distinct(PlaceRow.types, catalogue_id) for one in types}
        )

    def reviews(self, document_ids: Sequence[str]) -> dict[str, list[Review]]:
        """By document id, the reviews of these places in the order of the text.

        Documents that are no places are left out; a place without reviews has an empty list.
        """
        wanted = select(DocumentRow.id, _REVIEWS).join(
            PlaceRow, PlaceRow.document_id == DocumentRow.id
        )
        with self._database.read() as session:
            return {
                id_: [Review(*review) for review in told or ()]
                for group in in_groups(document_ids)
                for id_, told in session.execute(wanted.where(DocumentRow.id.in_(group)))
            }

    def _distinct(self, column: InstrumentedAttribute[Any], catalogue_id: str) -> Iterator[Any]:
        # As text, for PostgreSQL does not compare JSON; few combinations are in use, so that few
        # are decoded however many places there are.
        wanted = select(cast(column, Text)).where(PlaceRow.catalogue_id == catalogue_id).distinct()
        with self._database.read() as session:
            found = session.scalars(wanted).all()
        return map(json.loads, found)

    def list(
        self,
        catalogue_id: str = "",
        *,
        fields: Mapping[str, str] | None = None,
        types: Sequence[str] = (),
        min_rating: float | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PlacePage:
        """The places by title, then id: `limit` of them after the first `offset`, and their count.

        Of one catalogue, or of all where it is "". A place has the exact value of each of `fields`,
        any of the `types`, and at least that rating; one that nobody rated has none.
        """
        one = [PlaceRow.catalogue_id == catalogue_id] if catalogue_id else []
        wanted = [*one, *_narrowed(fields or {}, min_rating), *_of_types(types)]
        counted = select(func.count()).select_from(PlaceRow).where(*wanted)
        page = select(PlaceRow).where(*wanted).order_by(*_BY_TITLE).offset(offset).limit(limit)
        with self._database.read() as session:
            places = tuple(_place(row) for row in session.scalars(page))
            return PlacePage(places, session.scalar(counted) or 0)


def _narrowed(fields: Mapping[str, str], min_rating: float | None) -> Iterator[ColumnElement[bool]]:
    for name, value in fields.items():
        yield _holds(PlaceRow.fields, f"{json.dumps(name)}: {json.dumps(value)}")
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


def _sums(counted: Iterable[Mapping[str, Sequence[int]]]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for counts in counted:
        for aspect, (praise, blame) in counts.items():
            praised, blamed = sums.get(aspect, (0, 0))
            sums[aspect] = praised + praise, blamed + blame
    return sums


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
