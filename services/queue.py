"""The queue of imports: what a person asks for, and how it stands."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from domain import ImportKind, ImportState, Principal, QueuedImport
from errors import NotFoundError
from services.own_sources import own_sources, sees
from services.progress import OnProgress, ignore
from storage.import_leases import Workers
from storage.import_queue import CANCEL, PAUSE, QueuedImports
from storage.sources import Sources

_POLL_S = 0.3


class ImportQueue:
    """Imports as jobs: asked for here, done by a worker process, watched from anywhere.

    Whoever asks sees and steers the imports of shared sources and of their own, no others.
    """

    def __init__(
        self,
        imports: QueuedImports,
        sources: Sources,
        workers: Workers,
        run_next: Callable[[OnProgress], bool],
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            imports: The queue.
            sources: Tells whose a source is.
            workers: Tells whether a worker lives.
            run_next: Does the next import in this process; False where none waits.
        """
        self._imports = imports
        self._sources = sources
        self._workers = workers
        self._run_next = run_next

    def enqueue(
        self,
        principal: Principal,
        source_id: str,
        kind: ImportKind = ImportKind.IMPORT,
        *,
        keys: Iterable[str] = (),
        confirm_removals: bool = False,
    ) -> QueuedImport:
        """Ask for an import, or for another kind of run, of a source.

        One of the same source, kind and keys that waits or rests is returned instead. One at work
        is not: it may have looked at the source before what it is asked for now was there.

        Args:
            principal: Who asks.
            source_id: Of what.
            kind: What is to be done.
            keys: Confine it to these documents, and read them even if nothing has changed.
            confirm_removals: Remove documents even if most of the source is gone.

        Raises:
            NotFoundError: There is no such source, or it is another's.
        """
        if not self._sees(principal, source_id):
            raise NotFoundError(f"there is no source {source_id}")
        options = {"keys": sorted(set(keys)), "confirm_removals": confirm_removals}
        told = {name: value for name, value in options.items() if value}
        return self._imports.enqueue(source_id, principal.user_id, kind, told)

    def get(self, principal: Principal, import_id: str) -> QueuedImport:
        """How an import stands.

        Raises:
            NotFoundError: There is no such import, or its source is another's.
        """
        job = self._imports.get(import_id)
        if not self._sees(principal, job.source_id):
            raise NotFoundError(
                f"There is no import {import_id}, or not any more: look at the list."
            )
        return job

    def current(self, principal: Principal, source_id: str | None = None) -> list[QueuedImport]:
        """What is queued, running, paused or interrupted, of one source or of all.

        The one at work comes first, the others in their order.
        """
        own = own_sources(self._sources, principal)
        return [job for job in self._imports.current(source_id) if job.source_id in own]

    def busy_sources(self) -> set[str]:
        """The ids of all sources with imports that have not ended, whoever's; for the worker."""
        return {job.source_id for job in self._imports.current()}

    def history(
        self,
        principal: Principal,
        source_id: str,
        *,
        limit: int = 20,
        offset: int = 0,
    ) -> list[QueuedImport]:
        """The source's ended imports, of every kind, the latest first; none of another's."""
        if not self._sees(principal, source_id):
            return []
        return self._imports.history(source_id, limit=limit, offset=offset)

    def count_history(self, principal: Principal, source_id: str) -> int:
        """How many imports of the source have ended; 0 for another's."""
        return self._imports.count_history(source_id) if self._sees(principal, source_id) else 0

    def pause(self, principal: Principal, import_id: str) -> QueuedImport:
        """Let an import rest until it is resumed; it stops within two seconds.

        Raises:
            NotFoundError: As for `get`.
        """
        return self._imports.wish(self.get(principal, import_id).id, PAUSE)

    def resume(self, principal: Principal, import_id: str) -> QueuedImport:
        """Let a paused import go on at the next document, when its turn comes.

        Raises:
            NotFoundError: As for `get`.
        """
        return self._imports.resume(self.get(principal, import_id).id)

    def cancel(self, principal: Principal, import_id: str) -> QueuedImport:
        """End an import; it stops within two seconds, and what it has imported is kept.

        Raises:
            NotFoundError: As for `get`.
        """
        return self._imports.wish(self.get(principal, import_id).id, CANCEL)

    def again(self, principal: Principal, job: QueuedImport) -> QueuedImport:
        """How an import that was seen before stands now.

        A removal takes its own record with it: it is told as it was last seen, and completed.

        Raises:
            NotFoundError: As for `get`, or its source was removed meanwhile.
        """
        try:
            return self.get(principal, job.id)
        except NotFoundError:
            if job.kind is not ImportKind.REMOVAL:
                raise
            return replace(job, state=ImportState.COMPLETED, finished_at=datetime.now(UTC))

    def expects_worker(self) -> bool:
        """Whether a worker lives, or did some seconds ago: `serve` starts another in its place."""
        return self._workers.any_lately()

    def wait(
        self, principal: Principal, import_id: str, on_progress: OnProgress = ignore
    ) -> QueuedImport:
        """Wait until an import has ended or is paused; how it ended.

        Where no worker lives, what is queued is done here meanwhile. A removal is told as for
        `again`.

        Raises:
            NotFoundError: As for `again`.
        """
        job = self.get(principal, import_id)
        while True:
            job = self.again(principal, job)
            if job.progress is not None:
                on_progress(job.progress)
            if job.ended or job.state is ImportState.PAUSED:
                return job
            # One that is expected isn't there yet: this process needn't wait for it.
            if self._workers.any_alive() or not self._run_next(on_progress):
                time.sleep(_POLL_S)

    def _sees(self, principal: Principal, source_id: str) -> bool:
        return sees(self._sources, principal, source_id)
