"""The queue of imports and the worker that does them."""

from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.parts import Parts
from domain import LOCAL_USER, ImportKind, ImportReport, Principal, QueuedImport

if TYPE_CHECKING:
    from services.dry_run import DryRuns
    from services.imports import ImportService
    from services.progress import Cancelled, OnProgress
    from services.queue import ImportQueue
    from services.removal import Removals
    from services.source_kinds import SourceKinds
    from services.sources import SourceService
    from services.worker import Worker
    from storage.sources import StoredSource


class WorkingServices:
    """Built when first used, as all services are."""

    _parts: Parts

    if TYPE_CHECKING:

        @property
        def imports(self) -> "ImportService": ...
        @property
        def sources(self) -> "SourceService": ...
        @property
        def source_kinds(self) -> "SourceKinds": ...
        @property
        def dry_runs(self) -> "DryRuns": ...
        @property
        def removals(self) -> "Removals": ...

    @cached_property
    def queue(self) -> "ImportQueue":
        """Imports as jobs: asked for, steered and watched."""
        from services.queue import ImportQueue
        from storage.import_leases import Workers
        from storage.import_queue import QueuedImports

        database = self._parts.database
        return ImportQueue(
            QueuedImports(database),
            Workers(database),
            lambda on_progress: self.worker.run_next(on_progress),
        )

    @cached_property
    def worker(self) -> "Worker":
        """Does what is queued."""
        from services.worker import Worker
        from storage.import_leases import ImportLeases, Workers
        from storage.sources import Sources

        database = self._parts.database
        runners = {
            ImportKind.IMPORT: self._import,
            ImportKind.DRY_RUN: self._dry_run,
            ImportKind.REMOVAL: self._removal,
        }
        return Worker(
            ImportLeases(database),
            Workers(database),
            Sources(database),
            runners,
            lambda now: self.sources.refresh_due(LOCAL_USER, now),
        )

    def _import(
        self,
        principal: Principal,
        source: "StoredSource",
        queued: QueuedImport,
        on_progress: "OnProgress",
        cancelled: "Cancelled",
    ) -> ImportReport:
        return self.imports.perform(
            principal,
            source,
            self.source_kinds.loader(source),
            import_id=queued.id,
            keys=queued.keys,
            confirm_removals=queued.confirm_removals,
            on_progress=on_progress,
            cancelled=cancelled,
        )

    def _dry_run(
        self,
        principal: Principal,
        source: "StoredSource",
        queued: QueuedImport,
        on_progress: "OnProgress",
        cancelled: "Cancelled",
    ) -> ImportReport:
        return self.dry_runs.run(
            principal,
            source,
            self.source_kinds.loader(source),
            import_id=queued.id,
            on_progress=on_progress,
            cancelled=cancelled,
        )

    def _removal(
        self,
        principal: Principal,
        source: "StoredSource",
        queued: QueuedImport,
        on_progress: "OnProgress",
        cancelled: "Cancelled",
    ) -> ImportReport:
        return self.removals.run(
            principal,
            source,
            import_id=queued.id,
            on_progress=on_progress,
            cancelled=cancelled,
        )
