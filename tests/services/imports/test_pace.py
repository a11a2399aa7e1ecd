from datetime import UTC, datetime

from domain import ImportKind, ImportRun, ImportState, Progress, Stage
from services.imports.import_queue import import_rate


def job(done, total, seconds):
    progress = Progress(Stage.READING, done, total)
    now = datetime.now(UTC)
    return ImportRun(
        "i", "s", ImportKind.IMPORT, ImportState.RUNNING, now, seconds=seconds, progress=progress
    )


def test_the_rate_so_far_tells_the_time_left():
    pace = import_rate(job(20, 100, 10.0))
    assert (pace.per_minute, pace.remaining_s) == (120.0, 40.0)


def test_nothing_is_foretold_before_anything_is_done_or_known():
    assert import_rate(job(0, 100, 10.0)) is None
    assert import_rate(job(20, 0, 10.0)) is None
    assert import_rate(job(20, 100, 0.1)) is None
