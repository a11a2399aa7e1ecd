"""The services around catalogues: questions about their places, and the people who ask."""

from collections.abc import Generator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bootstrap.importing import SourceServices

if TYPE_CHECKING:
    from catalog.asking import Asker
    from catalog.importing import CatalogueImports
    from catalog.people import PeopleService
    from catalog.places_view import PlacesView
    from catalog.service import CatalogueService
    from domain import Passage
    from services.library import Library
    from storage.documents import StoredDocument
    from storage.places import Places

T = TypeVar("T")
SAMPLE = Path(__file__).parents[1] / "sample_catalogues" / "restaurants"


class CatalogueServices(SourceServices):
    """Built when first used, as all services are; catalogues are sources too."""

    if TYPE_CHECKING:

        @property
        def library(self) -> "Library":
            """What was imported, as a whole."""

    @cached_property
    def catalogue(self) -> "CatalogueService":
        """Questions about catalogues, and their places."""
        from catalog.catalogues import Catalogues
        from catalog.service import CatalogueService
        from storage.sources import Sources

        known = Catalogues(Sources(self._parts.database), self._places)
        return CatalogueService(
            known, self._places_view, self.people, self._make_asker, self._within_time
        )

    @cached_property
    def people(self) -> "PeopleService":
        """What people prefer."""
        from catalog.people import PeopleService
        from storage.people import People
        from storage.sources import Sources

        database = self._parts.database
        return PeopleService(People(database), Sources(database))

    @cached_property
    def catalogue_imports(self) -> "CatalogueImports":
        """Catalogues that are added, and imported at once."""
        from catalog.importing import CatalogueImports

        return CatalogueImports(self.sources, self.source_kinds, self.queue, self.imports, SAMPLE)

    @property
    def _places_view(self) -> "PlacesView":
        from catalog.places_view import PlacesView
        from storage.documents import Documents

        return PlacesView(self._places, Documents(self._parts.database))

    @cached_property
    def _places(self) -> "Places":
        """The same for all: it keeps what it has counted."""
        from storage.places import Places

        return Places(self._parts.database)

    def _make_asker(self) -> "Asker":
        from catalog.asking import Asker
        from catalog.search_engine import SearchEngine
        from storage.documents import Documents

        parts = self._parts
        documents = Documents(parts.database)
        options, reranking = parts.catalogue_options, parts.reranking
        engine = SearchEngine(self.library, documents, self._places, options, reranking)
        model, label = parts.answering_model
        return Asker(engine, self._places_view, self._passages_of, model, label)

    def _within_time(self, work: Generator[T, None, None]) -> Generator[T, None, None]:
        from models.answer_limits import within_time

        return within_time(work, self._parts.settings.chat_answer_timeout_s)

    def _passages_of(self, document_ids: list[str]) -> "list[tuple[StoredDocument, Passage]]":
        """The passages as they are searched now."""
        active = self.library.indexes.active()
        if active is None:
            return []
        return self.library.documents.with_passages(document_ids, active.id)
