"""Does what is queued, one import at a time."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from domain import ImportKind, ImportReport, ImportState, Principal, QueuedImport
from errors import AppError, BusyError, DamagedLedgerError, StorageError
from services.job import Job
from services.progress import Cancelled, OnProgress, ignore
from storage.import_leases import ImportLeases, Workers
from storage.processes import process_name
from storage.sources import Sources, StoredSource

_POLL_S = 0.3
_RENEW_S = 4.0
_SCHEDULE_S = 10.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """A run that is to be done: who asked for it, of what, and how it is followed and stopped."""

    principal: Principal
    source: StoredSource
    queued: QueuedImport
    on_progress: OnProgress
    cancelled: Cancelled


Runner = Callable[[Order], ImportReport]
"""Does one kind of run; raises CancelledError where it was to stop."""


class Worker:
    """Takes imports from the queue and does them; any number may live, in any process."""

    def __init__(
        self,
        leases: ImportLeases,
        workers: Workers,
        sources: Sources,
        runners: Mapping[ImportKind, Runner],
        enqueue_due: Callable[[datetime], object],
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            leases: Where imports are taken from.
            workers: Where a worker says that it lives.
            sources: What the imports are of.
            runners: By the kind of run, who does it.
            enqueue_due: Queues the sources whose time has come.
        """
        self._leases = leases
        self._workers = workers
        self._sources = sources
        self._runners = runners
        self._enqueue_due = enqueue_due
        self._scheduled_at = float("-inf")

    def run(self, stop: threading.Event, leave: Callable[[], object] | None = None) -> None:
        """Do what is queued, and what is due, until `stop` is set.

        What is at work then stops soon and is gone on with by the next worker. `leave` ends the
        process; it is called where an import that is to stop doesn't, and never while it writes.
        """
        name = process_name()
        alive = threading.Thread(target=self._stay_alive, args=(name, stop), daemon=True)
        alive.start()
        try:
            while not stop.is_set():
                if not self._one_turn(name, stop, leave):
                    stop.wait(_POLL_S)
        finally:
            stop.set()
            alive.join()
            with suppress(StorageError):  # nobody expects it for longer than its last sign of life
                self._workers.leave(name)

    def run_next(self, on_progress: OnProgress = ignore) -> bool:
        """Do the next import of the queue here and now; False where none waits."""
        self._leases.interrupt_dead()
        return self._do_next(process_name(), on_progress, threading.Event(), None)

    def _one_turn(
        self, name: str, stop: threading.Event, leave: Callable[[], object] | None
    ) -> bool:
        try:
            self._leases.interrupt_dead()
            self._schedule()
            return self._do_next(name, ignore, stop, leave)
        except DamagedLedgerError:
            raise  # nothing more may be written to it
        except AppError as error:
            # The ledger may be back in a moment, a source may have just been removed; a worker
            # that ended would be started again.
            _log.warning("The worker goes on trying: %s", error)
            return False

    def _schedule(self) -> None:
        if time.monotonic() - self._scheduled_at >= _SCHEDULE_S:
            self._enqueue_due(datetime.now(UTC))
            self._scheduled_at = time.monotonic()

    def _do_next(
        self,
        name: str,
        on_progress: OnProgress,
        stop: threading.Event,
        leave: Callable[[], object] | None,
    ) -> bool:
        queued = self._leases.claim(name)
        if queued is None:
            return False
        job = Job(
            self._leases,
            queued.id,
            name,
            otherwise=ImportState.INTERRUPTED,
            kind=queued.kind,
            seconds_before=queued.seconds,
            on_progress=on_progress,
            cancelled=stop.is_set,
            leave=leave,
        )
        try:
            job.run(lambda tell, stops: self._work(queued, tell, stops))
        except BusyError as error:
            _log.info("Import %s waits: %s", queued.id, error)
            return False
        except AppError as error:
            # Its record tells it to people.
            _log.warning("Import %s: %s", queued.id, error)
        except Exception:  # noqa: BLE001  # one broken import must not end the worker
            _log.exception("Import %s failed", queued.id)
        return True

    def _work(
        self, queued: QueuedImport, on_progress: OnProgress, cancelled: Cancelled
    ) -> ImportReport:
        source = self._sources.get(queued.source_id)
        order = Order(Principal(queued.user_id), source, queued, on_progress, cancelled)
        return self._runners[queued.kind](order)

    def _stay_alive(self, name: str, stop: threading.Event) -> None:
        while True:
            try:
                self._workers.renew(name)
            except StorageError as error:
                _log.warning("The worker can't tell that it lives: %s", error)
            if stop.wait(_RENEW_S):
                return
