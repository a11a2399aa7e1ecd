"""Requests, shows, and controls the import runs of the queue."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from domain import Action, ImportKind, ImportRun, ImportState, Principal
from domain.errors import NotFoundError
from domain.logs import get_logger
from services.access import Access
from services.audit_service import AuditService
from services.imports.readable_records import ReadableRecords
from storage.ledger.database import Database
from storage.ledger.import_leases import Workers
from storage.ledger.import_queue_store import CANCEL, PAUSE, ImportRuns
from storage.ledger.import_store import import_not_found

_log = get_logger("imports")


class ImportQueue:
    """Import runs, which a worker process performs and every process can see.

    Principals see and control only the imports of sources that they manage.
    """

    def __init__(self, database: Database, access: Access, audit: AuditService) -> None:
        self._imports = ImportRuns(database)
        self._access = access
        self._audit = audit
        self._workers = Workers(database)

    def enqueue(
        self,
        principal: Principal,
        source_id: str,
        kind: ImportKind = ImportKind.IMPORT,
        *,
        keys: Iterable[str] = (),
        confirm_removals: bool = False,
        is_scheduled: bool = False,
    ) -> ImportRun:
        """Request a run of a source.

        Returns the existing run if one with the same source, kind, and options is waiting or
        paused. A run in progress does not count, because it may have listed the source before the
        latest changes.

        Args:
            principal: The user or API key that requests the run.
            source_id: The source.
            kind: An import, a dry run, or a removal.
            keys: Restrict the run to these documents, and read them even if unchanged.
            confirm_removals: Remove documents even if most of the source is missing.
            is_scheduled: No person requests it, so the audit log only reports what it changes.

        Raises:
            NotFoundError: There is no such source, or the principal may not read it.
            ForbiddenError: The principal's role does not permit imports of it.
        """
        self._access.managed_source(principal, source_id)
        options = {"keys": sorted(set(keys)), "confirm_removals": confirm_removals}
        set_options = {name: value for name, value in options.items() if value}
        run = self._imports.enqueue(
            source_id, principal.user_id, kind, set_options, is_scheduled=is_scheduled
        )
        _log.info(f"{kind.value} queued", import_id=run.id, source_id=source_id)
        if kind is ImportKind.IMPORT and not is_scheduled:
            documents = {"documents": len(run.keys)} if run.keys else {}
            self._audit.record(
                principal, Action.IMPORT_STARTED, run.id, source_id=source_id, **documents
            )
        return run

    def get(self, principal: Principal, import_id: str) -> ImportRun:
        """The current record of a run.

        Raises:
            NotFoundError: There is no such import, or the principal does not manage its source.
        """
        run = self._imports.get(import_id)
        if not self._manages(principal, run.source_id):
            raise import_not_found(import_id)
        return ReadableRecords(self._access, principal).run(run)

    def current(self, principal: Principal, source_id: str | None = None) -> list[ImportRun]:
        """Unfinished runs of one source or of all: first running ones, then the queue."""
        managed = self._access.managed_sources(principal)
        runs = [run for run in self._imports.current(source_id) if run.source_id in managed]
        return self._readable(principal, runs)

    def busy_sources(self) -> set[str]:
        """The ids of all sources of all owners with unfinished runs."""
        return {run.source_id for run in self._imports.current()}

    def history(
        self,
        principal: Principal,
        source_id: str,
        *,
        limit: int = 20,
        offset: int = 0,
    ) -> list[ImportRun]:
        """The source's ended runs of every kind, latest first; empty if it is not visible."""
        if not self._manages(principal, source_id):
            return []
        runs = self._imports.history(source_id, limit=limit, offset=offset)
        return self._readable(principal, runs)

    def count_history(self, principal: Principal, source_id: str) -> int:
        """The number of ended runs of the source; 0 if the source is not visible."""
        return self._imports.count_history(source_id) if self._manages(principal, source_id) else 0

    def pause(self, principal: Principal, import_id: str) -> ImportRun:
        """Request a pause; the run stops within two seconds.

        Raises:
            NotFoundError: See `get`.
        """
        return self._imports.request_stop(self.get(principal, import_id).id, PAUSE)

    def resume(self, principal: Principal, import_id: str) -> ImportRun:
        """Return a paused run to the queue; it continues with the next document.

        Raises:
            NotFoundError: See `get`.
        """
        return self._imports.resume(self.get(principal, import_id).id)

    def cancel(self, principal: Principal, import_id: str) -> ImportRun:
        """Request cancellation; the run stops within two seconds, and imported documents are kept.

        Raises:
            NotFoundError: See `get`.
        """
        return self._imports.request_stop(self.get(principal, import_id).id, CANCEL)

    def reload(self, principal: Principal, run: ImportRun) -> ImportRun:
        """The current record of a run that was read earlier.

        A finished removal has deleted its own record, so `run` is returned as completed.

        Raises:
            NotFoundError: See `get`; or the source has been removed.
        """
        try:
            return self.get(principal, run.id)
        except NotFoundError:
            if run.kind is not ImportKind.REMOVAL:
                raise
            return replace(run, state=ImportState.COMPLETED, finished_at=datetime.now(UTC))

    def expects_worker(self) -> bool:
        """Whether a worker is alive, or was until recently, in which case `serve` restarts it."""
        return self._workers.any_recent()

    def _readable(self, principal: Principal, runs: Iterable[ImportRun]) -> list[ImportRun]:
        records = ReadableRecords(self._access, principal)
        return [records.run(run) for run in runs]

    def _manages(self, principal: Principal, source_id: str) -> bool:
        return source_id in self._access.managed_sources(principal)
