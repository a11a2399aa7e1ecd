"""Removes sources with their documents."""

from collections.abc import Sequence

from domain import ImportItem, ImportKind, ImportReport, ImportState, Outcome, Progress, Stage
from services.imports.import_turn import UNLIMITED, ImportTurn, TurnOverError
from services.imports.index_writer import FIRST_STEP_TIMEOUT_S, ActiveIndex
from services.long_work import Cancelled, OnProgress, ignore, never, stop_if
from services.sources.source_kinds import SourceKinds
from storage.index_stores import IndexStores
from storage.ledger.database import Database, in_groups
from storage.ledger.document_store import Documents, StoredVersion
from storage.ledger.lease_guard import with_lease
from storage.ledger.source_store import Sources, StoredSource

_GROUP = 200


class Removals:
    """Removes sources. A removal that was stopped is resumed by running it again."""

    def __init__(self, database: Database, stores: IndexStores, kinds: SourceKinds) -> None:
        self._database = database
        self._documents = Documents(database)
        self._stores = stores
        self._kinds = kinds

    def run(
        self,
        source: StoredSource,
        *,
        import_id: str,
        worker: str,
        turn: ImportTurn = UNLIMITED,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """Remove the documents batch by batch, then uploaded files, then the source itself.

        The documents of a batch disappear from search together. `worker` holds the lease.

        Raises:
            CancelledError: The removal was canceled, or the lease was lost; the rest stays.
            TurnOverError: The turn is over; the rest stays until the next one.
            BusyError: A reindex is running.
            StorageError: The data folder can't be written.
        """
        database = with_lease(self._database, import_id, worker)
        active = ActiveIndex(database, self._stores)
        items = self._remove(active, source, import_id, turn, on_progress, cancelled)
        with database.write():  # requires the lease, which deleting files does not
            pass
        self._kinds.get(source.kind).forget(source)
        Sources(database).remove(source.id)
        state, kind = ImportState.COMPLETED, ImportKind.REMOVAL
        return ImportReport(import_id, source.id, state, tuple(items), kind=kind)

    def _remove(
        self,
        active: ActiveIndex,
        source: StoredSource,
        import_id: str,
        turn: ImportTurn,
        on_progress: OnProgress,
        cancelled: Cancelled,
    ) -> list[ImportItem]:
        items: list[ImportItem] = []
        on_progress(Progress(Stage.LISTING, 0, 0))  # still cancelable until a removal begins
        removals = [
            _removal(key, version) for key, version in self._documents.versions(source.id).items()
        ]
        with active.step(cancelled, FIRST_STEP_TIMEOUT_S):
            _load(active, removals)
        turn.end_listing()
        for group in in_groups(removals, _GROUP):
            stop_if(cancelled)
            on_progress(Progress(Stage.REMOVING, len(items), len(removals), group[0][1].key))
            with active.step(cancelled):
                active.ledger.remove(import_id, group)
                active.collect_garbage()
            items.extend(item for _, item in group)
            if len(items) < len(removals) and turn.is_over():
                raise TurnOverError
        stop_if(cancelled)
        on_progress(Progress(Stage.REMOVING, len(items), len(removals)))  # no longer cancelable
        with active.step():
            active.collect_garbage()
        return items


def _load(active: ActiveIndex, removals: Sequence[object]) -> None:
    writer = active.writer()
    if writer and removals:
        writer.load()


def _removal(key: str, version: StoredVersion) -> tuple[str, ImportItem]:
    return version.document_id, ImportItem(
        key, version.location, Outcome.REMOVED, title=version.title
    )
