"""Opens the stores of indexes: in a folder each, or on an OpenSearch cluster."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from storage.base_store import EmbeddingsFor, IndexStore
from storage.embedded_store import EmbeddedStore
from storage.ledger.index_store import Engine, Index, Indexes

if TYPE_CHECKING:
    from storage.opensearch.search_cluster import SearchCluster


class IndexStores:
    """Opens each index once per process, where its spec says that it is."""

    def __init__(
        self,
        data_dir: Path,
        embeddings_for: EmbeddingsFor,
        cluster: "SearchCluster | None" = None,
    ) -> None:
        """Connect to nothing yet; without a cluster, indexes on OpenSearch can't be used."""
        self.data_dir = data_dir
        self._embeddings_for = embeddings_for
        self._cluster = cluster
        self._open: dict[str, IndexStore] = {}
        self._opening = threading.Lock()

    def folder(self, index_id: str) -> Path:
        """The folder of an embedded index, whether or not it exists."""
        return self.data_dir / "indexes" / index_id

    def create(self, index: Index, others: Sequence[Index] = ()) -> IndexStore:
        """Prepare the place of a new index and open it; see `IndexStore.create`."""
        self.open_afresh(index).create(others)
        return self.open(index)

    def open(self, index: Index) -> IndexStore:
        """The store of an index; the same object each time."""
        with self._opening:
            if index.id not in self._open:
                self._open[index.id] = self.open_afresh(index)
                # A reindex needs two stores; older ones belong to deleted indexes.
                for earlier in list(self._open)[:-2]:
                    del self._open[earlier]
            return self._open[index.id]

    def open_afresh(self, index: Index) -> IndexStore:
        """The store of an index in its current state on disk or on the cluster.

        Stores that are already open may lag half a second behind other processes.
        """
        if index.spec.engine is Engine.OPENSEARCH:
            from storage.opensearch.opensearch_store import OpenSearchStore  # rarely needed

            return OpenSearchStore(index, self._cluster, self._embeddings_for)
        return EmbeddedStore(index, self.folder(index.id), self._embeddings_for)

    def publish(self, active: Index, others: Sequence[Index]) -> None:
        """Make the active index known to other programs; see `IndexStore.publish`."""
        self.open(active).publish(others)

    def delete(self, index: Index) -> bool:
        """Delete an index; see `IndexStore.remove`."""
        with self._opening:
            self._open.pop(index.id, None)
        return self.open_afresh(index).remove()


def open_store(indexes: Indexes, stores: IndexStores, index: Index) -> IndexStore:
    """The store of an index; all its parts must exist if the ledger lists passages in it."""
    store = stores.open(index)
    if store.may_be_new and indexes.passages(index.id):
        store.expect_contents()
    return store
