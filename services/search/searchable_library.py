"""The library: its size, its damage, and its active index."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from domain import Principal
from domain.errors import DamagedIndexError, StorageError
from domain.logs import get_logger
from domain.messages import _
from services.access import Access
from services.import_lock import LOADING
from services.imports.maintenance import MaintenanceService
from storage.index_stores import IndexStores, open_store
from storage.ledger.document_store import Documents
from storage.ledger.index_store import Index, Indexes
from storage.ledger.passage_finder import LedgerFilter
from storage.ledger.source_store import StoredSource

if TYPE_CHECKING:
    from services.search.ranking import OpenIndex

_log = get_logger("questions")
_Result = TypeVar("_Result")

PARTLY_DAMAGED = _(
    "Until then, searches use the other part of the index: the results and their order may differ."
)


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """The size of the library without catalogs and files of conversations; notices for users.

    `samples` is the number of its documents that ship with Footnote.
    """

    documents: int
    passages: int
    notices: tuple[str, ...] = ()
    samples: int = 0

    @property
    def has_samples(self) -> bool:
        """Whether documents that ship with Footnote are in the library."""
        return self.samples > 0

    @property
    def has_only_samples(self) -> bool:
        """Whether the library contains nothing but documents that ship with Footnote."""
        return self.has_samples and self.samples == self.documents


@dataclass(frozen=True)
class Library:
    """The imported documents and their index.

    `samples` is the folder of the documents that ship with Footnote; `embedding_notice` is a
    notice about the configured embedding, or "".
    """

    documents: Documents
    access: Access
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
        own = [one for one in self.access.own_sources(principal).values() if one.is_shared]
        totals, readers = self.access.sources.totals, self.access.readers(principal)
        documents, passages = totals([one.id for one in own], readers)
        samples, _passages = totals([one.id for one in own if self._ships(one)], readers)
        return LibraryStatus(documents, passages, unique, samples)

    def has_catalogs(self, principal: Principal) -> bool:
        """Whether there is a catalog, even if it has no places yet."""
        return any(one.is_catalog for one in self.access.own_sources(principal).values())

    def damage(self) -> tuple[str, ...]:
        """Messages about damaged stores of the active index, and their substitutes in searches.

        They are based on the sizes of its files and on earlier searches of this process.
        """
        active = self.indexes.active()
        if active is None:
            return ()
        store = open_store(self.indexes, self.stores, active)
        damages = store.damage()
        notice = (PARTLY_DAMAGED,) if 0 < len(damages) < store.parts else ()
        return (*dict.fromkeys(damages), *notice)

    def open_index(self) -> "OpenIndex | None":
        """The active index, which a reindex may replace at any time; None before any import.

        Raises:
            StorageError: Its folder is missing.
        """
        active = self.indexes.active()
        if active is None:
            return None
        try:
            return self._open(active)
        except StorageError:
            current = self.indexes.active()
            if current is None or current.id == active.id:
                raise
        return self._open(current)  # the other one has just been replaced and deleted

    def _open(self, active: Index) -> "OpenIndex":
        with LOADING:
            from models.embedding_choice import EmbeddingSpec, is_calibrated, known_scripts
            from services.search.ranking import OpenIndex  # slow, and needed only for searches

        store = open_store(self.indexes, self.stores, active)
        embedding = EmbeddingSpec(**active.spec.embedding)
        return OpenIndex(
            store.passages,
            store.words(partial(self.ledger_filter.allowed, active.id)),
            known_scripts(embedding),
            is_calibrated(embedding),
            store.failures,
        )

    def search_active(self, search: "Callable[[OpenIndex], _Result]") -> _Result | None:
        """The result of a search in the active index; None before any import.

        Another process may replace the index during the search and delete its files. If a part of
        the index can't be read and there is a replacement, the search is repeated there.

        Raises:
            DamagedIndexError: The search raises it, and there is no replacement.
            StorageError: The index is missing.
        """
        index = self.open_index()
        if index is None:
            return None
        try:
            result = search(index)
        except DamagedIndexError:
            replacement = self._replacement_of(index)
            if replacement is None:
                raise
        else:
            replacement = self._replacement_of(index) if index.failures else None
            if replacement is None:
                return result
        _log.info("index replaced during a search: searching again")
        return search(replacement)

    def _replacement_of(self, index: "OpenIndex") -> "OpenIndex | None":
        current = self.open_index()
        return None if current is None or current.passages is index.passages else current

    def _ships(self, source: StoredSource) -> bool:
        return source.location == str(self.samples.resolve())
