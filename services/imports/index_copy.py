"""Copies passages of an index with their vectors, without splitting or embedding again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from domain import Progress, Stage
from domain.errors import StorageError
from domain.messages import _
from services.imports.index_writer import Entry, IndexWriter
from services.long_work import Cancelled, OnProgress, ignore, never, stop_if
from storage.base_store import IndexStore
from storage.ledger.database import in_groups
from storage.ledger.document_store import Documents

if TYPE_CHECKING:
    import numpy as np

_DOCUMENTS_PER_STEP = 500


def copy_passages(
    documents: Documents,
    source: IndexStore,
    writer: IndexWriter,
    on_progress: OnProgress = ignore,
    cancelled: Cancelled = never,
) -> int:
    """Copy the passages of the documents that the index of the writer lacks; returns their number.

    A copy that was interrupted is resumed. The caller holds the lock of the library.

    Raises:
        CancelledError: The work was canceled between two steps.
        StorageError: The index lacks a vector, or the copy can't be written.
    """
    source.refresh()
    writer.collect_garbage()
    missing = list(documents.ids(missing_in=writer.index.id))
    copied = 0
    for number, ids in enumerate(in_groups(missing, _DOCUMENTS_PER_STEP)):
        stop_if(cancelled)
        pairs = documents.with_passages(ids, source.index.id)
        entries = [Entry(document, passage) for document, passage in pairs]
        if entries:
            writer.add(entries, _vectors(source, entries), cancelled)
        copied += len(entries)
        done = number * _DOCUMENTS_PER_STEP + len(ids)
        on_progress(Progress(Stage.INDEXING, done, len(missing), passages=copied))
    return copied


def _vectors(source: IndexStore, entries: Sequence[Entry]) -> "np.ndarray":
    import numpy as np  # slow to import, and rarely needed

    ids = [entry.passage.id for entry in entries]
    stored = source.passages.vectors_of(ids)
    if len(stored) < len(ids):
        raise StorageError(
            _(
                "The vector store lacks {count} passages of the library: run `python cli.py check`,"
                " then `python cli.py reindex`."
            ).format(count=len(ids) - len(stored))
        )
    return np.stack([stored[id_] for id_ in ids])
