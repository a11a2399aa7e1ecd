"""Removes a source from the library, with all its documents."""

from domain import ImportItem, ImportKind, ImportReport, ImportState, Outcome, Principal
from services.imports.index_writer import ActiveIndex
from services.long_work import Cancelled, OnProgress, Progress, Stage, ignore, never, stop_if
from services.sources.source_kinds import SourceKinds
from storage.index_stores import IndexStores
from storage.ledger.database import Database, in_groups
from storage.ledger.document_store import Documents, StoredVersion
from storage.ledger.source_store import Sources, StoredSource
from storage.lock import writer_lock

_LOCK_TIMEOUT_S = 0.0  # the run stays in the queue and is retried shortly
_GROUP = 200


class Removals:
    """Removes sources. A removal that was stopped is resumed by running it again."""

    def __init__(self, database: Database, stores: IndexStores, kinds: SourceKinds) -> None:
        self._sources = Sources(database)
        self._documents = Documents(database)
        self._active = ActiveIndex(database, stores)
        self._kinds = kinds

    def run(
        self,
        principal: Principal,  # noqa: ARG002  # every use case takes a principal
        source: StoredSource,
        *,
        import_id: str,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """Remove the documents batch by batch, then uploaded files, then the source itself.

        The documents of a batch disappear from search together.

        Raises:
            CancelledError: The removal was canceled; the rest stays.
            BusyError: Another import or a reindex is running.
            StorageError: The data folder can't be written.
        """
        with writer_lock(self._active.stores.data_dir, timeout_s=_LOCK_TIMEOUT_S):
            items = self._remove(source, import_id, on_progress, cancelled)
            self._kinds.get(source.kind).forget(source)
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
        on_progress(Progress(Stage.LISTING, 0, 0))  # still cancelable until a removal begins
        removals = [
            _removal(key, version) for key, version in self._documents.versions(source.id).items()
        ]
        writer = self._active.writer()
        if writer and removals:
            writer.load()
        for group in in_groups(removals, _GROUP):
            stop_if(cancelled)
            on_progress(Progress(Stage.REMOVING, len(items), len(removals), group[0][1].key))
            self._active.ledger.remove(import_id, group)
            if writer:
                writer.collect_garbage()
            items.extend(item for _, item in group)
        stop_if(cancelled)
        on_progress(Progress(Stage.REMOVING, len(items), len(removals)))  # no longer cancelable
        if writer:
            writer.collect_garbage()
        return items


def _removal(key: str, version: StoredVersion) -> tuple[str, ImportItem]:
    return version.document_id, ImportItem(
        key, version.location, Outcome.REMOVED, title=version.title
    )
