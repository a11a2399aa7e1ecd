"""The library as a whole: how much it holds, what to know about it, the index that answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain import Principal
from services.loading import LOADING
from services.maintenance import MaintenanceService
from storage.documents import Documents
from storage.index_stores import IndexStores
from storage.indexes import Indexes
from storage.sources import Sources

if TYPE_CHECKING:
    from services.ranking import OpenIndex


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """How much the library holds; `notices` are what a person should know or do.

    `has_samples` is true where documents that ship with Footnote are in it.
    """

    documents: int
    passages: int
    notices: tuple[str, ...] = ()
    has_samples: bool = False


@dataclass(frozen=True)
class Library:
    """What was imported, and the index over it.

    `known_scripts` tells from an index's embedding which scripts its model reads (None: all);
    `samples` is the folder of the documents that ship with Footnote.
    """

    documents: Documents
    sources: Sources
    indexes: Indexes
    stores: IndexStores
    maintenance: MaintenanceService
    known_scripts: Callable[[Mapping[str, Any]], frozenset[str] | None]
    samples: Path

    def status(self, principal: Principal) -> LibraryStatus:
        """How much there is, whether the index is sound and what the settings ask for.

        It asks the ledger alone: no index is opened.
        """
        index = self.maintenance.status(principal)
        notices = tuple(notice for notice in (index.problem, index.message) if notice)
        return LibraryStatus(index.documents, index.passages, notices, self._has_samples())

    def open_index(self) -> "OpenIndex | None":
        """The index that answers now, maybe another than a moment ago; None before any import.

        Raises:
            StorageError: Its folder is missing.
        """
        with LOADING:
            from services.ranking import OpenIndex  # slow, and only searching needs it

        active = self.indexes.active()
        if active is None:
            return None
        store = self.stores.open(active)
        scripts = self.known_scripts(active.spec.embedding)
        return OpenIndex(store.passages, store.keywords, scripts)

    def _has_samples(self) -> bool:
        folder = str(self.samples.resolve())
        ids = [source.id for source in self.sources.list() if source.location == folder]
        return any(self.documents.list(source_id, limit=1) for source_id in ids)
