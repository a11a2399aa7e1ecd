"""Brings the library up to date with a source."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from domain import ImportReport, ImportState, Principal
from errors import BusyError, NotFoundError
from services.import_plan import Plan
from services.import_run import ImportRun, Loader, Target
from services.import_verdict import report_of
from services.index_writer import IndexWriter, sweep_active
from services.job import Job
from services.open_store import open_store
from services.own_sources import sees
from services.planner import Planner
from services.progress import Cancelled, OnProgress, ignore, never
from services.refiling import Refiling
from storage.database import Database
from storage.documents import Documents
from storage.import_leases import ImportLeases
from storage.imports import Imports
from storage.index_stores import IndexStores
from storage.indexes import Indexes, IndexSpec, IndexState, new_index
from storage.ledger import Ledger
from storage.lock import writer_lock
from storage.processes import process_name
from storage.sources import Sources, StoredSource

_LOCK_TIMEOUT_S = 2.0
_QUEUED_LOCK_TIMEOUT_S = 0.0  # asked again in a moment; meanwhile it stands as queued


class ImportService:
    """Imports sources, one import at a time for a data folder."""

    def __init__(
        self, database: Database, stores: IndexStores, wanted: IndexSpec, formats_version: int
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            database: The ledger.
            stores: The indexes' folders.
            wanted: What the first index is made with; later imports write into the active one,
                with the model and the splitter it was made with.
            formats_version: Of the readers; documents read by another are read again.
        """
        self._stores = stores
        self._wanted = wanted
        self._formats_version = formats_version
        self._documents = Documents(database)
        self._imports = Imports(database)
        self._sources = Sources(database)
        self._planner = Planner(self._imports, formats_version)
        self._leases = ImportLeases(database)
        self._indexes = Indexes(database)
        self._ledger = Ledger(database)
        self._refiling = Refiling(self._documents, self._ledger, self._indexes, stores)

    @property
    def has_index(self) -> bool:
        """Whether any document was ever imported, gone or not."""
        return self._indexes.active() is not None

    @property
    def data_dir(self) -> Path:
        """The folder that the library is kept in."""
        return self._stores.data_dir

    def run(
        self,
        principal: Principal,
        source: StoredSource,
        loader: Loader,
        *,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
        confirm_removals: bool = False,
    ) -> ImportReport:
        """Make the library hold exactly what the source holds now.

        Documents appear batch by batch, each whole and in one version. One that can't be read
        is an item with the reason, and its older version stays. With the wish to stop the
        report comes at once, its state "cancelled", or "paused" where that was wished elsewhere.

        Raises:
            SourceError: The source can't be listed.
            ModelError: The embedding failed.
            BusyError: Another import or a reindex is running.
            StorageError: The data folder can't be written.
        """
        worker = process_name()
        with self._only_writer(_LOCK_TIMEOUT_S):
            import_id = self._leases.start(source.id, principal.user_id, worker)
            job = Job(
                self._leases,
                import_id,
                worker,
                otherwise=ImportState.CANCELLED,
                on_progress=on_progress,
                cancelled=cancelled,
            )
            report = job.run(
                lambda tell, stops: self._import(
                    import_id, source, loader, tell, stops, confirm_removals=confirm_removals
                )
            )
        return report or self._imports.get(import_id)

    def perform(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        source: StoredSource,
        loader: Loader,
        *,
        import_id: str,
        keys: Sequence[str] = (),
        confirm_removals: bool = False,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """Do an import that the queue holds, or what is left of it; its caller settles it.

        Args:
            principal: Who asked for it.
            source: What to import.
            loader: Reads it.
            import_id: The import. No document that it has an item of gets a second one.
            keys: Confine it to these documents, and read them even if nothing has changed.
            confirm_removals: Remove documents even if most of the source is gone.
            on_progress: Is told of each stage of each document.
            cancelled: The wish to stop.

        Raises:
            CancelledError: It was to stop; what was written until then stays.
            SourceError: The source can't be listed.
            ModelError: The embedding failed.
            BusyError: Another import or a reindex is running.
            StorageError: The data folder can't be written.
        """
        with self._only_writer(_QUEUED_LOCK_TIMEOUT_S):
            return self._import(
                import_id,
                source,
                loader,
                on_progress,
                cancelled,
                keys=keys,
                confirm_removals=confirm_removals,
            )

    def report(self, principal: Principal, import_id: str) -> ImportReport:
        """What an import did, or has done so far.

        Raises:
            NotFoundError: There is no such import, or its source is another's.
        """
        report = self._imports.get(import_id)
        if not sees(self._sources, principal, report.source_id):
            raise NotFoundError(
                f"There is no import {import_id}, or not any more: look at the list."
            )
        return report

    def latest(self, principal: Principal, source: StoredSource) -> ImportReport | None:  # noqa: ARG002  # every call names who asks
        """The report of the source's most recent import."""
        return self._imports.latest(source.id)

    @contextmanager
    def _only_writer(self, timeout_s: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(writer_lock(self._stores.data_dir, timeout_s=timeout_s))
            except BusyError as error:
                raise BusyError(f"An import is running, or a reindex. {error}") from error
            yield

    def _import(
        self,
        import_id: str,
        source: StoredSource,
        loader: Loader,
        on_progress: OnProgress,
        cancelled: Cancelled,
        *,
        keys: Sequence[str] = (),
        confirm_removals: bool,
    ) -> ImportReport:
        run = ImportRun(
            import_id=import_id,
            source=source,
            loader=loader,
            ledger=self._ledger,
            imports=self._imports,
            # Asked for by the first document to be read: without one there is no index yet.
            target=cache(self._target),
            formats_version=self._formats_version,
            on_progress=on_progress,
            cancelled=cancelled,
            items=list(self._imports.get(import_id).items),
        )
        sweep_active(self._ledger, self._indexes, self._stores)
        known = self._documents.known(source.id)
        self._refiling.run(source, known, cancelled)
        work = self._planner.plan(
            source,
            loader,
            known,
            on_progress,
            cancelled,
            keys=keys,
            confirm_removals=confirm_removals,
        )
        if work.options:
            self._sources.set_options(source.id, work.options)
        run.execute(work, known)
        if not keys:
            self._leave_mark(source, work)
        return report_of(run, work.held_back)

    def _leave_mark(self, source: StoredSource, work: Plan) -> None:
        """Let the next listing begin here, unless something of this one is still to be done.

        What could not even be listed, such as a file too large, may stay so for ever: it has no
        version, and loaders are told of it each time.
        """
        if work.mark is None or work.held_back:
            return
        failures = self._imports.failures(source.id).values()
        if not any(one.again and one.version for one in failures):
            self._sources.mark(source.id, work.mark)

    def _target(self) -> Target:
        index = self._indexes.active()
        if index is None:
            index = new_index(self._wanted, IndexState.ACTIVE)
            self._stores.create(index)
            self._indexes.add(index)
        writer = IndexWriter(self._ledger, open_store(self._indexes, self._stores, index))
        return Target(writer, index.id, index.spec)
