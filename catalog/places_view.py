"""The places of a catalogue one by one: listed, looked into, and what their reviews say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from catalog.catalogues import Catalogue
from catalog.patterns import TOP, tags_of
from domain import FoundPlace, Pattern, Place, Review, WantedValue
from errors import ConflictError, NotFoundError
from storage.documents import Documents
from storage.places import PlacePage, Places


@dataclass(frozen=True, slots=True)
class PlaceDetails:
    """A place with its document's text, where the spans of reviews and quotes count."""

    place: Place
    text: str
    reviews: tuple[Review, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlacesView:
    """Looks places up; `documents` holds their texts."""

    places: Places
    documents: Documents

    def page(
        self,
        catalogue: Catalogue,
        *,
        fields: Mapping[str, WantedValue],
        types: Sequence[str] = (),
        min_rating: float | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PlacePage:
        """`limit` places that match, after the first `offset`, by title.

        Raises:
            ConflictError: The catalogue has no such filter.
        """
        known = [one.name for one in catalogue.description.filters]
        if unknown := sorted(set(fields) - set(known)):
            told = ", ".join(known) or "none"
            raise ConflictError(f"There is no filter {unknown[0]!r}. The known ones are: {told}.")
        return self.places.list(
            catalogue.id,
            fields=fields,
            types=types,
            min_rating=min_rating,
            offset=offset,
            limit=limit,
        )

    def details(self, catalogue: Catalogue, place_id: str) -> PlaceDetails:
        """All that is known of a place.

        Raises:
            NotFoundError: The catalogue has none of that id.
        """
        place = self.places.get(catalogue.id, place_id)
        id_ = place.document_id
        reviews = self.places.reviews([id_]).get(id_, [])
        every = self.places.patterns([id_]).get(id_, ())
        text = self.documents.text(id_)
        return PlaceDetails(place, text, tuple(reviews), every[:TOP], tags_of(every))

    def with_patterns(self, found: Sequence[FoundPlace]) -> tuple[FoundPlace, ...]:
        """The places found, each with what its reviews say again and again, and its tags."""
        patterns = self.places.patterns([one.place.document_id for one in found])
        # A tag must know of the blame that is too rare to be shown.
        return tuple(
            replace(one, patterns=every[:TOP], tags=tags_of(every))
            for one in found
            for every in [patterns.get(one.place.document_id, ())]
        )

    def text_of(self, document_id: str) -> str | None:
        """The text of a place's document; None where it is gone."""
        try:
            return self.documents.text(document_id)
        except NotFoundError:
            return None
