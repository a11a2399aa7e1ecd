"""The folders of indexes, each with two stores that are opened on first use."""

import shutil
import threading
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.messages import _
from errors import StorageError
from storage.keywords.segment_files import SegmentFiles
from storage.ledger.index_store import Index, Indexes
from storage.vectors.passage_files import PassageFiles

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from storage.keywords.filtered_keywords import FilteredKeywords, Matching
    from storage.keywords.keyword_index import KeywordIndex
    from storage.vectors.passage_store import DeepLakePassages


EmbeddingsFor = Callable[[Mapping[str, Any]], "Embeddings"]
"""Loads the model that an `IndexSpec.embedding` describes."""


class IndexStore:
    """The vector store, the keyword index, and the embedding model of one index."""

    def __init__(self, index: Index, folder: Path, embeddings_for: EmbeddingsFor) -> None:
        self.index = index
        self._folder = folder
        self._embeddings_for = embeddings_for
        self.passage_files = PassageFiles(folder / "passages")
        self.keyword_files = SegmentFiles(folder / "keywords")
        self.failures: dict[str, str] = {}
        """By store name, the reason why the last search could not read the store."""

    @cached_property
    def embedding(self) -> "Embeddings":
        """The model, loaded when the first text is embedded."""
        from storage.vectors.passage_store import LazyEmbeddings  # loads LangChain

        return LazyEmbeddings(partial(self._embeddings_for, self.index.spec.embedding))

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
        """The keyword index with filters; `in_ledger` filters while the vector store is damaged."""
        from storage.keywords.filtered_keywords import FilteredKeywords

        return FilteredKeywords(self.keywords, self.passages, in_ledger, self.failures)

    @property
    def is_complete(self) -> bool:
        """Whether both stores have been created."""
        return all(files.exist() for files in self._files)

    def expect_files(self) -> None:
        """Treat a store without files as damaged from now on, not as new."""
        for files in self._files:
            files.must_exist = True

    def record_first(self) -> None:
        """List the files of an index that an earlier version of Footnote wrote.

        Raises:
            BusyError: Another process is writing to it.
            StorageError: Its folder can't be written to.
        """
        for files in self._files:
            files.record_first()

    def require_sound(self, *, contents: bool = True) -> None:
        """Make sure that both stores can be read and written safely; see `IndexFiles.problems`.

        Raises:
            DamagedIndexError: A file is damaged; the message names it.
            StorageError: The folder is missing.
        """
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
    """Opens each index once per process."""

    def __init__(self, data_dir: Path, embeddings_for: EmbeddingsFor) -> None:
        self.data_dir = data_dir
        self._embeddings_for = embeddings_for
        self._open: dict[str, IndexStore] = {}
        self._opening = threading.Lock()

    def folder(self, index_id: str) -> Path:
        """The folder of an index, whether or not it exists."""
        return self.data_dir / "indexes" / index_id

    def create(self, index: Index) -> IndexStore:
        """Create the folder of a new index and open it.

        Raises:
            StorageError: The folder can't be created.
        """
        folder = self.folder(index.id)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                _("{folder} can't be created: {strerror}").format(
                    folder=folder, strerror=error.strerror
                )
            ) from error
        return self.open(index)

    def open(self, index: Index) -> IndexStore:
        """The stores of an index; the same object each time."""
        with self._opening:
            if index.id not in self._open:
                self._open[index.id] = self.open_afresh(index)
                # A reindex needs two stores; older ones belong to deleted indexes.
                for earlier in list(self._open)[:-2]:
                    del self._open[earlier]
            return self._open[index.id]

    def open_afresh(self, index: Index) -> IndexStore:
        """The stores of an index in their current state on disk.

        Stores that are already open may lag half a second behind other processes.
        """
        return IndexStore(index, self.folder(index.id), self._embeddings_for)

    def delete(self, index_id: str) -> bool:
        """Delete an index's folder; False if another process keeps a file open."""
        with self._opening:
            self._open.pop(index_id, None)
        shutil.rmtree(self.folder(index_id), ignore_errors=True)
        return not self.folder(index_id).exists()


def open_store(indexes: Indexes, stores: IndexStores, index: Index) -> IndexStore:
    """The stores of an index; both must have files if the ledger lists passages in it."""
    store = stores.open(index)
    if not store.is_complete and indexes.passages(index.id):
        store.expect_files()
    return store
