"""Reads the places of catalogs: one by one, page by page, and filtered."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Text, cast, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from domain import CatalogFilters, FilterValue, Metadata, Pattern, Place, Quote, Review, values_of
from domain.errors import NotFoundError, SourceError
from domain.language.unicode_forms import forms_of
from domain.messages import _
from storage.ledger.columns import from_row, json_text
from storage.ledger.database import Database, Store, rows_with, scalars_with
from storage.ledger.document_store import StoredDocument
from storage.ledger.ledger_tables import DocumentRow, PlaceRow

PlaceColumns = Row[str, str, str, str, float | None]
"""A row of `_COLUMNS`, which are some columns of places; JSON is not decoded."""


class Contents(NamedTuple):
    """Statistics over all places of a catalog.

    `values` contains the values in use by filter name, `types` the types in use; both are sorted.
    `mean_rating` is None if no place is rated. `aspects` maps each aspect to the numbers of reviews
    that praise and criticize it; aspects without reviews are omitted.
    """

    values: Mapping[str, list[str]]
    types: list[str]
    mean_rating: float | None
    aspects: Mapping[str, tuple[int, int]]


def contents_of(places: Sequence[PlaceColumns]) -> Contents:
    """The statistics over these places."""
    ratings = [place.rating for place in places if place.rating is not None]
    return Contents(
        values=_values(_distinct(place.fields for place in places)),
        types=sorted(set(chain.from_iterable(_distinct(place.types for place in places)))),
        mean_rating=fmean(ratings) if ratings else None,
        aspects=_sums(json.loads(f"[{','.join(place.aspects for place in places)}]")),
    )


def _distinct(encoded: Iterable[str]) -> list[Any]:
    """The distinct decoded values; each distinct JSON text is decoded only once."""
    return [json.loads(one) for one in set(encoded)]


def _values(each: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    values_by_name: dict[str, set[str]] = {}
    for fields in each:
        for name, value in fields.items():
            values_by_name.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in sorted(values_by_name.items())}


def _sums(each: Iterable[Mapping[str, Sequence[int]]]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for counts in each:
        for aspect, (praise, blame) in counts.items():
            praised, blamed = sums.get(aspect, (0, 0))
            sums[aspect] = praised + praise, blamed + blame
    return sums


DETAIL = "place"
"""The key in a document's details that makes the document a place."""
_ONLY_IN_DETAILS = ("reviews", "patterns")


def place_rows(documents: Iterable[StoredDocument]) -> list[dict[str, Any]]:
    """A row for each document that is a place, in their order.

    Raises:
        SourceError: A number is not finite, which neither JSON nor SQL can represent.
    """
    return [_row(document) for document in documents if DETAIL in document.details]


def _row(document: StoredDocument) -> dict[str, Any]:
    data: Metadata = document.details[DETAIL]
    _check(document.key, data)
    columns = {name: value for name, value in data.items() if name not in _ONLY_IN_DETAILS}
    own = {"document_id": document.id, "catalogue_id": document.source_id, "title": document.title}
    return own | columns


def _check(key: str, data: Metadata) -> None:
    for name, value in data.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError as error:
            raise SourceError(
                _(
                    "the place {key} can't be stored: its {name} contains a number that is not"
                    " finite (NaN or infinity). Correct it in the catalog's data, or leave it empty"
                ).format(key=repr(key), name=name)
            ) from error


_REVIEWS = DocumentRow.details[(DETAIL, "reviews")].as_json()
_PATTERNS = DocumentRow.details[(DETAIL, "patterns")].as_json()
# JSON as text, so that equal values are decoded only once.
_COLUMNS = select(
    PlaceRow.document_id,
    cast(PlaceRow.types, Text).label("types"),
    cast(PlaceRow.fields, Text).label("fields"),
    cast(PlaceRow.aspects, Text).label("aspects"),
    PlaceRow.rating,
)
_BY_TITLE = (PlaceRow.title, PlaceRow.place_id, PlaceRow.document_id)


Group = tuple[str, str]
"""The types and the fields that places share, as undecoded JSON."""
Rated = tuple[str, float | None]
"""A document id and the rating of its place."""


class CachedCatalog(NamedTuple):
    """Data about the places of a catalog; `state` differs after each import."""

    state: object
    contents: Contents
    groups: Mapping[Group, Sequence[Rated]]


def groups_of(places: Iterable[PlaceColumns]) -> dict[Group, list[Rated]]:
    """The places by types and fields, so that most filters check each value once."""
    groups: dict[Group, list[Rated]] = {}
    for place in places:
        of_group = groups.setdefault((place.types, place.fields), [])
        of_group.append((place.document_id, place.rating))
    return groups


class PlacePage(NamedTuple):
    """A page of matching places, and the total number of matches."""

    places: tuple[Place, ...]
    total: int


class Places(Store):
    """The places of all catalogs. `Ledger.commit` writes them with their documents."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._cache: dict[str, CachedCatalog] = {}

    def get(self, catalog_id: str, place_id: str) -> Place:
        """A place; raises NotFoundError if the catalog has none with this id."""
        query = select(PlaceRow).where(
            PlaceRow.catalogue_id == catalog_id, PlaceRow.place_id == place_id
        )
        with self._database.read() as session:
            row = session.scalar(query)
            if row is None:
                raise NotFoundError(
                    _("there is no place {place_id} in the catalog {catalog_id}").format(
                        place_id=repr(place_id), catalog_id=catalog_id
                    )
                )
            return _place(row)

    def matching(self, catalog_id: str, filters: CatalogFilters) -> list[str]:
        """The document ids of a catalog's places that pass the filters, unordered.

        Like `contents`, this reads places only after an import.
        """
        entries = [_entries(name, value) for name, value in filters.fields.items()]
        declined = _json_texts(filters.declined_types)
        desired, min_rating = _json_texts(filters.desired_types or ()), filters.min_rating
        return [
            document_id
            for (types, of_group), places in self._cached(catalog_id).groups.items()
            if all(_has_any(of_group, one) for one in entries)
            and (not _has_any(types, declined) or _has_any(types, desired))
            for document_id, rating in places
            if min_rating is None or (rating is not None and rating >= min_rating)
        ]

    def by_documents(self, document_ids: Sequence[str]) -> dict[str, Place]:
        """The places of these documents by document id; other documents are omitted."""
        with self._database.read() as session:
            rows = scalars_with(session, select(PlaceRow), PlaceRow.document_id, document_ids)
            return {row.document_id: _place(row) for row in rows}

    def contents(self, catalog_id: str) -> Contents:
        """The statistics over a catalog's places, cached until the next import."""
        return self._cached(catalog_id).contents

    def _cached(self, catalog_id: str) -> CachedCatalog:
        # The time alone would miss a change after the clock was set back.
        state_query = select(
            func.count(), func.max(DocumentRow.imported_at), func.sum(DocumentRow.revision)
        ).where(DocumentRow.source_id == catalog_id)
        with self._database.read() as session:
            state = tuple(session.execute(state_query).one())
            cached = self._cache.get(catalog_id)
            if cached is None or cached.state != state:
                query = _COLUMNS.where(PlaceRow.catalogue_id == catalog_id)
                places = session.execute(query).all()
                cached = CachedCatalog(state, contents_of(places), groups_of(places))
                self._cache[catalog_id] = cached
        return cached

    def reviews(self, document_ids: Sequence[str]) -> dict[str, list[Review]]:
        """By document id, the reviews of these places in text order.

        Documents that are not places are omitted; a place without reviews has an empty list.
        """
        return {
            id_: [Review(*review) for review in data or ()]
            for id_, data in self._details(_REVIEWS, document_ids).items()
        }

    def patterns(self, document_ids: Sequence[str]) -> dict[str, tuple[Pattern, ...]]:
        """By document id, the patterns in the reviews of these places, by rank.

        Documents that are not places are omitted; a place may have no patterns.
        """
        return {
            id_: tuple(_pattern(rank, *each) for rank, each in enumerate(data or (), start=1))
            for id_, data in self._details(_PATTERNS, document_ids).items()
        }

    def _details(self, detail: ColumnElement[Any], document_ids: Sequence[str]) -> dict[str, Any]:
        """By document id, a detail of these documents; omits documents that are not places."""
        query = select(DocumentRow.id, detail).join(
            PlaceRow, PlaceRow.document_id == DocumentRow.id
        )
        with self._database.read() as session:
            return dict(rows_with(session, query, DocumentRow.id, document_ids))

    def list(
        self,
        catalog_id: str,
        *,
        fields: Mapping[str, FilterValue] | None = None,
        types: Sequence[str] = (),
        min_rating: float | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PlacePage:
        """A page of the places of a catalog, sorted by title, then id.

        A place matches if it has all values in `fields`, any of the `types`, and a rating of at
        least `min_rating`, which unrated places never reach.
        """
        conditions = list(_conditions(fields or {}, types, min_rating))
        matching = select(PlaceRow).where(PlaceRow.catalogue_id == catalog_id, *conditions)
        count = matching.with_only_columns(func.count())
        page = matching.order_by(*_BY_TITLE).offset(offset).limit(limit)
        with self._database.read() as session:
            places = tuple(_place(row) for row in session.scalars(page))
            return PlacePage(places, session.scalar(count) or 0)


def _conditions(
    fields: Mapping[str, FilterValue], types: Sequence[str], min_rating: float | None
) -> Iterator[ColumnElement[bool]]:
    for name, value in fields.items():
        yield or_(*(_contains(PlaceRow.fields, entry) for entry in _entries(name, value)))
    if types:
        yield or_(*(_contains(PlaceRow.types, one) for one in _json_texts(types)))
    if min_rating is not None:
        yield PlaceRow.rating >= min_rating


def _entries(name: str, value: FilterValue) -> list[str]:
    """The JSON texts of which the fields of a matching place contain one."""
    return [f"{json_text(name)}: {encoded}" for encoded in _json_texts(values_of(value))]


def _json_texts(values: Iterable[str]) -> list[str]:
    """The values as JSON, in each Unicode form, because earlier imports did not compose them."""
    return [json_text(form) for one in values for form in sorted(forms_of(one))]


def _has_any(text: str, parts: Iterable[str]) -> bool:
    """Whether the text contains one of the parts; exact as far as `_contains` is."""
    return any(part in text for part in parts)


def _contains(column: InstrumentedAttribute[Any], encoded: str) -> ColumnElement[bool]:
    # This does not use a JSON path, because SQLite before 3.45 does not find names with escapes
    # (such as all Korean names), or LIKE, which ignores case. It is exact unless a name or type
    # contains a quotation mark.
    text = cast(column, Text)
    return func.replace(text, encoded, "") != text


def _pattern(rank: int, *data: Any) -> Pattern:
    aspect, group, praises, count, reviews, quotes = data
    words = tuple(Quote(*quote) for quote in quotes)
    return Pattern(aspect, group, praises, count, reviews, words, rank)


def _place(row: PlaceRow) -> Place:
    return from_row(Place, row, reviews=row.ratings)
