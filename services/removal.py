"""Takes a source out of the library, with all of its documents."""

from collections.abc import Callable

from domain import ImportItem, ImportKind, ImportReport, ImportState, Outcome, Principal
from services.index_writer import active_writer
from services.progress import Cancelled, OnProgress, Progress, Stage, ignore, never, stop_if
from storage.documents import Documents, KnownVersion
from storage.groups import in_groups
from storage.index_stores import IndexStores
from storage.indexes import Indexes
from storage.ledger import Ledger
from storage.lock import writer_lock
from storage.sources import Sources, StoredSource

_LOCK_TIMEOUT_S = 0.0  # asked again in a moment; meanwhile it stands as queued
_GROUP = 200


class Removals:
    """Removes sources. A removal that was stopped goes on where it was when it is run again."""

    def __init__(
        self,
        sources: Sources,
        documents: Documents,
        ledger: Ledger,
        indexes: Indexes,
        stores: IndexStores,
        forget: Callable[[StoredSource], None],
    ) -> None:
        """Args are kept; `forget` deletes the files that were kept of the source's documents."""
        self._sources = sources
        self._documents = documents
        self._ledger = ledger
        self._indexes = indexes
        self._stores = stores
        self._forget = forget

    def run(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        source: StoredSource,
        *,
        import_id: str,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """Remove its documents batch by batch, then its files, then the source itself.

        Each batch is gone from the answers at once.

        Raises:
            CancelledError: The wish to stop came; the rest stays.
            BusyError: Another import or a reindex is running.
            StorageError: The data folder can't be written.
        """
        with writer_lock(self._stores.data_dir, timeout_s=_LOCK_TIMEOUT_S):
            items = self._remove(source, import_id, on_progress, cancelled)
            self._forget(source)
            self._sources.remove(source.id)
        state, kind = ImportState.COMPLETED, ImportKind.REMOVAL
        return ImportReport(import_id, source.id, state, tuple(items), kind=kind)

    def _remove(
        self,
        source: StoredSource,
        import_id: str,
        on_progress: OnProgress,
        cancelled: Cancelled,
    ) -> list[ImportItem]:
        items: list[ImportItem] = []
        on_progress(Progress(Stage.LISTING, 0, 0))  # until something is removed it can be left
        gone = [_gone(key, known) for key, known in self._documents.known(source.id).items()]
        writer = active_writer(self._ledger, self._indexes, self._stores)
        if writer and gone:
            writer.load()
        for group in in_groups(gone, _GROUP):
            stop_if(cancelled)
            on_progress(Progress(Stage.REMOVING, len(items), len(gone), group[0][1].key))
            self._ledger.remove(import_id, group)
            if writer:
                writer.sweep()
            items.extend(item for _, item in group)
        stop_if(cancelled)
        on_progress(Progress(Stage.REMOVING, len(items), len(gone)))  # not left any more
        if writer:
            writer.sweep()
        return items


def _gone(key: str, known: KnownVersion) -> tuple[str, ImportItem]:
    return known.document_id, ImportItem(key, known.location, Outcome.GONE, title=known.title)
