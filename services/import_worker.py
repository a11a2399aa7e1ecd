"""Performs queued imports, dry runs, and removals of sources, parts of imports, and backups."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from domain import (
    LOCAL_USER,
    CancelledError,
    ImportKind,
    ImportReport,
    ImportRun,
    ImportState,
    Principal,
    Progress,
    Stage,
)
from domain.errors import AppError, BusyError, DamagedLedgerError, StorageError
from domain.logs import get_logger
from services.backups.scheduled_backups import ScheduledBackups
from services.housekeeping import Housekeeping
from services.imports.compaction import Compaction
from services.imports.import_queue import ImportQueue
from services.imports.import_resumption import Quarantine
from services.imports.import_run import ImportTask
from services.imports.import_service import ImportService
from services.imports.import_turn import TURN_S, ImportTurn
from services.imports.leased_run import LeasedRun
from services.imports.shared_reading import BATCH_DOCUMENTS
from services.long_work import CancelableWait, Cancelled, OnProgress, ignore, never
from services.source_removal import Removals
from services.sources.source_kinds import SourceKinds
from services.sources.source_service import SourceService
from storage.ledger.database import Database
from storage.ledger.import_leases import ImportLeases, Workers
from storage.ledger.import_portions import ImportPortions, Portion
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.source_store import Sources
from storage.processes import process_name

_POLL_S = 0.3
_RETRY_S = 2.0
_NOT_BEGUN = Progress(Stage.LISTING, 0, 0)
_RENEW_S = 4.0
_SCHEDULE_S = 10.0
_HOUSEKEEPING_S = 3600.0
_BACKUP_END_S = 5.0

_log = get_logger("imports")


class Worker:
    """Takes runs from the queue and performs them one after another.

    Any number of processes may have workers, which perform runs of different sources at once. A
    worker without a run reads portions of the others' imports.

    A run that has worked for `turn_s` seconds lets others run, if any wait.
    """

    turn_s = TURN_S

    def __init__(
        self,
        database: Database,
        queue: ImportQueue,
        sources: SourceService,
        kinds: SourceKinds,
        imports: ImportService,
        removals: Removals,
        compaction: Compaction,
        backups: ScheduledBackups | None = None,
        housekeeping: Housekeeping | None = None,
    ) -> None:
        """Create the worker; it performs neither backups nor housekeeping if it gets none."""
        self._leases = ImportLeases(database)
        self._workers = Workers(database)
        self._stored_sources = Sources(database)
        self._queue = queue
        self._sources = sources
        self._kinds = kinds
        self._imports = imports
        self._removals = removals
        self._compaction = compaction
        self._portions = PortionReader(database, kinds, imports)
        self._backups = backups
        self._housekeeping = housekeeping
        self._unrecorded: LeasedRun | None = None
        self._scheduled_at = float("-inf")
        self._cleaned_at = time.monotonic()  # the start of each process includes it

    def run(
        self,
        stop: threading.Event,
        leave: Callable[[], object] | None = None,
        is_outdated: Callable[[], bool] = never,
    ) -> None:
        """Perform queued and scheduled runs until `stop` is set, or the worker is outdated.

        Args:
            stop: If it is set, the current run stops soon, and the next worker resumes it.
            leave: Ends the process; it is called if the run does not stop in time, but never while
                the run is writing.
            is_outdated: Whether another worker with newer settings should perform the next run.
        """
        name, ended = process_name(), threading.Event()
        heartbeat = threading.Thread(target=self._beat, args=(name, ended), daemon=True)
        heartbeat.start()
        backups = self._start_backups(ended)
        try:
            while not stop.is_set() and not is_outdated():
                if not self._one_turn(name, stop, leave):
                    stop.wait(_POLL_S)
        finally:
            ended.set()
            heartbeat.join()
            if backups is not None:
                backups.join(_BACKUP_END_S)  # it stops at its next step, unless its disk hangs
            with suppress(StorageError):  # its heartbeat expires soon anyway
                self._workers.leave(name)

    def _start_backups(self, ended: threading.Event) -> threading.Thread | None:
        """Perform scheduled backups in a thread, because an import may take hours."""
        if self._backups is None:
            return None
        thread = threading.Thread(target=self._backups.run, args=(ended,), daemon=True)
        thread.start()
        return thread

    def run_next(self, on_progress: OnProgress = ignore) -> bool:
        """Perform the next run of the queue in this thread; False if none is waiting."""
        self._leases.interrupt_dead()
        return self._perform_next(process_name(), on_progress, threading.Event(), None)

    def wait(
        self, principal: Principal, import_id: str, on_progress: OnProgress = ignore
    ) -> ImportRun:
        """Wait until a run has ended or is paused, and return its record.

        If no worker is alive, this process performs the queued runs itself. A finished removal is
        returned in the same way as by `ImportQueue.reload`. Progress is reported several times a
        second, from before the run begins until it has ended.

        Raises:
            NotFoundError: See `ImportQueue.reload`.
        """
        run = self._queue.get(principal, import_id)
        while True:
            run = self._queue.reload(principal, run)
            if run.ended or run.state is ImportState.PAUSED:
                return run  # its record may contain older progress than was reported
            on_progress(run.progress or _NOT_BEGUN)
            # Don't wait for a worker that has not started yet.
            if self._workers.any_alive() or not self.run_next(on_progress):
                time.sleep(_POLL_S)

    def _one_turn(
        self, name: str, stop: threading.Event, leave: Callable[[], object] | None
    ) -> bool:
        try:
            self._release_unrecorded()
            self._leases.interrupt_dead()
            self._schedule()
            return self._perform_next(name, ignore, stop, leave) or self._portions.read_next(
                name, stop.is_set
            )
        except DamagedLedgerError:
            raise  # nothing more may be written to the ledger
        except AppError as error:
            # The ledger may soon be available again, or a source was just removed. If the worker
            # ended, the supervisor would only restart it.
            _log.warning("worker will try again", reason=str(error))
            stop.wait(_RETRY_S)
            return False

    def _schedule(self) -> None:
        if time.monotonic() - self._scheduled_at >= _SCHEDULE_S:
            self._sources.refresh_due(LOCAL_USER, datetime.now(UTC))
            self._scheduled_at = time.monotonic()
        if self._housekeeping and time.monotonic() - self._cleaned_at >= _HOUSEKEEPING_S:
            self._housekeeping.run(datetime.now(UTC))
            self._cleaned_at = time.monotonic()

    def _perform_next(
        self,
        name: str,
        on_progress: OnProgress,
        stop: threading.Event,
        leave: Callable[[], object] | None,
    ) -> bool:
        run = self._leases.claim(name)
        if run is None:
            return False
        leased = LeasedRun(
            self._leases,
            run.id,
            name,
            default_state=ImportState.INTERRUPTED,
            kind=run.kind,
            seconds_before=run.seconds,
            on_progress=on_progress,
            cancelled=stop.is_set,
            leave=leave,
        )
        try:
            leased.run(partial(self._perform, run, name))
        except BusyError as error:
            _log.debug("import waits", import_id=run.id, reason=str(error))
            return False
        except AppError:
            # Otherwise, users see the reason in the run's record, and `LeasedRun` has logged it.
            if not leased.is_recorded:
                self._unrecorded = leased
                raise
        except Exception:  # noqa: BLE001  # one broken import must not end the worker
            _log.exception("unexpected error in an import", import_id=run.id)
        self._compact(stop)
        return True

    def _release_unrecorded(self) -> None:
        """Release the run that failed with the ledger; otherwise, it seems to have crashed."""
        if self._unrecorded is not None:
            self._unrecorded.release()
            self._unrecorded = None

    def _compact(self, stop: threading.Event) -> None:
        """Compact the index if its history has become long; if that fails, after the next run."""
        try:
            self._compaction.run_if_due(LOCAL_USER, stop.is_set)
        except BusyError as error:
            _log.debug("compaction waits", reason=str(error))
        except AppError as error:
            _log.warning("the index could not be compacted", reason=str(error))

    def _perform(
        self, run: ImportRun, name: str, on_progress: OnProgress, cancelled: Cancelled
    ) -> ImportReport:
        source = self._stored_sources.get(run.source_id)
        turn = ImportTurn(partial(self._leases.others_wait, run), self.turn_s)
        if run.kind is ImportKind.REMOVAL:
            return self._removals.run(
                source,
                import_id=run.id,
                worker=name,
                turn=turn,
                on_progress=on_progress,
                cancelled=cancelled,
            )
        wait = CancelableWait(on_progress, cancelled)
        task = ImportTask(
            run.id,
            name,
            source,
            self._kinds.loader(source, wait.wait),
            keys=run.keys,
            confirm_removals=run.confirm_removals,
            turn=turn,
            quarantine=self._quarantine(run, name),
            on_progress=wait.report,
            cancelled=cancelled,
        )
        is_dry_run = run.kind is ImportKind.DRY_RUN
        return self._imports.dry_run(task) if is_dry_run else self._imports.perform(task)

    def _quarantine(self, run: ImportRun, name: str) -> Quarantine:
        """The run's quarantine; after a crash, the lost batch is stored one by one."""
        if not run.has_crashed:
            return Quarantine(run.quarantined)
        note = partial(self._leases.note_reading, run.id, name)
        return Quarantine(run.quarantined, BATCH_DOCUMENTS + 1, note, run.crashed_at)

    def _beat(self, name: str, ended: threading.Event) -> None:
        while True:
            try:
                self._workers.renew(name)
            except StorageError as error:
                _log.warning("worker can't renew its heartbeat", reason=str(error))
            if ended.wait(_RENEW_S):
                return


_CHECK_S = 1.0


class PortionReader:
    """Helps other workers with their imports; what it can't read is left to them."""

    def __init__(self, database: Database, kinds: SourceKinds, imports: ImportService) -> None:
        self._portions = ImportPortions(database)
        self._runs = ImportRuns(database)
        self._sources = Sources(database)
        self._kinds = kinds
        self._imports = imports

    def read_next(self, worker: str, stopped: Cancelled) -> bool:
        """Take a portion of any import and read it, until it is done or `stopped`.

        Returns whether there was one.
        """
        portion = self._portions.take_any(worker)
        if portion is None:
            return False
        try:
            self._read(portion, worker, _Stop(self._portions, portion, worker, stopped))
        except CancelledError:
            self._portions.give_back(portion, worker)
        except Exception as error:  # noqa: BLE001  # the import's worker meets it again, and reports it
            _log.warning("portion not read", import_id=portion.import_id, reason=str(error))
            self._portions.give_back(portion, worker)
        else:
            self._portions.finish(portion, worker)
        return True

    def _read(self, portion: Portion, worker: str, cancelled: Cancelled) -> None:
        run = self._runs.get(portion.import_id)
        source = self._sources.get(run.source_id)
        loader = self._kinds.loader(source, CancelableWait(ignore, cancelled).wait)
        task = ImportTask(
            run.id,
            worker,
            source,
            loader,
            quarantine=Quarantine(run.quarantined),
            cancelled=cancelled,
        )
        self._imports.read_portion(task, portion)


@dataclass
class _Stop:
    """Whether to stop reading a portion, because this process or the import stops."""

    portions: ImportPortions
    portion: Portion
    worker: str
    stopped: Cancelled
    _checked_at: float = field(default_factory=time.monotonic)
    _is_lost: bool = False

    def __call__(self) -> bool:
        now = time.monotonic()
        if now - self._checked_at >= _CHECK_S:
            self._is_lost = not self.portions.is_held(self.portion, self.worker)
            self._checked_at = now
        return self._is_lost or self.stopped()
