"""Writes passages to an index so that a crash at any time leaves no document partly visible.

1. Stage: the ledger lists the new passages as discarded.
2. The passages are added to the index: to both embedded stores in turn, or to OpenSearch.
3. Commit: one ledger transaction makes them visible and discards the passages they replace.
4. Garbage collection: discarded passages are deleted from the index.

A process killed between 1 and 3 leaves the new passages listed as discarded; a process killed
between 3 and 4 leaves the replaced ones listed. Garbage collection at the next start removes both.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from domain import Passage, Stage
from domain.errors import BusyError, StorageError
from domain.language.script import script_of
from domain.logs import get_logger
from domain.messages import _
from services.long_work import Cancelled, never, stop_if
from storage.base_store import IndexStore, NewPassage
from storage.index_stores import IndexStores, open_store
from storage.ledger.database import Database, in_groups
from storage.ledger.document_store import StoredDocument, passage_metadata
from storage.ledger.index_store import Index, Indexes, IndexSpec, IndexState, new_index
from storage.ledger.lease_guard import LeaseLostError
from storage.ledger.ledger import Ledger, NewVersion
from storage.library_lock import LibraryLock

if TYPE_CHECKING:
    import numpy as np

_log = get_logger("imports")

_MIN_BATCH, _FIRST_BATCH, _MAX_BATCH = 4, 16, 128
_BATCH_S = 0.5
"""Target duration of an embedding batch; cancellation is checked between batches."""

_PASSAGES_PER_COMMIT = 1024
_STEP_TIMEOUT_S = 20.0
"""How long a step of an import waits for those of others, which take seconds, so that the documents
it has read are not lost. A reindex takes longer."""
FIRST_STEP_TIMEOUT_S = 2.0
"""How long the first step of a run waits: nothing is lost if it returns to the queue."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A passage and its document."""

    document: StoredDocument
    passage: Passage


OnPart = Callable[[Stage, int, int], None]
"""Receives the stage, the number of embedded passages, and the total."""


def _ignore(_stage: Stage, _part: int, _parts: int) -> None:
    pass


def entries_of(versions: Sequence[NewVersion]) -> list[Entry]:
    """The passages of new versions, in order."""
    return [Entry(one.document, passage) for one in versions for passage in one.passages]


class IndexWriter:
    """Writes to one index. The caller holds the lock of the library, except to embed."""

    def __init__(self, ledger: Ledger, store: IndexStore, lock: LibraryLock) -> None:
        self._ledger = ledger
        self._store = store
        self._lock = lock
        self.index = store.index
        self._batch_size = _FIRST_BATCH

    def write(
        self,
        import_id: str,
        versions: Sequence[NewVersion],
        vectors: "np.ndarray",
        cancelled: Cancelled,
        on_part: OnPart = _ignore,
    ) -> None:
        """Replace documents by new versions: stage their passages, commit, collect garbage.

        `vectors` are those of `entries_of(versions)`. `on_part` receives WRITING before anything is
        written.

        Raises:
            CancelledError: The work was canceled, or the lease was lost; staged passages become
                garbage.
            DamagedIndexError: A store is damaged; nothing was written.
            StorageUnavailableError: The lock of the library was lost.
        """
        entries = entries_of(versions)
        self._stage(entries, vectors, cancelled, on_part)
        try:
            self._ledger.commit(self.index.id, import_id, versions)
        except LeaseLostError:
            self._ledger.stage_again(self.index.id, [entry.passage.id for entry in entries])
            raise
        self.collect_garbage()

    def add(
        self, entries: Sequence[Entry], vectors: "np.ndarray", cancelled: Cancelled = never
    ) -> None:
        """Index passages of documents that are already in the library, with their vectors.

        Raises like `write`.
        """
        self._stage(entries, vectors, cancelled, _ignore)
        self._ledger.commit_passages(self.index.id, [entry.passage for entry in entries])
        self.collect_garbage()

    def _stage(
        self,
        entries: Sequence[Entry],
        vectors: "np.ndarray",
        cancelled: Cancelled,
        on_part: OnPart,
    ) -> None:
        self.load()
        on_part(Stage.WRITING, len(entries), len(entries))
        self._ledger.stage(self.index.id, [entry.passage.id for entry in entries])
        for start in range(0, len(entries), _PASSAGES_PER_COMMIT):
            group = slice(start, start + _PASSAGES_PER_COMMIT)
            stop_if(cancelled)
            self._lock.require_held()
            self._store.add([_new_passage(entry) for entry in entries[group]], vectors[group])

    def load(self) -> None:
        """Open the index, because this may take seconds and writes must not be interrupted.

        Raises:
            DamagedIndexError: The index is damaged; nothing may be written.
        """
        self._store.load()

    def update_metadata(self, entries: Sequence[Entry]) -> None:
        """Replace the metadata of stored passages by that of their documents, without embedding."""
        for group in in_groups(entries, _PASSAGES_PER_COMMIT):
            self._lock.require_held()
            self._store.replace_metadata({entry.passage.id: _metadata(entry) for entry in group})

    def collect_garbage(self) -> None:
        """Delete discarded passages from the index.

        Raises:
            DamagedIndexError: The index is damaged.
        """
        self._store.require_usable()
        discarded = self._ledger.discards(self.index.id)
        if discarded:
            self._lock.require_held()
            self._store.delete(discarded)
            self._ledger.forget(self.index.id, discarded)

    def embed(
        self, entries: Sequence[Entry], cancelled: Cancelled = never, on_part: OnPart = _ignore
    ) -> "np.ndarray":
        """The vectors of the entries, in order. The lock is not needed, because nothing is written.

        Raises:
            CancelledError: The work was canceled.
            ModelError: The embedding failed.
        """
        import numpy as np  # slow to import, and not needed by an import without changes

        texts = [_searchable(entry) for entry in entries]
        vectors = []
        start = 0
        while start < len(texts):
            on_part(Stage.EMBEDDING, start, len(texts))
            stop_if(cancelled)
            began = time.monotonic()
            batch = self._store.embedding.embed_documents(texts[start : start + self._batch_size])
            vectors.append(np.asarray(batch, dtype=np.float32))
            start += self._batch_size
            self._batch_size = _next_batch_size(self._batch_size, time.monotonic() - began)
        stop_if(cancelled)
        return np.concatenate(vectors) if vectors else np.empty((0, 0), dtype=np.float32)


class ActiveIndex:
    """Opens the active index for writing. The caller holds its `lock`."""

    def __init__(self, database: Database, stores: IndexStores) -> None:
        self.ledger = Ledger(database)
        self.indexes = Indexes(database)
        self.stores = stores
        self.lock = LibraryLock(stores.data_dir, database)

    @contextmanager
    def step(self, cancelled: Cancelled = never, timeout_s: float | None = None) -> Iterator[None]:
        """Hold the lock for one step of an import, between which other imports write.

        Without `timeout_s`, it waits as long as the steps of others may take.

        Raises:
            BusyError: The lock is not free in time.
            CancelledError: The work was canceled while waiting.
        """
        timeout_s = _STEP_TIMEOUT_S if timeout_s is None else timeout_s
        with ExitStack() as held:
            try:
                held.enter_context(self.lock.hold(timeout_s, partial(stop_if, cancelled)))
            except BusyError as error:
                raise BusyError(
                    _("Another import or a reindex is running. {error}").format(error=error)
                ) from error
            yield

    def writer(self) -> IndexWriter | None:
        """A writer for the active index; None before the first import."""
        index = self.indexes.active()
        return None if index is None else self.writer_for(index)

    def writer_for(self, index: Index) -> IndexWriter:
        """A writer for this index, active or not."""
        return self.writer_of(open_store(self.indexes, self.stores, index))

    def writer_of(self, store: IndexStore) -> IndexWriter:
        """A writer for the index of this store."""
        return IndexWriter(self.ledger, store, self.lock)

    def current(self, writer: IndexWriter) -> IndexWriter:
        """The writer or, if a compaction has replaced its index, a writer for the new one.

        Raises:
            BusyError: A reindex with other settings has replaced the index.
        """
        index = self.indexes.active()
        if index is not None and index.id == writer.index.id:
            return writer
        if index is None or index.fingerprint != writer.index.fingerprint:
            raise BusyError(
                _("The index was rebuilt with other settings during the import: try again.")
            )
        return self.writer_for(index)

    def require_writer(self, spec: IndexSpec) -> IndexWriter:
        """A writer for the active index; creates the index from `spec` if there is none."""
        index = self.indexes.active()
        if index is None:
            return self.writer_of(self.create(spec, IndexState.ACTIVE))
        return self.writer_for(index)

    def create(self, spec: IndexSpec, state: IndexState) -> IndexStore:
        """Create an empty index, first in its store, then in the ledger, or in neither."""
        index = new_index(spec, state)
        store = self.stores.create(index, self.indexes.all())
        try:
            self.indexes.add(index)
        except (StorageError, LeaseLostError):
            with suppress(StorageError):
                self.stores.delete(index)
            raise
        return store

    def resume_or_create(self, spec: IndexSpec) -> IndexStore:
        """The unfinished index of this spec, or a new one.

        An unfinished index that has another spec or can't be opened is deleted.
        """
        building = self.indexes.building()
        if building is not None:
            store = self.stores.open(building)
            if building.fingerprint == spec.fingerprint and _opens(store):
                return store
            self.indexes.retire(building.id)
            self.delete_retired()
        return self.create(spec, IndexState.BUILDING)

    def publish(self) -> str:
        """Make the alias on a cluster name the active index; see `IndexStore.publish`.

        Returns:
            The reason if that failed, which the log has, too; "" otherwise.
        """
        index = self.indexes.active()
        try:
            if index is not None:
                self.stores.open(index).publish(self.indexes.all())
        except StorageError as error:
            _log.warning("alias not moved", reason=str(error))
            return error.readers_message
        return ""

    def activate(self, index: Index) -> str:
        """Make an index the active one and delete the one that it replaces.

        Returns:
            The reason if the alias on the cluster could not be moved, or "".

        Raises:
            StorageUnavailableError: The lock of the library was lost, so another process may have
                written to the index that would be replaced.
        """
        self.lock.require_held()
        self.indexes.activate(index.id)
        return self.publish_and_clean_up()

    def publish_and_clean_up(self) -> str:
        """Move the alias, then delete replaced indexes, to which it would otherwise still point.

        Returns the reason if the alias could not be moved; the next start tries again.
        """
        problem = self.publish()
        if not problem:
            self.delete_retired()
        return problem

    def delete_retired(self) -> None:
        """Delete the replaced indexes; if that fails, the next start tries again."""
        for index in self.indexes.retired_indexes():
            try:
                if self.stores.delete(index):
                    self.indexes.drop(index.id)
            except StorageError as error:
                _log.warning("replaced index not deleted", index=index.id, reason=str(error))
                if error.retryable:  # the other ones would only wait, too
                    return

    def collect_garbage(self) -> None:
        """Delete discarded passages from the active index."""
        if writer := self.writer():
            writer.collect_garbage()


def _opens(store: IndexStore) -> bool:
    return not any(part.damage for part in store.inspect())


def _next_batch_size(size: int, seconds: float) -> int:
    """Larger if embedding is fast, because a remote endpoint adds its latency to each batch."""
    if seconds < _BATCH_S / 2:
        return min(size * 2, _MAX_BATCH)
    return max(size // 2, _MIN_BATCH) if seconds > _BATCH_S * 2 else size


def _new_passage(entry: Entry) -> NewPassage:
    passage = entry.passage
    return NewPassage(passage.id, passage.text, _metadata(entry), _searchable(entry))


def _searchable(entry: Entry) -> str:
    passage = entry.passage
    return searchable_text(entry.document.title, passage.heading_path, passage.text)


def _metadata(entry: Entry) -> dict[str, Any]:
    document, passage = entry.document, entry.passage
    return passage_metadata(document, passage.page, script_of(passage.text))


def searchable_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """The text to embed and index: the title and headings, then the passage's text.

    A heading that repeats the title is omitted. The stored passage stays unchanged. After any
    change here, increase `ENTRIES_VERSION` in `storage.ledger.index_store`, so that older indexes
    are rebuilt.
    """
    headings = dict.fromkeys(heading for heading in (title, *heading_path) if heading)
    return "\n".join([*headings, text])
