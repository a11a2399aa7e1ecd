"""The library as a whole: how much it holds, what to know about it, the index that answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from domain import Principal
from services.maintenance import MaintenanceService
from services.ranking import OpenIndex
from storage.documents import Documents
from storage.index_stores import IndexStores
from storage.indexes import Indexes


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """How much the library holds; `notices` are what a person should know or do."""

    documents: int
    passages: int
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """What was imported, and the index over it.

    `known_scripts` tells from an index's embedding which scripts its model reads (None: all).
    """

    documents: Documents
    indexes: Indexes
    stores: IndexStores
    maintenance: MaintenanceService
    known_scripts: Callable[[Mapping[str, Any]], frozenset[str] | None]

    def status(self, principal: Principal) -> LibraryStatus:
        """How much there is, and whether the index is what the settings ask for."""
        index = self.maintenance.status(principal)
        notices = (index.message,) if index.message else ()
        return LibraryStatus(index.documents, index.passages, notices)

    def document_text(self, principal: Principal, document_id: str) -> str:  # noqa: ARG002  # every call names who asks
        """The whole text of a document.

        Raises:
            NotFoundError: There is no such document (any more).
        """
        return self.documents.text(document_id)

    def open_index(self) -> OpenIndex | None:
        """The index that answers now, maybe another than a moment ago; None before any import.

        Raises:
            StorageError: Its folder is missing.
        """
        active = self.indexes.active()
        if active is None:
            return None
        store = self.stores.open(active)
        scripts = self.known_scripts(active.spec.embedding)
        return OpenIndex(store.passages, store.keywords, scripts)
