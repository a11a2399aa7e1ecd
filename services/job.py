"""One import at work: signs of life, its progress, what people wish of it, and how it ended."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from domain import ImportKind, ImportReport, ImportState
from errors import AppError, BusyError, SourceUnavailableError, StorageError
from services.progress import (
    Cancelled,
    CancelledError,
    OnProgress,
    Progress,
    Stage,
    ignore,
    never,
)
from storage.import_leases import ImportLeases

_TICK_S = 0.1
_STALE_S = 4.0
_RENEW_S = 4.0
_TELL_S = 0.3
_GRACE_S = 0.8
_LOSSLESS = {Stage.LISTING, Stage.READING, Stage.SPLITTING, Stage.EMBEDDING, Stage.WAITING}
"""The stages in which nothing is being written: leaving loses work, and nothing else."""

_GOES_ON = "what was imported is kept, and importing again goes on from there"

Work = Callable[[OnProgress, Cancelled], ImportReport]


class Job:
    """An import that this process is at work on, until it ends or is to stop."""

    def __init__(
        self,
        leases: ImportLeases,
        import_id: str,
        worker: str,
        *,
        otherwise: ImportState,
        kind: ImportKind = ImportKind.IMPORT,
        seconds_before: float = 0.0,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
        leave: Callable[[], object] | None = None,
    ) -> None:
        """Args are kept, nothing is started.

        Args:
            leases: Where the import is held.
            import_id: Which one.
            worker: By whom.
            otherwise: How it stands when it stops without anybody having wished it there.
            kind: What it is; only of an import something is kept where it fails.
            seconds_before: Spent on it before.
            on_progress: Is told what the record is told.
            cancelled: Another wish to stop, besides those in the record.
            leave: Ends this process; called where the work doesn't stop soon by itself.
        """
        self._leases = leases
        self._import_id = import_id
        self._worker = worker
        self._otherwise = otherwise
        self._kind = kind
        self._seconds_before = seconds_before
        self._began = time.monotonic() - seconds_before
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._leave = leave
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._wished = self._has_written = False
        self._progress: Progress | None = None
        self._told: Progress | None = None
        self._looked_at = self._renewed_at = self._told_at = self._stopping_since = 0.0

    def run(self, work: Work) -> ImportReport | None:
        """Do the work and settle the record; None where it was stopped before its end.

        What the work raises is settled as a failure and raised again; while the library is busy
        the import goes back into the queue, and while its source can't be reached it is interrupted
        for a while.
        """
        watch = threading.Thread(target=self._watch, daemon=True, name=f"job {self._import_id}")
        self._looked_at = self._renewed_at = time.monotonic()
        watch.start()
        try:
            return self._settled(work)
        finally:
            self._ended.set()
            watch.join()

    def _settled(self, work: Work) -> ImportReport | None:
        try:
            report = work(self._tell, self._is_to_stop)
        except CancelledError:
            self._stop(self._otherwise)
            return None
        except KeyboardInterrupt:
            # A worker that is told to end twice, as service managers do, ends no import by that.
            self._stop(self._otherwise)
            raise
        except BusyError:
            self._stop(ImportState.QUEUED)
            raise
        except SourceUnavailableError as error:
            self._postpone(error)
            raise
        except BaseException as error:
            # Whatever broke it, nobody shall see it running for ever.
            self._fail(error)
            raise
        report = replace(report, seconds=self._seconds())
        self._settle(report.state, report.message, report.passages_embedded, report.seconds)
        return report

    def _fail(self, error: BaseException) -> None:
        told = str(error) if isinstance(error, AppError) else repr(error)
        message = f"{told} ({_GOES_ON})" if self._kind is ImportKind.IMPORT else told
        self._settle(ImportState.FAILED, message, None, self._seconds())

    def _postpone(self, error: SourceUnavailableError) -> None:
        """Leave an import for a while; nobody waits for a dry run that long."""
        if self._kind is ImportKind.IMPORT and self._otherwise is ImportState.INTERRUPTED:
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
        self, state: ImportState, message: str, passages: int | None, seconds: float
    ) -> None:
        self._leases.settle(
            self._import_id,
            self._worker,
            state,
            message=message,
            seconds=seconds,
            passages=passages,
        )

    def _stop(self, otherwise: ImportState) -> None:
        # What has not come to its first step has only waited, maybe for the hundredth time.
        seconds = self._seconds_before if self._progress is None else self._seconds()
        self._leases.stop(self._import_id, self._worker, otherwise, seconds=seconds)

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _is_to_stop(self) -> bool:
        if time.monotonic() - self._looked_at >= _STALE_S:
            # This process stood still: another may have taken the import over meanwhile.
            with suppress(StorageError):  # without a ledger nothing is written either
                self._look()
        return self._wished or self._cancelled()

    def _tell(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
            self._has_written |= progress.stage is Stage.WRITING
        self._on_progress(progress)

    def _watch(self) -> None:
        while not self._ended.wait(_TICK_S):
            try:
                self._tick(time.monotonic())
            except StorageError:
                # The next tick tries again; should the ledger stay away, the work itself fails.
                continue

    def _look(self) -> None:
        self._wished = self._leases.wish(self._import_id, self._worker) != ""
        self._looked_at = time.monotonic()

    def _tick(self, now: float) -> None:
        self._look()
        self._leave_if_it_lasts(now)
        if now - self._renewed_at >= _RENEW_S:
            self._leases.renew(self._import_id, self._worker)
            self._renewed_at = now
        if self._progress not in (None, self._told) and now - self._told_at >= _TELL_S:
            self._note(self._progress)
            self._told_at = now

    def _note(self, progress: Progress | None) -> None:
        if progress is not None:
            self._leases.tell(self._import_id, self._worker, progress, self._seconds())
            self._told = progress

    def _leave_if_it_lasts(self, now: float) -> None:
        if not self._is_to_stop():
            self._stopping_since = now
        elif self._leave is not None and now - self._stopping_since >= _GRACE_S:
            with self._lock:  # the work can't begin to write meanwhile
                at = self._progress
                if at is not None and at.stage in _LOSSLESS and not self._ended.is_set():
                    self._stop(self._otherwise)
                    self._leave()
