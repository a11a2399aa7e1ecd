"""Logs how much time one import run spends on each stage and on its slowest documents."""

import heapq
from typing import Any

from domain import ImportKind, ImportReport, ImportState, Outcome
from domain.logs import StageTimes, get_logger, milliseconds
from services.long_work import Progress, Stage

SLOWEST = 5
_OF_A_DOCUMENT = {Stage.READING, Stage.SPLITTING}
_TIME_OF_A_DOCUMENT = {*_OF_A_DOCUMENT, Stage.WAITING}

_log = get_logger("imports")


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
        write(f"{self._kind.value} finished", state=state, source_id=source_id, **fields)
        for item in report.items:
            if item.outcome is Outcome.FAILED:
                _log.info("document not imported", document=item.key, reason=item.reason)

    def stop(self, why: str, error: BaseException | None = None) -> None:
        """Log that a run stopped early, unless it never started."""
        if self._last is not None:
            reason = None if error is None else str(error) or type(error).__name__
            write = _log.warning if error else _log.info
            write(f"{self._kind.value} {why}", reason=reason, **self._figures())

    def _figures(self) -> dict[str, Any]:
        self._enter("")
        self._close_document("")
        slowest = [
            {"document": name, "ms": milliseconds(seconds)}
            for seconds, name in sorted(self._slowest, reverse=True)
        ]
        return {**self._times.fields(), "retries": self._waits, "slowest": slowest}

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
