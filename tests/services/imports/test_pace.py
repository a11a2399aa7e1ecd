from datetime import UTC, datetime

from domain import ImportKind, ImportRun, ImportState, Progress, Stage
from services.imports.import_queue import import_rate


def job(done, total, seconds):
    progress = Progress(Stage.READING, done, total)
    now = datetime.now(UTC)
    return ImportRun(
        "i", "s", ImportKind.IMPORT, ImportState.RUNNING, now, seconds=seconds, progress=progress
    )


def test_the_remaining_time_is_estimated_from_the_rate():
    pace = import_rate(job(20, 100, 10.0))
    assert (pace.per_minute, pace.remaining_s) == (120.0, 40.0)


def test_there_is_no_estimate_without_progress_or_a_total():
    assert import_rate(job(0, 100, 10.0)) is None
    assert import_rate(job(20, 0, 10.0)) is None
    assert import_rate(job(20, 100, 0.1)) is None
