"""The catalogs that a person can search, and the details of their places."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from domain import CatalogDescription, Pattern, Place, PlaceHit, Principal, Review
from domain.errors import ConflictError, NotFoundError
from domain.messages import _
from loaders.catalog.catalog_description import description_of
from services.access import Access
from services.catalog.review_patterns import TOP, tags_of
from services.catalog.rule_analyzer import RuleAnalyzer
from services.sources.catalog_kind import KIND
from storage.ledger.document_store import Documents
from storage.ledger.place_store import Places
from storage.ledger.source_store import StoredSource

NO_CATALOG = _(
    "There is no catalog yet: add one with `python cli.py catalog add PATH`, or the sample"
    " with `python cli.py catalog sample`."
)
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class CatalogSummary:
    """A catalog, its number of places, and the filter values and types that occur in it."""

    id: str
    name: str
    places: int
    description: CatalogDescription
    filters: Mapping[str, list[str]]
    types: list[str]

    @property
    def aspects(self) -> tuple[str, ...]:
        """The names of the aspects, in the order of the description."""
        return self.description.aspect_names

    @property
    def groups(self) -> dict[str, Mapping[str, str]]:
        """The groups of reviewers, with their names by language."""
        return dict(self.description.groups)


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog to search, with the rules that analyze questions about it."""

    id: str
    name: str
    description: CatalogDescription
    rules: RuleAnalyzer


@dataclass(frozen=True, slots=True)
class PlaceDetails:
    """A place with the text of its document, to which the spans of reviews and quotes refer."""

    place: Place
    text: str
    reviews: tuple[Review, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    tags: tuple[str, ...] = ()


class Catalogs:
    """Finds catalogs among the sources that a person can see, and reads their places."""

    def __init__(self, access: Access, places: Places, documents: Documents) -> None:
        self.places = places
        self._access = access
        self._documents = documents
        self._cache: dict[str, tuple[str, Catalog]] = {}

    def summaries(self, principal: Principal) -> list[CatalogSummary]:
        """All catalogs by name; one that is being imported has the places imported so far."""
        return [self._summary(source) for source in self._catalog_sources(principal)]

    def find(self, principal: Principal, name: str = "") -> Catalog:
        """The catalog with that id or name; "" finds the only one.

        Raises:
            ConflictError: There is no such catalog, or several match.
            SourceError: Its description is no longer valid.
        """
        source = self._find_source(principal, name)
        description = source.options["description"]
        contents = self.places.contents(source.id)
        # The analyzer depends on nothing else, so the one cached under this key is current.
        key = json.dumps(
            [source.name, description, contents.values, contents.types], sort_keys=True
        )
        cached_key, catalog = self._cache.get(source.id, ("", None))
        if catalog is None or cached_key != key:
            parsed = description_of(description)
            rules = RuleAnalyzer(parsed, contents.values, contents.types)
            catalog = Catalog(source.id, source.name, parsed, rules)
            self._cache[source.id] = (key, catalog)
        return catalog

    def details(self, catalog: Catalog, place_id: str) -> PlaceDetails:
        """A place with its text, reviews, patterns, and tags; its id may be in any Unicode form.

        Raises:
            NotFoundError: The catalog has no place with that id.
        """
        place = self.places.get(catalog.id, normalize("NFC", place_id))
        id_ = place.document_id
        reviews = self.places.reviews([id_]).get(id_, [])
        patterns = self.places.patterns([id_]).get(id_, ())
        text = self._documents.text(id_)
        return PlaceDetails(place, text, tuple(reviews), patterns[:TOP], tags_of(patterns))

    def with_patterns(self, hits: Sequence[PlaceHit]) -> tuple[PlaceHit, ...]:
        """The hits with their top patterns and their tags."""
        patterns = self.places.patterns([hit.place.document_id for hit in hits])
        # Tags depend on all patterns, including criticism that is too rare to be shown.
        return tuple(
            replace(hit, patterns=of_place[:TOP], tags=tags_of(of_place))
            for hit in hits
            for of_place in [patterns.get(hit.place.document_id, ())]
        )

    def text_of(self, document_id: str) -> str | None:
        """The text of a place's document; None if it was deleted."""
        try:
            return self._documents.text(document_id)
        except NotFoundError:
            return None

    def _find_source(self, principal: Principal, name: str) -> StoredSource:
        sources = self._catalog_sources(principal)
        if not sources:
            raise ConflictError(NO_CATALOG)
        target = normalize("NFC", name)
        matches = [one for one in sources if target in ("", one.id, normalize("NFC", one.name))]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise ConflictError(
                _("Several catalogs match: choose one of {names}.").format(names=_names(matches))
            )
        raise ConflictError(
            _("There is no catalog {name}: choose one of {names}.").format(
                name=repr(name[:_SHOWN_CHARS]), names=_names(sources)
            )
        )

    def _catalog_sources(self, principal: Principal) -> list[StoredSource]:
        return [one for one in self._access.own_sources(principal).values() if one.kind == KIND]

    def _summary(self, source: StoredSource) -> CatalogSummary:
        contents = self.places.contents(source.id)
        return CatalogSummary(
            id=source.id,
            name=source.name,
            places=self.places.list(source.id, limit=0).total,
            description=description_of(source.options["description"]),
            filters=contents.values,
            types=contents.types,
        )


def _names(sources: list[StoredSource]) -> str:
    """The names of the sources, or the ids of those that share a name."""
    names = [one.name for one in sources]
    return ", ".join(one.id if names.count(one.name) > 1 else one.name for one in sources)
