"""Brings the library up to date with a source, or determines what that would change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from domain import (
    DocumentRef,
    ImportItem,
    ImportKind,
    ImportReport,
    ImportState,
    Principal,
    Progress,
    Stage,
)
from domain.errors import UnreadableError
from services.access import Access
from services.imports.import_forecast import PassageForecast
from services.imports.import_plan import Loader, Plan, Planner, failed_item, list_entries
from services.imports.import_run import ImportExecution, ImportTask, final_state
from services.imports.import_turn import TurnOverError
from services.imports.index_writer import FIRST_STEP_TIMEOUT_S, ActiveIndex, searchable_text
from services.imports.leased_run import LeasedRun
from services.imports.new_version import new_version, refuse_unstorable
from services.imports.readable_records import ReadableRecords
from services.imports.refiling import update_metadata
from services.long_work import Cancelled, OnProgress, ignore, never, stop_if
from storage.index_stores import IndexStores
from storage.ledger.database import Database
from storage.ledger.document_store import Documents, StoredVersion
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_portions import Portion, with_portion
from storage.ledger.import_store import Imports, import_not_found
from storage.ledger.index_store import IndexSpec
from storage.ledger.lease_guard import with_lease
from storage.ledger.source_store import (
    Sources,
    StoredSource,
    excluded_keys,
    mirrors_permissions,
)
from storage.library_lock import LibraryLock
from storage.processes import process_name


class ImportService:
    """Imports sources."""

    def __init__(
        self,
        database: Database,
        access: Access,
        stores: IndexStores,
        default_spec: IndexSpec,
        formats_version: int,
    ) -> None:
        """Create the service.

        Args:
            database: The ledger.
            access: What principals may read.
            stores: The folders of the indexes.
            default_spec: How to create the first index; later imports use the model and splitter
                of the active index.
            formats_version: The version of the readers; documents read by another version are
                read again.
        """
        self._stores = stores
        self._default_spec = default_spec
        self._formats_version = formats_version
        self._database = database
        self._documents = Documents(database)
        self._imports = Imports(database)
        self._access = access
        self._leases = ImportLeases(database)
        self._active = ActiveIndex(database, stores)

    @property
    def has_index(self) -> bool:
        """Whether a document was ever imported, even if it has been removed since."""
        return self._active.indexes.active() is not None

    @property
    def lock(self) -> LibraryLock:
        """The lock of the library."""
        return self._active.lock

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
        """Bring the library up to date with the source.

        Documents become visible batch by batch, each complete and in one version. A document that
        can't be read is reported with the reason, and its older version stays. After a
        cancellation the state is "cancelled", or "paused" if a pause was requested elsewhere.

        Raises:
            SourceError: The source can't be listed.
            ModelError: The embedding failed.
            BusyError: Another import of the source or a reindex is running.
            StorageError: The data folder can't be written.
        """
        worker = process_name()
        with self._active.step(timeout_s=FIRST_STEP_TIMEOUT_S):
            import_id = self._leases.start(source.id, principal.user_id, worker)
        leased = LeasedRun(
            self._leases,
            import_id,
            worker,
            default_state=ImportState.CANCELLED,
            on_progress=on_progress,
            cancelled=cancelled,
        )
        task = ImportTask(import_id, worker, source, loader, confirm_removals=confirm_removals)
        report = leased.run(partial(self._perform_leased, task))
        return report or self._imports.get(import_id)

    def perform(self, task: ImportTask) -> ImportReport:
        """Perform or resume an import; the caller updates its record.

        Documents that already have an item in it don't get another one.

        Raises:
            CancelledError: The import was canceled, or its lease was lost; documents already
                written stay.
            TurnOverError: The turn is over; all documents read so far are written.
            SourceError: The source can't be listed.
            ModelError: The embedding failed.
            BusyError: A reindex is running, or has changed the settings of the index.
            StorageError: The data folder can't be written.
        """
        source, database = task.source, self._with_lease(task)
        sources = Sources(database)
        execution = self._execution(task, database)
        active = execution.active
        execution.items.extend(self._imports.get(task.import_id).items)
        with active.step(task.cancelled, FIRST_STEP_TIMEOUT_S):
            active.collect_garbage()
        stored = self._documents.versions(source.id)
        update_metadata(active, self._documents, source, stored, task.cancelled)
        planned = self._plan(task, stored)
        if planned.options:
            sources.set_options(source.id, planned.options)
        execution.execute(planned, stored)
        with active.step(task.cancelled):
            active.publish()
        if not task.keys:
            self._save_cursor(sources, source, planned)
        return execution.report(planned.withheld)

    def _perform_leased(
        self, task: ImportTask, on_progress: OnProgress, cancelled: Cancelled
    ) -> ImportReport:
        return self.perform(replace(task, on_progress=on_progress, cancelled=cancelled))

    def read_portion(self, task: ImportTask, portion: Portion) -> None:
        """Read a portion of an import that another worker performs; `task.worker` has taken it.

        Raises:
            CancelledError: The work was canceled, or the import was stopped.
            SourceError: The source can't be read.
            ModelError: The embedding failed.
            BusyError: A reindex is running, or has changed the settings of the index.
            StorageError: The data folder can't be written.
        """
        execution = self._execution(task, with_portion(self._database, portion, task.worker))
        keys = [ref.key for ref in portion.documents]
        execution.read_portion(portion, self._documents.versions(task.source.id, keys))

    def dry_run(self, task: ImportTask) -> ImportReport:
        """The outcomes and counts that an import of the source would have now.

        It plans, reads, and splits like an import, without changing documents or indexes. New and
        changed documents include pages, passages, characters, and the estimated number of tokens to
        embed. A canceled dry run can't be resumed and starts over. One whose turn is over keeps
        what it has read until its next turn.

        Raises:
            CancelledError: The work was canceled, or the lease was lost.
            TurnOverError: The turn is over.
            SourceError: The source can't be listed.
        """
        imports, stored = Imports(self._with_lease(task)), self._documents.versions(task.source.id)
        planned = self._plan(task, stored)
        index = self._active.indexes.active()
        spec = index.spec if index else self._default_spec
        read: list[ImportItem] = []
        earlier = {item.key: item for item in imports.get(task.import_id).items}
        task.turn.end_listing()
        passages, forecast = 0, PassageForecast(planned.to_read)
        for ref in planned.to_read:
            stop_if(task.cancelled)
            task.on_progress(
                Progress(
                    Stage.READING,
                    len(read),
                    len(planned.to_read),
                    ref.name,
                    passages,
                    read=passages,
                    expected=passages + forecast.rest,
                )
            )
            read.append(
                earlier.get(ref.key) or self._dry_run_item(task, ref, stored.get(ref.key), spec)
            )
            passages += read[-1].passages
            forecast.note(ref, read[-1].passages)
            _end_turn(imports, task, earlier, read)
        items = (*planned.settled, *read, *(item for _, item in planned.removals))
        imports.replace_items(task.import_id, items)
        state, _message = final_state(items, planned.withheld)
        return ImportReport(task.import_id, task.source.id, state, items, kind=ImportKind.DRY_RUN)

    def require_idle(self, source: StoredSource) -> None:
        """Make sure that no import of the source is running; otherwise raise BusyError."""
        self._leases.require_idle(source.id)

    def report(self, principal: Principal, import_id: str) -> ImportReport:
        """The report of an import, ended or in progress.

        Raises:
            NotFoundError: There is no such import, or its source belongs to someone else.
        """
        report = self._imports.get(import_id)
        if report.source_id not in self._access.managed_sources(principal):
            raise import_not_found(import_id)
        records = ReadableRecords(self._access, principal)
        return replace(report, items=tuple(records.items(report.source_id, report.items)))

    def latest(self, principal: Principal, source: StoredSource) -> ImportReport | None:  # noqa: ARG002  # every use case takes a principal
        """The report of the source's most recent import."""
        return self._imports.latest(source.id)

    def _with_lease(self, task: ImportTask) -> Database:
        return with_lease(self._database, task.import_id, task.worker)

    def _execution(self, task: ImportTask, database: Database) -> ImportExecution:
        active = ActiveIndex(database, self._stores)
        return ImportExecution(task, database, active, self._default_spec, self._formats_version)

    def _plan(self, task: ImportTask, stored: Mapping[str, StoredVersion]) -> Plan:
        source, failures = task.source, self._imports.failures(task.source.id)
        listing = list_entries(
            source, task.loader, stored, failures, task.on_progress, task.cancelled
        )
        restrictions = self._access.restrictions
        planner = Planner(
            stored=stored,
            failures=failures,
            formats_version=self._formats_version,
            confirm_removals=task.confirm_removals,
            keys=frozenset(task.keys),
            excluded=frozenset(excluded_keys(source.options)),
            restrictions=restrictions.of_documents(one.document_id for one in stored.values()),
            mirrors_permissions=mirrors_permissions(source.options),
        )
        return planner.plan(listing)

    def _dry_run_item(
        self, task: ImportTask, ref: DocumentRef, stored: StoredVersion | None, spec: IndexSpec
    ) -> ImportItem:
        from chains.history import estimate_tokens  # imports don't need LangChain's messages

        try:
            document = task.loader.read(ref)
            refuse_unstorable(document.page_content)
        except UnreadableError as error:
            return failed_item(ref, error, stored)
        version = new_version(
            ref, document, stored, task.source, spec, self._formats_version, is_new=stored is None
        )
        title = version.document.title
        texts = (searchable_text(title, one.heading_path, one.text) for one in version.passages)
        return replace(version.item, tokens=sum(map(estimate_tokens, texts)))

    def _save_cursor(self, sources: Sources, source: StoredSource, plan: Plan) -> None:
        """Save where the next listing resumes, unless documents of this one must be retried.

        Entries that could not be listed, such as files that are too large, don't prevent this: they
        have no version, and loaders receive them at each listing.
        """
        if plan.cursor is None or plan.withheld:
            return
        failures = self._imports.failures(source.id).values()
        if not any(one.again and one.version for one in failures):
            sources.set_cursor(source.id, plan.cursor)


def _end_turn(
    imports: Imports,
    task: ImportTask,
    earlier: Mapping[str, ImportItem],
    read: Sequence[ImportItem],
) -> None:
    """End the turn of a dry run after it has read a document, and keep the items for the next.

    `earlier` are the items of earlier turns, by key.
    """
    if read[-1].key not in earlier and task.turn.is_over():
        imports.add(task.import_id, [item for item in read if item.key not in earlier])
        raise TurnOverError
