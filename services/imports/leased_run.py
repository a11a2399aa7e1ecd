"""Performs a run: holds its lease, reports progress, obeys stop requests, updates its record."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from domain import ImportKind, ImportReport, ImportState
from domain.logs import log_context
from domain.messages import _
from errors import AppError, BusyError, SourceUnavailableError, StorageError
from services.imports.run_log import RunLog
from services.long_work import Cancelled, CancelledError, OnProgress, Progress, Stage, ignore, never
from storage.ledger.import_leases import ImportLeases

_TICK_S = 0.1
_STALE_S = 4.0
_RENEW_S = 4.0
_SAVE_S = 0.3
_GRACE_S = 0.8
_INTERRUPTIBLE = {Stage.LISTING, Stage.READING, Stage.SPLITTING, Stage.EMBEDDING, Stage.WAITING}
"""Stages that write nothing, so ending the process loses only unfinished work."""


Work = Callable[[OnProgress, Cancelled], ImportReport]


class LeasedRun:
    """A run that this process performs until it ends or has to stop."""

    def __init__(
        self,
        leases: ImportLeases,
        import_id: str,
        worker: str,
        *,
        default_state: ImportState,
        kind: ImportKind = ImportKind.IMPORT,
        seconds_before: float = 0.0,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
        leave: Callable[[], object] | None = None,
    ) -> None:
        """Prepare the run without starting it.

        Args:
            leases: The store of leases.
            import_id: The run.
            worker: The owner of the lease.
            default_state: The state if the run stops without a pause or cancellation request.
            kind: Only messages of failed imports say that imported documents are kept.
            seconds_before: The working time of earlier workers in seconds.
            on_progress: Receives the progress, which is also saved in the record.
            cancelled: Returns whether to stop, in addition to requests in the record.
            leave: Ends this process; called if the work doesn't stop in time.
        """
        self._leases = leases
        self._import_id = import_id
        self._worker = worker
        self._default_state = default_state
        self._kind = kind
        self._seconds_before = seconds_before
        self._began = time.monotonic() - seconds_before
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._leave = leave
        self._log = RunLog(kind)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._stop_requested = self._has_written = False
        self._progress: Progress | None = None
        self._saved: Progress | None = None
        self._checked_at = self._renewed_at = self._saved_at = self._stopping_since = 0.0

    def run(self, work: Work) -> ImportReport | None:
        """Do the work and update the record; None if the run was stopped early.

        An exception is recorded as a failure and raised again. If the library is busy, the run
        returns to the queue. If the source can't be reached, the run is postponed.
        """
        watch = threading.Thread(target=self._watch, daemon=True, name=f"import {self._import_id}")
        self._checked_at = self._renewed_at = time.monotonic()
        watch.start()
        try:
            with log_context(import_id=self._import_id):
                return self._run(work)
        finally:
            self._ended.set()
            watch.join()

    def _run(self, work: Work) -> ImportReport | None:
        try:
            report = work(self._report, self._has_to_stop)
        except CancelledError:
            self._stop(self._default_state)
            self._log.stop("stopped")
            return None
        except KeyboardInterrupt:
            # Service managers may signal a worker twice, which must not fail its import.
            self._stop(self._default_state)
            self._log.stop("stopped")
            raise
        except BusyError:
            self._stop(ImportState.QUEUED)
            raise
        except SourceUnavailableError as error:
            self._postpone(error)
            self._log.stop("interrupted", error)
            raise
        except BaseException as error:
            # The record must never stay in the state "running".
            self._fail(error)
            self._log.stop("failed", error)
            raise
        report = replace(report, seconds=self._seconds())
        self._settle(report.state, report.message, report.seconds, report.passages_embedded)
        self._log.end(report)
        return report

    def _fail(self, error: BaseException) -> None:
        reason = str(error) if isinstance(error, AppError) else repr(error)
        message = (
            _(
                "{reason} (imported documents are kept; the next import continues from there)"
            ).format(reason=reason)
            if self._kind is ImportKind.IMPORT
            else reason
        )
        self._settle(ImportState.FAILED, message, self._seconds())

    def _postpone(self, error: SourceUnavailableError) -> None:
        """Retry an import later; a dry run fails, because its user is waiting for it."""
        if self._kind is ImportKind.IMPORT and self._default_state is ImportState.INTERRUPTED:
            self._leases.postpone(
                self._import_id,
                self._worker,
                str(error),
                seconds=self._seconds(),
                has_written=self._has_written,
                at_least_s=error.retry_after_s,
            )
        else:
            self._fail(error)

    def _settle(
        self, state: ImportState, message: str, seconds: float, passages: int | None = None
    ) -> None:
        self._leases.settle(
            self._import_id,
            self._worker,
            state,
            message=message,
            seconds=seconds,
            passages=passages,
        )

    def _stop(self, default_state: ImportState) -> None:
        # Before its first step, a run has only waited, possibly many times.
        seconds = self._seconds_before if self._progress is None else self._seconds()
        self._leases.stop(self._import_id, self._worker, default_state, seconds=seconds)

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _has_to_stop(self) -> bool:
        if time.monotonic() - self._checked_at >= _STALE_S:
            # The process was suspended, and another worker may have taken over the run.
            with suppress(StorageError):  # without the ledger, the run can't write anyway
                self._check()
        return self._stop_requested or self._cancelled()

    def _report(self, progress: Progress) -> None:
        self._log.note(progress)
        with self._lock:
            self._progress = progress
            self._has_written |= progress.stage is Stage.WRITING
        self._on_progress(progress)

    def _watch(self) -> None:
        while not self._ended.wait(_TICK_S):
            try:
                self._tick(time.monotonic())
            except StorageError:
                # The next tick tries again. If the ledger stays unavailable, the work fails anyway.
                continue

    def _check(self) -> None:
        self._stop_requested = self._leases.stop_request(self._import_id, self._worker) != ""
        self._checked_at = time.monotonic()

    def _tick(self, now: float) -> None:
        self._check()
        self._leave_after_grace(now)
        if now - self._renewed_at >= _RENEW_S:
            self._leases.renew(self._import_id, self._worker)
            self._renewed_at = now
        progress = self._progress
        if progress is not None and progress != self._saved and now - self._saved_at >= _SAVE_S:
            self._leases.save_progress(self._import_id, self._worker, progress, self._seconds())
            self._saved, self._saved_at = progress, now

    def _leave_after_grace(self, now: float) -> None:
        if not self._has_to_stop():
            self._stopping_since = now
        elif self._leave is not None and now - self._stopping_since >= _GRACE_S:
            with self._lock:  # the work can't start writing during this block
                at = self._progress
                if at is not None and at.stage in _INTERRUPTIBLE and not self._ended.is_set():
                    self._stop(self._default_state)
                    with log_context(import_id=self._import_id):
                        self._log.stop("abandoned: it did not stop in time")
                    self._leave()
