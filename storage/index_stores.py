"""The stores of indexes: each opened once, in a folder or on an OpenSearch cluster."""

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from domain import Metadata
from domain.errors import StorageError
from domain.messages import _
from storage.base_store import EmbeddingsFor, IndexStore, Inspection, NewPassage
from storage.index_files import IndexFiles
from storage.keywords.segment_files import SegmentFiles
from storage.ledger.index_store import Engine, Index, Indexes
from storage.vectors.deep_lake import PassageFiles

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from storage.keywords.filtered_keywords import FilteredKeywords, Matching
    from storage.keywords.keyword_index import KeywordIndex
    from storage.opensearch.search_cluster import SearchCluster
    from storage.vectors.passage_store import DeepLakePassages


class EmbeddedStore(IndexStore):
    """The vector store and the keyword index of a folder, each opened on first use."""

    parts = 2

    def __init__(self, index: Index, folder: Path, embeddings_for: EmbeddingsFor) -> None:
        super().__init__(index, embeddings_for)
        self._folder = folder
        self.passage_files = PassageFiles(folder / "passages")
        self.keyword_files = SegmentFiles(folder / "keywords")

    def create(self, others: Sequence[Index]) -> None:  # noqa: ARG002
        """Create the folder."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                _("{folder} can't be created: {strerror}").format(
                    folder=self._folder, strerror=error.strerror
                )
            ) from error

    def remove(self) -> bool:
        """Delete the folder; False if another process keeps a file open."""
        shutil.rmtree(self._folder, ignore_errors=True)
        return not self._folder.exists()

    @property
    def is_deleted(self) -> bool:
        """Whether the folder is missing."""
        return not self._folder.is_dir()

    def publish(self, others: Sequence[Index]) -> None:
        """Do nothing, because other programs do not read the folder."""

    @cached_property
    def passages(self) -> "DeepLakePassages":
        """The vector store."""
        from storage.vectors.passage_store import DeepLakePassages  # slow to import

        files = self.passage_files
        return DeepLakePassages(self.existing_folder() / "passages", self.embedding, files=files)

    @cached_property
    def keywords(self) -> "KeywordIndex":
        """The keyword index."""
        from storage.keywords.keyword_index import KeywordIndex  # slow to import

        return KeywordIndex(self.existing_folder() / "keywords", files=self.keyword_files)

    def words(self, in_ledger: "Matching | None" = None) -> "FilteredKeywords":
        """See `IndexStore`."""
        from storage.keywords.filtered_keywords import FilteredKeywords

        return FilteredKeywords(self.keywords, self.passages, in_ledger, self.failures)

    def add(self, passages: Sequence[NewPassage], vectors: "npt.NDArray[np.float32]") -> None:
        """Add passages to the vector store, then to the keyword index; see `IndexStore`."""
        self.passages.add_vectors(
            [one.id for one in passages],
            [one.text for one in passages],
            vectors,
            [one.metadata for one in passages],
        )
        self.keywords.add([(one.id, one.searchable) for one in passages])

    def replace_metadata(self, metadata: Mapping[str, Metadata]) -> None:
        """See `IndexStore`; only the vector store has metadata."""
        import numpy as np

        self.refresh()  # another process may have written the passages just now
        vectors = self.passages.vectors_of(list(metadata))
        stored = self.passages.get_by_ids(list(vectors))
        if stored:
            ids = [str(one.id) for one in stored]
            self.passages.add_vectors(
                ids,
                [one.page_content for one in stored],
                np.stack([vectors[id_] for id_ in ids]),
                [metadata[id_] for id_ in ids],
            )

    def delete(self, ids: Sequence[str]) -> None:
        """See `IndexStore`."""
        self.passages.delete(ids)
        self.keywords.delete(ids)

    @property
    def may_be_new(self) -> bool:
        """Whether a store has not been created."""
        return not all(files.exist() for files in self._files)

    @property
    def commits(self) -> int:
        """See `IndexStore`; only the vector store has a history."""
        return self.passage_files.commits()

    def expect_contents(self) -> None:
        """See `IndexStore`."""
        for files in self._files:
            files.must_exist = True

    def prepare(self) -> None:
        """Compare file sizes; check what is of unknown origin, and list it if it has no list."""
        self.require_usable()
        for files in self._files:
            files.require_readable()
            files.record_first()

    def require_usable(self) -> None:
        """Compare file sizes; see `IndexStore`."""
        self._require_sound(contents=False)

    def load(self) -> None:
        """Check the contents of all files and open both stores; see `IndexStore`."""
        self._require_sound(contents=True)
        _ = self.passages, self.keywords

    def refresh(self) -> None:
        """See `IndexStore`; only the vector store is read by id."""
        self.passages.refresh()

    def _require_sound(self, *, contents: bool) -> None:
        self.existing_folder()
        for files in self._files:
            files.require_sound(contents=contents)

    def damage(self) -> tuple[str, ...]:
        """A message for each unusable store, based on file sizes and earlier searches.

        If the folder is missing, both messages are the same.
        """
        damage = dict(self.failures)
        for files in self._files:
            try:
                self.existing_folder()
                files.require_sound(contents=False)
            except StorageError as error:
                damage[files.what] = str(error)
        return tuple(damage.values())

    def inspect(self) -> list[Inspection]:
        """Both stores; of a damaged one, only the files, as reading it could crash the process."""
        return [
            self._inspect("vector store", self.passage_files, self._passage_ids),
            self._inspect("keyword index", self.keyword_files, self._keyword_ids),
        ]

    def _inspect(
        self, part: str, files: IndexFiles, ids: Callable[[], Sequence[str]]
    ) -> Inspection:
        try:
            self.existing_folder()
            start = f"the {part} is damaged: {files.folder}/"
            damage = tuple(f"{start}{problem}" for problem in files.problems())
            return Inspection(part, () if damage else ids(), damage)
        except StorageError as error:
            return Inspection(part, damage=(str(error),))

    def _passage_ids(self) -> Sequence[str]:
        return self.passages.ids()

    def _keyword_ids(self) -> Sequence[str]:
        return self.keywords.ids()

    @property
    def _files(self) -> tuple[PassageFiles, SegmentFiles]:
        return self.passage_files, self.keyword_files

    def existing_folder(self) -> Path:
        """The folder of both stores.

        Raises:
            StorageError: The folder is missing; opening a store would silently create an empty
                one.
        """
        if not self._folder.is_dir():
            raise StorageError(
                _(
                    "the index in {folder} is missing: rebuild it with `python cli.py reindex`"
                ).format(folder=self._folder)
            )
        return self._folder


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
            self._close_replaced(index.id)
            return self._open[index.id]

    def _close_replaced(self, requested: str) -> None:
        """Release the memory of indexes that a process has deleted, and all but two others."""
        others = [id_ for id_ in self._open if id_ != requested]
        for id_ in others:
            if id_ != others[-1] or self._open[id_].is_deleted:  # a reindex needs two stores
                del self._open[id_]

    def open_afresh(self, index: Index) -> IndexStore:
        """The store of an index in its current state on disk or on the cluster.

        Stores that are already open may lag half a second behind other processes.
        """
        if index.spec.engine is Engine.OPENSEARCH:
            from storage.opensearch.opensearch_store import OpenSearchStore  # rarely needed

            return OpenSearchStore(index, self._cluster, self._embeddings_for)
        return EmbeddedStore(index, self.folder(index.id), self._embeddings_for)

    def delete(self, index: Index) -> bool:
        """Delete an index; see `IndexStore.remove`."""
        with self._opening:
            self._open.pop(index.id, None)
        return self.open_afresh(index).remove()


def open_store(indexes: Indexes, stores: IndexStores, index: Index) -> IndexStore:
    """The store of an index; its parts must exist if they do now, or if the ledger lists passages.

    Otherwise, a search would take parts that another process deletes for new ones without passages.
    """
    store = stores.open(index)
    if not store.may_be_new or indexes.passages(index.id):
        store.expect_contents()
    return store
