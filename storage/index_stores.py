"""Opens the stores of indexes: in a folder each, or on an OpenSearch cluster."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain.messages import _
from errors import StorageError
from storage.base_store import NO_CLUSTER, EmbeddingsFor, IndexStore
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
        """Create the folder of a new index, or check that the cluster can hold it, and open it.

        `others` are the other indexes of the library.

        Raises:
            StorageError: The folder can't be created, or the cluster can't be used.
            ConfigError: The server is not a suitable OpenSearch.
        """
        if index.spec.engine is Engine.OPENSEARCH:
            self._require_cluster().require_usable(others)
        else:
            _create_folder(self.folder(index.id))
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
        """Make the alias on the cluster name the active index, for other programs.

        Raises:
            StorageError: The cluster failed; call it again later.
        """
        if self._cluster is not None and active.spec.engine is Engine.OPENSEARCH:
            self._cluster.publish(active, others)

    def delete(self, index: Index) -> bool:
        """Delete an index; False if another process keeps a file open, or without its cluster.

        Raises:
            StorageError: The cluster failed; the index may still exist.
        """
        with self._opening:
            self._open.pop(index.id, None)
        if index.spec.engine is Engine.OPENSEARCH:
            if self._cluster is not None:
                self._cluster.delete(index)
            return self._cluster is not None
        shutil.rmtree(self.folder(index.id), ignore_errors=True)
        return not self.folder(index.id).exists()

    def _require_cluster(self) -> "SearchCluster":
        if self._cluster is None:
            raise StorageError(NO_CLUSTER)
        return self._cluster


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            _("{folder} can't be created: {strerror}").format(
                folder=folder, strerror=error.strerror
            )
        ) from error


def open_store(indexes: Indexes, stores: IndexStores, index: Index) -> IndexStore:
    """The store of an index; all its parts must exist if the ledger lists passages in it."""
    store = stores.open(index)
    if store.may_be_new and indexes.passages(index.id):
        store.expect_contents()
    return store
