"""The catalogues that a person may search, and what the data of each holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from unicodedata import normalize

from catalog.query_analyzer import RuleAnalyzer
from domain import CatalogueDescription, Principal
from errors import ConflictError
from loaders.catalogue.description import description_of
from services.catalogue_kind import KIND
from services.own_sources import own_sources
from storage.place_contents import Contents
from storage.places import Places
from storage.sources import Sources, StoredSource

NO_CATALOGUE = (
    "There is no catalogue yet: add one with `python cli.py catalogue add PATH`, or the sample"
    " with `python cli.py catalogue sample`."
)
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class CatalogueSummary:
    """A catalogue: how many places it has, and what questions about them may name.

    `filters` has by name the values that its places have, `types` the types of these.
    """

    id: str
    name: str
    places: int
    description: CatalogueDescription
    filters: Mapping[str, list[str]]
    types: list[str]

    @property
    def aspects(self) -> tuple[str, ...]:
        """The names of the aspects, in their order."""
        return self.description.aspect_names

    @property
    def groups(self) -> dict[str, Mapping[str, str]]:
        """By name, what those who wrote reviews are called by language."""
        return dict(self.description.groups)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue to be searched, with what reads questions about its places."""

    id: str
    name: str
    description: CatalogueDescription
    rules: RuleAnalyzer


class Catalogues:
    """Finds catalogues among the sources that a person may see."""

    def __init__(self, sources: Sources, places: Places) -> None:
        """Args are kept: where sources are, and where their places."""
        self._sources = sources
        self._places = places
        self._read: dict[str, tuple[str, Catalogue]] = {}

    def summaries(self, principal: Principal) -> list[CatalogueSummary]:
        """Every catalogue, by name; one that is still imported has the places it has so far."""
        return [self._summary(one) for one in self._of(principal)]

    def find(self, principal: Principal, name: str = "") -> Catalogue:
        """The catalogue of that id or name, "" for the only one.

        Raises:
            ConflictError: There is none (of that name), or several and none is named.
            SourceError: Its description can't be read any more.
        """
        source = self._named(principal, name)
        description = source.options["description"]
        held = self._places.contents(source.id)
        # What reads questions follows from these alone, so what is kept of it is never stale.
        of = json.dumps([source.name, description, held.values, held.types], sort_keys=True)
        kept, catalogue = self._read.get(source.id, ("", None))
        if catalogue is None or kept != of:
            catalogue = _catalogue(source, description_of(description), held)
            self._read[source.id] = (of, catalogue)
        return catalogue

    def _named(self, principal: Principal, name: str) -> StoredSource:
        known = self._of(principal)
        if not known:
            raise ConflictError(NO_CATALOGUE)
        wanted = normalize("NFC", name)
        named = [one for one in known if wanted in ("", one.id, normalize("NFC", one.name))]
        if len(named) == 1:
            return named[0]
        if named:
            raise ConflictError(f"Several catalogues could be meant: name one of {_listed(named)}.")
        told = repr(name[:_SHOWN_CHARS])
        raise ConflictError(f"There is no catalogue {told}: name one of {_listed(known)}.")

    def _of(self, principal: Principal) -> list[StoredSource]:
        return [one for one in own_sources(self._sources, principal).values() if one.kind == KIND]

    def _summary(self, source: StoredSource) -> CatalogueSummary:
        held = self._places.contents(source.id)
        return CatalogueSummary(
            id=source.id,
            name=source.name,
            places=self._places.list(source.id, limit=0).total,
            description=description_of(source.options["description"]),
            filters=held.values,
            types=held.types,
        )


def _catalogue(
    source: StoredSource, description: CatalogueDescription, held: Contents
) -> Catalogue:
    rules = RuleAnalyzer(description, held.values, held.types)
    return Catalogue(source.id, source.name, description, rules)


def _listed(known: list[StoredSource]) -> str:
    """Their names; of several of one name the ids."""
    names = [one.name for one in known]
    return ", ".join(one.id if names.count(one.name) > 1 else one.name for one in known)
