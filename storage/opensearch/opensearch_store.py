"""The store of an index on an OpenSearch cluster: one document per passage."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from domain import Metadata
from domain.errors import StorageError, StorageUnavailableError
from domain.messages import _
from storage.base_store import EmbeddingsFor, IndexStore, Inspection, NewPassage
from storage.keywords.keyword_index import token_text
from storage.ledger.index_store import Index
from storage.opensearch.opensearch_vector_store import OpenSearchPassages
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.search_cluster import SearchCluster
from storage.opensearch.vector_rows import VectorRows
from storage.opensearch.word_index import WordIndex
from storage.vectors.new_rows import new_rows

if TYPE_CHECKING:
    from storage.keywords.filtered_keywords import Matching


NO_CLUSTER = _(
    "The index is on an OpenSearch server: set FOOTNOTE_SEARCH_URL to its address, or rebuild the"
    " index in the data folder with `python cli.py reindex`."
)
"""The error of an index on OpenSearch while no server is configured."""


class OpenSearchStore(IndexStore):
    """An index on a cluster; without a cluster, every use raises StorageError."""

    def __init__(
        self, index: Index, cluster: SearchCluster | None, embeddings_for: EmbeddingsFor
    ) -> None:
        super().__init__(index, embeddings_for)
        self._cluster = cluster

    def create(self, others: Sequence[Index]) -> None:
        """Check that the cluster can hold the index, which its first passages create."""
        self._require_cluster().require_usable(others)

    def remove(self) -> bool:
        """See `IndexStore`; False without a cluster."""
        if self._cluster is not None:
            self._cluster.delete(self.index)
        return self._cluster is not None

    def publish(self, others: Sequence[Index]) -> None:
        """Make the alias name this index."""
        if self._cluster is not None:
            self._cluster.publish(self.index, others)

    @cached_property
    def passages(self) -> OpenSearchPassages:
        """The vector store."""
        return OpenSearchPassages(self._passage_index, self.embedding)

    def words(self, in_ledger: "Matching | None" = None) -> WordIndex:  # noqa: ARG002
        """The words with filters; vectors and words can only be damaged together."""
        return WordIndex(self._passage_index)

    def add(self, passages: Sequence[NewPassage], vectors: npt.NDArray[np.float32]) -> None:
        """Write vectors and words together; see `IndexStore`."""
        rows = new_rows(
            [one.id for one in passages],
            [one.text for one in passages],
            vectors,
            [one.metadata for one in passages],
        )
        tokens = {one.id: token_text(one.searchable) for one in passages}
        with self._passage_index.refresh_afterwards():
            VectorRows(self._passage_index).write(rows, [tokens[id_] for id_ in rows.ids])

    def replace_metadata(self, metadata: Mapping[str, Metadata]) -> None:
        """See `IndexStore`."""
        with self._passage_index.refresh_afterwards():
            VectorRows(self._passage_index).replace_metadata(metadata)

    def delete(self, ids: Sequence[str]) -> None:
        """See `IndexStore`."""
        self.passages.delete(ids)

    @property
    def may_be_new(self) -> bool:
        """Whether a missing index would be taken for a new one."""
        return self._cluster is not None and not self._passage_index.must_exist

    def expect_contents(self) -> None:
        """See `IndexStore`."""
        if self._cluster is not None:
            self._passage_index.must_exist = True

    def prepare(self) -> None:
        """Check the server, and that the index is there and is Footnote's."""
        self._require_cluster().require_suitable()
        self._passage_index.require_own()

    def require_usable(self) -> None:
        """Check the settings only; every request to the server reports damage."""
        self._require_cluster()

    def load(self) -> None:
        """See `prepare`."""
        self.prepare()

    def refresh(self) -> None:
        """Do nothing, because every write ends with a refresh on the server."""

    def damage(self) -> tuple[str, ...]:
        """The failures of earlier searches, without connecting."""
        return tuple(self.failures.values()) if self._cluster else (NO_CLUSTER,)

    def inspect(self) -> list[Inspection]:
        """The index as one part; raises StorageUnavailableError if the cluster can't answer."""
        name = "OpenSearch index"
        try:
            return [Inspection(name, self._passage_index.ids())]
        except StorageUnavailableError:
            raise
        except StorageError as error:
            return [Inspection(name, damage=(str(error),))]

    @cached_property
    def _passage_index(self) -> PassageIndex:
        return self._require_cluster().passage_index(self.index)

    def _require_cluster(self) -> SearchCluster:
        if self._cluster is None:
            raise StorageError(NO_CLUSTER)
        return self._cluster
