"""The folders of indexes, each with its two stores, opened when they are first used."""

import shutil
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errors import StorageError
from storage.indexes import Index
from storage.passage_files import PassageFiles
from storage.segment_files import SegmentFiles

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from storage.keyword_index import KeywordIndex
    from storage.passages import DeepLakePassages


class IndexStore:
    """The passages and the words of one index, and the model it was made with."""

    def __init__(self, index: Index, folder: Path, load: "Callable[[], Embeddings]") -> None:
        self.index = index
        self._folder = folder
        self._load = load
        self.passage_files = PassageFiles(folder / "passages")
        self.keyword_files = SegmentFiles(folder / "keywords")
        self.failures: dict[str, str] = {}
        """By what a store holds, why it could not be read when a search last needed it."""

    @cached_property
    def embedding(self) -> "Embeddings":
        """The model, loaded when the first text is embedded."""
        from storage.lazy_embeddings import LazyEmbeddings  # loads LangChain

        return LazyEmbeddings(self._load)

    @cached_property
    def passages(self) -> "DeepLakePassages":
        """The vector store."""
        from storage.passages import DeepLakePassages  # slow to import

        files = self.passage_files
        return DeepLakePassages(self.existing_folder() / "passages", self.embedding, files=files)

    @cached_property
    def keywords(self) -> "KeywordIndex":
        """The keyword index."""
        from storage.keyword_index import KeywordIndex  # slow to import

        return KeywordIndex(self.existing_folder() / "keywords", files=self.keyword_files)

    @property
    def is_complete(self) -> bool:
        """Whether both stores were begun."""
        return all(files.exist() for files in self._files)

    def expect_files(self) -> None:
        """From now on a store without files is damaged, not new."""
        for files in self._files:
            files.must_exist = True

    def record_first(self) -> None:
        """List the files of an index that an earlier version of this program wrote.

        Raises:
            BusyError: Another process writes to it.
            StorageError: Its folder can't be written to.
        """
        for files in self._files:
            files.record_first()

    def require_sound(self, *, contents: bool = True) -> None:
        """Make sure that both stores may be read and written; see `IndexFiles.problems`.

        Raises:
            DamagedIndexError: A file of one is damaged; it is named.
            StorageError: The folder is missing.
        """
        self.existing_folder()
        for files in self._files:
            files.require_sound(contents=contents)

    def damage(self) -> tuple[str, ...]:
        """Why each store that can't be used can't be, as far as sizes and earlier searches tell.

        Where the folder is missing, both say so in the same words.
        """
        found = dict(self.failures)
        for files in self._files:
            try:
                self.existing_folder()
                files.require_sound(contents=False)
            except StorageError as error:
                found[files.what] = str(error)
        return tuple(found.values())

    @property
    def _files(self) -> tuple[PassageFiles, SegmentFiles]:
        return self.passage_files, self.keyword_files

    def existing_folder(self) -> Path:
        """Where both stores lie.

        A store that opens an absent folder would begin a new, empty index without a word.

        Raises:
            StorageError: It is missing.
        """
        if not self._folder.is_dir():
            raise StorageError(
                f"the index in {self._folder} is missing: rebuild it with `python cli.py reindex`"
            )
        return self._folder


class IndexStores:
    """Opens each index once for this process."""

    def __init__(
        self, data_dir: Path, embeddings_for: Callable[[Mapping[str, Any]], "Embeddings"]
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            data_dir: The data folder.
            embeddings_for: Loads the model that an `IndexSpec.embedding` describes.
        """
        self.data_dir = data_dir
        self._embeddings_for = embeddings_for
        self._open: dict[str, IndexStore] = {}
        self._opening = threading.Lock()

    def folder(self, index_id: str) -> Path:
        """Where an index lies."""
        return self.data_dir / "indexes" / index_id

    def create(self, index: Index) -> IndexStore:
        """Make the folder of a new index, and open it.

        Raises:
            StorageError: The folder can't be made.
        """
        folder = self.folder(index.id)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{folder} can't be created: {error.strerror}") from error
        return self.open(index)

    def open(self, index: Index) -> IndexStore:
        """The stores of an index; the same object each time."""
        with self._opening:
            if index.id not in self._open:
                self._open[index.id] = self.open_afresh(index)
                # A reindex needs two; what was open before belongs to an index that is gone.
                for earlier in list(self._open)[:-2]:
                    del self._open[earlier]
            return self._open[index.id]

    def open_afresh(self, index: Index) -> IndexStore:
        """The stores of an index as they lie on the disk this very moment.

        Those that stay open may be half a second behind other processes.
        """
        return IndexStore(
            index, self.folder(index.id), lambda: self._embeddings_for(index.spec.embedding)
        )

    def delete(self, index_id: str) -> bool:
        """Delete an index's folder; False where another process still holds a file of it."""
        with self._opening:
            self._open.pop(index_id, None)
        shutil.rmtree(self.folder(index_id), ignore_errors=True)
        return not self.folder(index_id).exists()
