"""The library as a whole: how much it holds, what to know about it, the index that answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain import Principal
from services.loading import LOADING
from services.maintenance import MaintenanceService
from services.open_store import open_store
from storage.documents import Documents
from storage.index_stores import IndexStores
from storage.indexes import Indexes
from storage.ledger_filter import LedgerFilter
from storage.sources import Sources

if TYPE_CHECKING:
    from services.ranking import OpenIndex

ONE_ANSWERS = (
    "Until then searches are answered by the other part of the index: what is found, and its"
    " order, may differ."
)


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

    `known_scripts` tells from an index's embedding which scripts its model reads (None: all), and
    `is_calibrated` whether the scale of its cosines is known;
    `samples` is the folder of the documents that ship with Footnote; `embedding_notice` says what
    a person should know about the embedding of the settings, if anything.
    """

    documents: Documents
    sources: Sources
    indexes: Indexes
    stores: IndexStores
    maintenance: MaintenanceService
    known_scripts: Callable[[Mapping[str, Any]], frozenset[str] | None]
    is_calibrated: Callable[[Mapping[str, Any]], bool]
    samples: Path
    ledger_filter: LedgerFilter
    embedding_notice: str = ""

    def status(self, principal: Principal) -> LibraryStatus:
        """How much there is, whether the index is sound and what the settings ask for.

        No index is opened: beside the ledger it looks at the sizes of files.
        """
        index = self.maintenance.status(principal)
        notices = (index.problem, *self.damage(), index.message, self.embedding_notice)
        shown = tuple(dict.fromkeys(filter(None, notices)))
        return LibraryStatus(index.documents, index.passages, shown, self._has_samples())

    def damage(self) -> tuple[str, ...]:
        """Why a store of the index that answers can't be used, in words, and what answers instead.

        Known from the sizes of its files and from earlier searches of this process.
        """
        active = self.indexes.active()
        if active is None:
            return ()
        found = open_store(self.indexes, self.stores, active).damage()
        return (*found, ONE_ANSWERS) if len(found) == 1 else (*dict.fromkeys(found),)

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
        store = open_store(self.indexes, self.stores, active)
        return OpenIndex(
            store.passages,
            store.keywords,
            self.known_scripts(active.spec.embedding),
            self.is_calibrated(active.spec.embedding),
            partial(self.ledger_filter.allowed, active.id),
            store.failures,
        )

    def _has_samples(self) -> bool:
        folder = str(self.samples.resolve())
        ids = [source.id for source in self.sources.list() if source.location == folder]
        return any(self.documents.list(source_id, limit=1) for source_id in ids)
