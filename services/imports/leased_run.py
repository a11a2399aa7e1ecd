"""Performs a run: holds the lease, reports progress, obeys stop requests, records the result."""

import heapq
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from domain import CancelledError, ImportKind, ImportReport, ImportState, Outcome, Progress, Stage
from domain.errors import (
    AppError,
    BusyError,
    SourceUnavailableError,
    StorageError,
    StorageUnavailableError,
)
from domain.logs import StageTimes, get_logger, log_context, milliseconds
from domain.messages import _
from services.imports.import_forecast import TimeLeft
from services.imports.import_turn import TurnOverError
from services.long_work import Cancelled, OnProgress, ignore, never
from storage.ledger.import_leases import ImportLeases

_TICK_S = 0.1
_STALE_S = 4.0
_RENEW_S = 4.0
_SAVE_S = 0.3
_GRACE_S = 0.8
_INTERRUPTIBLE = {Stage.LISTING, Stage.READING, Stage.SPLITTING, Stage.EMBEDDING, Stage.WAITING}
"""Stages that write nothing, so ending the process loses only unfinished work."""

SLOWEST = 5
_OF_A_DOCUMENT = {Stage.READING, Stage.SPLITTING}
_TIME_OF_A_DOCUMENT = {*_OF_A_DOCUMENT, Stage.WAITING}

Work = Callable[[OnProgress, Cancelled], ImportReport]

_log = get_logger("imports")


@dataclass
class LeasedRun:
    """A run that this process performs until it ends or has to stop.

    `worker` owns the lease. `default_state` is the state if the run stops without a pause or
    cancellation request. `seconds_before` is the working time of earlier workers in seconds.
    `on_progress` receives the progress, which is also saved in the record. `cancelled` returns
    whether to stop, in addition to requests in the record. `leave` ends this process; it is called
    if the work doesn't stop in time.

    `is_recorded` is whether the end of the run is in its record, which may fail on a full disk.
    """

    leases: ImportLeases
    import_id: str
    worker: str
    _: KW_ONLY
    default_state: ImportState
    kind: ImportKind = ImportKind.IMPORT
    seconds_before: float = 0.0
    on_progress: OnProgress = ignore
    cancelled: Cancelled = never
    leave: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        self._began = time.monotonic() - self.seconds_before
        self._log = RunLog(self.kind)
        self._time_left = TimeLeft(embeds=self.kind is ImportKind.IMPORT)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.is_recorded = False
        self._stop_requested = self._has_written = False
        self._progress: Progress | None = None
        self._saved: Progress | None = None
        self._checked_at = self._renewed_at = self._saved_at = self._stopping_since = 0.0

    def run(self, work: Work) -> ImportReport | None:
        """Do the work and update the record; None if the run was stopped early.

        An exception is recorded as a failure and raised again. If the library is busy, or the turn
        of the run is over, a run of the queue returns to it. If the source or a search server can't
        be reached, it is postponed.
        """
        watch = threading.Thread(target=self._watch, daemon=True, name=f"import {self.import_id}")
        self._checked_at = self._renewed_at = time.monotonic()
        watch.start()
        try:
            with log_context(import_id=self.import_id):
                return self._run(work)
        finally:
            self._ended.set()
            watch.join()

    def _run(self, work: Work) -> ImportReport | None:
        try:
            report = work(self._report, self._has_to_stop)
        except TurnOverError:
            self._stop(ImportState.QUEUED)
            self._log.stop("gives way to others")
            return None
        except CancelledError:
            self._stop(self.default_state)
            self._log.stop("stopped")
            return None
        except BusyError:
            self._stop(ImportState.QUEUED if self._is_resumable else self.default_state)
            raise
        except (SourceUnavailableError, StorageUnavailableError) as error:
            self._postpone(error)
            self._log.stop("interrupted", error)
            raise
        except Exception as error:
            self._log.stop("failed", error)  # first, because a full disk may have no room for it
            self._fail(error)
            raise
        except BaseException:
            # Not a failure: a service manager signals a worker twice, or a reader stops the page
            # that performs the run. The record must never stay in the state "running".
            self._stop(self.default_state)
            self._log.stop("stopped")
            raise
        report = replace(report, seconds=self._seconds())
        self._settle(report.state, report.message, report.seconds, report.passages_embedded)
        self._log.end(report)
        return report

    @property
    def _is_resumable(self) -> bool:
        """Whether it is a run of the queue, which a worker resumes; nobody waits for its end."""
        return self.default_state is ImportState.INTERRUPTED

    def _fail(self, error: Exception) -> None:
        reason = error.readers_message if isinstance(error, AppError) else repr(error)
        message = (
            _(
                "{reason} (imported documents are kept; the next import continues from there)"
            ).format(reason=reason)
            if self.kind is ImportKind.IMPORT
            else reason
        )
        self._settle(ImportState.FAILED, message, self._seconds())

    def _postpone(self, error: SourceUnavailableError | StorageUnavailableError) -> None:
        """Retry an import later; a dry run fails, because its user is waiting for it."""
        if isinstance(error, SourceUnavailableError):  # the failure was not in the last write
            self._has_written |= self._is_writing()
        if self.kind is ImportKind.IMPORT and self._is_resumable:
            self.leases.postpone(
                self.import_id,
                self.worker,
                error.readers_message,
                seconds=self._seconds(),
                has_written=self._has_written,
                at_least_s=error.retry_after_s,
            )
            self.is_recorded = True
        else:
            self._fail(error)

    def _settle(
        self, state: ImportState, message: str, seconds: float, passages: int | None = None
    ) -> None:
        self.leases.settle(
            self.import_id,
            self.worker,
            state,
            message=message,
            seconds=seconds,
            passages=passages,
        )
        self.is_recorded = True

    def release(self) -> None:
        """Record that the run was interrupted, if its end could not be recorded before.

        Raises:
            StorageError: The ledger still can't be written.
        """
        self._stop(self.default_state)

    def _stop(self, default_state: ImportState) -> None:
        # Before its first step, a run has only waited, possibly many times.
        seconds = self.seconds_before if self._progress is None else self._seconds()
        self.leases.stop(self.import_id, self.worker, default_state, seconds=seconds)
        self.is_recorded = True

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _has_to_stop(self) -> bool:
        if time.monotonic() - self._checked_at >= _STALE_S:
            # The process was suspended, and another worker may have taken over the run.
            with suppress(StorageError):  # without the ledger, the run can't write anyway
                self._check()
        return self._stop_requested or self.cancelled()

    def _report(self, progress: Progress) -> None:
        self._log.note(progress)
        with self._lock:
            self._has_written |= self._is_writing()
            self._progress = progress
            self._time_left.note(progress, time.monotonic())
        self.on_progress(self._with_time_left(progress))

    def _is_writing(self) -> bool:
        """Whether a write has begun that has not ended, as far as the progress shows."""
        return self._progress is not None and self._progress.stage is Stage.WRITING

    def _watch(self) -> None:
        while not self._ended.wait(_TICK_S):
            try:
                self._tick(time.monotonic())
            except StorageError:
                # The next tick tries again. If the ledger stays unavailable, the work fails anyway.
                continue

    def _check(self) -> None:
        self._stop_requested = self.leases.stop_request(self.import_id, self.worker) != ""
        self._checked_at = time.monotonic()

    def _tick(self, now: float) -> None:
        self._check()
        self._leave_after_grace(now)
        if now - self._renewed_at >= _RENEW_S:
            self.leases.renew(self.import_id, self.worker)
            self._renewed_at = now
        with self._lock:
            progress = None if self._progress is None else self._with_time_left(self._progress)
        if progress is not None and progress != self._saved and now - self._saved_at >= _SAVE_S:
            self.leases.save_progress(self.import_id, self.worker, progress, self._seconds())
            self._saved, self._saved_at = progress, now

    def _with_time_left(self, progress: Progress) -> Progress:
        """The progress with the time left now, which also shrinks between two reports."""
        seconds = self._time_left.at(time.monotonic())
        return replace(progress, seconds_left=None if seconds is None else round(seconds))

    def _leave_after_grace(self, now: float) -> None:
        if not self._has_to_stop():
            self._stopping_since = now
        elif self.leave is not None and now - self._stopping_since >= _GRACE_S:
            with self._lock:  # the work can't start writing during this block
                at = self._progress
                if at is not None and at.stage in _INTERRUPTIBLE and not self._ended.is_set():
                    self._stop(self.default_state)
                    with log_context(import_id=self.import_id):
                        self._log.stop("abandoned: it did not stop in time")
                    self.leave()


class RunLog:
    """Measures a run by its progress; each stage lasts until the next one is reported."""

    def __init__(self, kind: ImportKind) -> None:
        self._kind = kind
        self._times = StageTimes()
        self._waits = 0
        self._last: Progress | None = None
        self._document, self._document_s = "", 0.0
        self._slowest: list[tuple[float, str]] = []

    def note(self, progress: Progress) -> None:
        """Record progress; the first call logs the start of the run."""
        if self._last is None:
            _log.info(f"{self._kind.value} started")
        self._enter(progress.stage.value)
        self._waits += progress.stage is Stage.WAITING
        if progress.stage in _OF_A_DOCUMENT and progress.key != self._document:
            self._close_document(progress.key)
        self._last = progress

    def end(self, report: ImportReport) -> None:
        """Log the end of a run; at warning if its removals need confirmation."""
        withheld = report.state is ImportState.NEEDS_CONFIRMATION
        counts = {one.value: report.count(one) for one in Outcome if report.count(one)}
        fields = {**counts, "passages": report.passages_embedded, **self._figures()}
        write = _log.warning if withheld else _log.info
        state, source_id = report.state.value, report.source_id
        self._log_slowest()
        write(f"{self._kind.value} finished", state=state, source_id=source_id, **fields)
        for item in report.items:
            if item.outcome is Outcome.FAILED:
                _log.debug("document not imported", document=item.key, reason=item.reason)

    def stop(self, why: str, error: Exception | None = None) -> None:
        """Log that a run stopped early, unless it never started."""
        if self._last is not None:
            reason = None if error is None else str(error) or type(error).__name__
            write = _log.warning if error else _log.info
            figures = self._figures()
            self._log_slowest()
            write(f"{self._kind.value} {why}", reason=reason, **figures)

    def _figures(self) -> dict[str, Any]:
        self._enter("")
        self._close_document("")
        return {**self._times.fields(), "retries": self._waits}

    def _log_slowest(self) -> None:
        """Log at debug, because not everyone who reads the log may know the names of documents."""
        for seconds, name in sorted(self._slowest, reverse=True):
            _log.debug("slow document", document=name, document_ms=milliseconds(seconds))

    def _enter(self, stage: str) -> None:
        seconds = self._times.enter(stage)
        if self._last is not None and self._last.stage in _TIME_OF_A_DOCUMENT:
            self._document_s += seconds

    def _close_document(self, following: str) -> None:
        if self._document:
            heapq.heappush(self._slowest, (self._document_s, self._document))
            if len(self._slowest) > SLOWEST:
                heapq.heappop(self._slowest)
        self._document, self._document_s = following, 0.0
