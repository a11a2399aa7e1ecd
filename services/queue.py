"""The queue of imports: what a person asks for, and how it stands."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from domain import ImportKind, ImportState, Principal, QueuedImport
from errors import NotFoundError
from services.progress import OnProgress, ignore
from storage.import_leases import Workers
from storage.import_queue import CANCEL, PAUSE, QueuedImports

_POLL_S = 0.3


class ImportQueue:
    """Imports as jobs: asked for here, done by a worker process, watched from anywhere."""

    def __init__(
        self, imports: QueuedImports, workers: Workers, run_next: Callable[[OnProgress], bool]
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            imports: The queue.
            workers: Tells whether a worker lives.
            run_next: Does the next import in this process; False where none waits.
        """
        self._imports = imports
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
            NotFoundError: There is no such source.
        """
        options = {"keys": sorted(set(keys)), "confirm_removals": confirm_removals}
        told = {name: value for name, value in options.items() if value}
        return self._imports.enqueue(source_id, principal.user_id, kind, told)

    def get(self, principal: Principal, import_id: str) -> QueuedImport:  # noqa: ARG002  # every call names who asks
        """How an import stands.

        Raises:
            NotFoundError: There is no such import.
        """
        return self._imports.get(import_id)

    def current(self, principal: Principal, source_id: str | None = None) -> list[QueuedImport]:  # noqa: ARG002  # every call names who asks
        """What is queued, running, paused or interrupted, of one source or of all.

        The one at work comes first, the others in their order.
        """
        return self._imports.current(source_id)

    def history(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        source_id: str,
        *,
        limit: int = 20,
        offset: int = 0,
    ) -> list[QueuedImport]:
        """The source's ended imports, of every kind, the latest first."""
        return self._imports.history(source_id, limit=limit, offset=offset)

    def pause(self, principal: Principal, import_id: str) -> QueuedImport:  # noqa: ARG002  # every call names who asks
        """Let an import rest until it is resumed; it stops within two seconds.

        Raises:
            NotFoundError: There is no such import.
        """
        return self._imports.wish(import_id, PAUSE)

    def resume(self, principal: Principal, import_id: str) -> QueuedImport:  # noqa: ARG002  # every call names who asks
        """Let a paused import go on at the next document, when its turn comes.

        Raises:
            NotFoundError: There is no such import.
        """
        return self._imports.resume(import_id)

    def cancel(self, principal: Principal, import_id: str) -> QueuedImport:  # noqa: ARG002  # every call names who asks
        """End an import; it stops within two seconds, and what it has imported is kept.

        Raises:
            NotFoundError: There is no such import.
        """
        return self._imports.wish(import_id, CANCEL)

    def has_worker(self) -> bool:
        """Whether a worker process lives."""
        return self._workers.any_alive()

    def expects_worker(self) -> bool:
        """Whether one lives, or did some seconds ago: `serve` starts another in its place."""
        return self._workers.any_lately()

    def wait(
        self, principal: Principal, import_id: str, on_progress: OnProgress = ignore
    ) -> QueuedImport:
        """Wait until an import has ended or is paused; how it ended.

        Where no worker lives, what is queued is done here meanwhile. A removal takes its own
        record with it: it is told as it was last seen, and completed.

        Raises:
            NotFoundError: There is no such import, or its source was removed meanwhile.
        """
        job = self.get(principal, import_id)
        while True:
            try:
                job = self.get(principal, import_id)
            except NotFoundError:
                if job.kind is not ImportKind.REMOVAL:
                    raise
                return replace(job, state=ImportState.COMPLETED, finished_at=datetime.now(UTC))
            if job.progress is not None:
                on_progress(job.progress)
            if job.ended or job.state is ImportState.PAUSED:
                return job
            if self.has_worker() or not self._run_next(on_progress):
                time.sleep(_POLL_S)
