"""The library as a whole: its size, its notices, and its active index."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from domain import Principal
from domain.messages import _
from services.import_lock import LOADING
from services.imports.maintenance import MaintenanceService
from storage.index_stores import IndexStores, open_store
from storage.ledger.document_store import Documents
from storage.ledger.index_store import Indexes
from storage.ledger.passage_finder import LedgerFilter
from storage.ledger.source_store import Sources

if TYPE_CHECKING:
    from services.search.ranking import OpenIndex

PARTLY_DAMAGED = _(
    "Until then, searches use the other part of the index: the results and their order may differ."
)


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """The size of the library, and `notices` that people should know or act on.

    `has_samples` is True if it contains documents that ship with Footnote.
    """

    documents: int
    passages: int
    notices: tuple[str, ...] = ()
    has_samples: bool = False


@dataclass(frozen=True)
class Library:
    """The imported documents and their index.

    `samples` is the folder of the documents that ship with Footnote; `embedding_notice` is a
    notice about the configured embedding, or "".
    """

    documents: Documents
    sources: Sources
    indexes: Indexes
    stores: IndexStores
    maintenance: MaintenanceService
    samples: Path
    ledger_filter: LedgerFilter
    embedding_notice: str = ""

    def status(self, principal: Principal) -> LibraryStatus:
        """The size and the notices of the library, without opening an index."""
        index = self.maintenance.status(principal)
        notices = (index.problem, *self.damage(), index.message, self.embedding_notice)
        unique = tuple(dict.fromkeys(filter(None, notices)))
        return LibraryStatus(index.documents, index.passages, unique, self._has_samples())

    def damage(self) -> tuple[str, ...]:
        """Messages about damaged stores of the active index, and their substitutes in searches.

        They are based on the sizes of its files and on earlier searches of this process.
        """
        active = self.indexes.active()
        if active is None:
            return ()
        damages = open_store(self.indexes, self.stores, active).damage()
        return (*damages, PARTLY_DAMAGED) if len(damages) == 1 else (*dict.fromkeys(damages),)

    def open_index(self) -> "OpenIndex | None":
        """The active index, which a reindex may replace at any time; None before any import.

        Raises:
            StorageError: Its folder is missing.
        """
        with LOADING:
            from models.embedding_choice import EmbeddingSpec, is_calibrated, known_scripts
            from services.search.ranking import OpenIndex  # slow, and needed only for searches

        active = self.indexes.active()
        if active is None:
            return None
        store = open_store(self.indexes, self.stores, active)
        embedding = EmbeddingSpec(**active.spec.embedding)
        return OpenIndex(
            store.passages,
            store.keywords,
            known_scripts(embedding),
            is_calibrated(embedding),
            partial(self.ledger_filter.allowed, active.id),
            store.failures,
        )

    def _has_samples(self) -> bool:
        folder = str(self.samples.resolve())
        ids = [source.id for source in self.sources.list() if source.location == folder]
        return any(self.documents.list(source_id, limit=1) for source_id in ids)
