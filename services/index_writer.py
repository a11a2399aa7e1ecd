"""Writes passages into an index so that a crash at any moment leaves nothing half-visible.

1. The ledger names the new passages as discarded.
2. They are put into the vector store, 3. and into the keyword index.
4. One transaction of the ledger makes them count, and discards those they replace.
5. What is discarded is swept out of both stores.

A process killed between 1 and 4 leaves passages that are named as discarded; killed between 4
and 5, replaced ones that are. Sweeping, at the next start, removes both.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain import Passage
from language.script import script_of
from services.indexing import searchable_text
from services.open_store import open_store
from services.progress import Cancelled, Stage, stop_if
from storage.documents import StoredDocument
from storage.groups import in_groups
from storage.index_stores import IndexStore, IndexStores
from storage.indexes import Indexes
from storage.ledger import Ledger
from storage.passage_metadata import passage_metadata

if TYPE_CHECKING:
    import numpy as np

_SMALLEST_GROUP, _FIRST_GROUP, _LARGEST_GROUP = 4, 16, 128
_GROUP_S = 0.5
"""A wish to stop is heard between two groups: so long may one of them take, about."""

_WRITE_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """A passage together with the document it is from."""

    document: StoredDocument
    passage: Passage


OnPart = Callable[[Stage, int, int], None]
"""Is told the stage, and how many of how many passages are embedded."""


def _ignore(_stage: Stage, _part: int, _parts: int) -> None:
    """For whoever does not want to know."""


class IndexWriter:
    """Writes into one index. Its caller holds the data folder's writer lock."""

    def __init__(self, ledger: Ledger, index: IndexStore) -> None:
        self._ledger = ledger
        self._index = index
        self._id = index.index.id
        self._group = _FIRST_GROUP

    def write(
        self,
        entries: Sequence[Entry],
        publish: Callable[[], None],
        cancelled: Cancelled,
        on_part: OnPart = _ignore,
    ) -> None:
        """Embed the passages, put them into both stores and let `publish` make them count.

        `on_part` hears of WRITING before anything is written.

        Raises:
            CancelledError: The wish to stop came; what was put into the stores does not count, and
                is swept out later.
            DamagedIndexError: A store is damaged; nothing was written.
        """
        vectors = self._embedded(entries, cancelled, on_part)
        self.load()
        on_part(Stage.WRITING, len(entries), len(entries))
        self._ledger.announce(self._id, [entry.passage.id for entry in entries])
        for start in range(0, len(entries), _WRITE_AT_ONCE):
            end = start + _WRITE_AT_ONCE
            stop_if(cancelled)
            self._store(entries[start:end], vectors[start:end])
        publish()
        self.sweep()

    def load(self) -> None:
        """Have both stores ready: it may take seconds, and writing can't be left meanwhile.

        Raises:
            DamagedIndexError: A file of one is damaged; nothing may be written.
        """
        self._index.require_sound()
        _ = self._index.passages, self._index.keywords

    def refile(self, entries: Sequence[Entry]) -> None:
        """Let passages carry the metadata their documents have now; nothing is embedded."""
        import numpy as np

        for some in in_groups(entries, _WRITE_AT_ONCE):
            vectors = self._index.passages.vectors_of([entry.passage.id for entry in some])
            there = [entry for entry in some if entry.passage.id in vectors]
            if not there:
                continue
            self._index.passages.add_vectors(
                [entry.passage.id for entry in there],
                [entry.passage.text for entry in there],
                np.stack([vectors[entry.passage.id] for entry in there]),
                [_metadata(entry) for entry in there],
            )

    def sweep(self) -> int:
        """Delete discarded passages from both stores; how many there were.

        Raises:
            DamagedIndexError: The sizes of files say that a store is damaged.
        """
        self._index.require_sound(contents=False)
        discarded = self._ledger.discarded(self._id)
        if discarded:
            self._index.passages.delete(discarded)
            self._index.keywords.delete(discarded)
            self._ledger.forget(self._id, discarded)
        return len(discarded)

    def _embedded(
        self, entries: Sequence[Entry], cancelled: Cancelled, on_part: OnPart
    ) -> "np.ndarray":
        import numpy as np  # an import that changes nothing must not load it

        texts = [_searchable(entry) for entry in entries]
        vectors = []
        start = 0
        while start < len(texts):
            on_part(Stage.EMBEDDING, start, len(texts))
            stop_if(cancelled)
            began = time.monotonic()
            some = self._index.embedding.embed_documents(texts[start : start + self._group])
            vectors.append(np.asarray(some, dtype=np.float32))
            start += self._group
            self._group = _next_group(self._group, time.monotonic() - began)
        stop_if(cancelled)
        return np.concatenate(vectors) if vectors else np.empty((0, 0), dtype=np.float32)

    def _store(self, entries: Sequence[Entry], vectors: "np.ndarray") -> None:
        self._index.passages.add_vectors(
            [entry.passage.id for entry in entries],
            [entry.passage.text for entry in entries],
            vectors,
            [_metadata(entry) for entry in entries],
        )
        self._index.keywords.add([(entry.passage.id, _searchable(entry)) for entry in entries])


def active_writer(ledger: Ledger, indexes: Indexes, stores: IndexStores) -> IndexWriter | None:
    """Writes into the index that answers now, where there is one."""
    active = indexes.active()
    return None if active is None else IndexWriter(ledger, open_store(indexes, stores, active))


def sweep_active(ledger: Ledger, indexes: Indexes, stores: IndexStores) -> int:
    """Sweep the index that answers now, where there is one; how many passages were discarded."""
    writer = active_writer(ledger, indexes, stores)
    return 0 if writer is None else writer.sweep()


def _next_group(group: int, seconds: float) -> int:
    """Larger while the embedding is quick: an endpoint far away costs its way at each group."""
    if seconds < _GROUP_S / 2:
        return min(group * 2, _LARGEST_GROUP)
    return max(group // 2, _SMALLEST_GROUP) if seconds > _GROUP_S * 2 else group


def _searchable(entry: Entry) -> str:
    passage = entry.passage
    return searchable_text(entry.document.title, passage.heading_path, passage.text)


def _metadata(entry: Entry) -> dict[str, Any]:
    document, passage = entry.document, entry.passage
    return passage_metadata(document, passage.page, script_of(passage.text))
