"""How fast an import goes, and when it will be done."""

from dataclasses import dataclass

from domain import QueuedImport

_TELLING_S = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Documents per minute, and the seconds left at that rate."""

    per_minute: float
    left_s: float


def pace_of(job: QueuedImport) -> Pace | None:
    """The pace of an import; None before it tells anything."""
    progress = job.progress
    if progress is None or not progress.total or not progress.done or job.seconds < _TELLING_S:
        return None
    per_second = progress.done / job.seconds
    return Pace(per_second * 60, (progress.total - progress.done) / per_second)
