from datetime import UTC, datetime

from domain import ImportKind, ImportState, Progress, QueuedImport, Stage
from services.pace import pace_of


def job(done, total, seconds):
    progress = Progress(Stage.READING, done, total)
    now = datetime.now(UTC)
    return QueuedImport(
        "i", "s", ImportKind.IMPORT, ImportState.RUNNING, now, seconds=seconds, progress=progress
    )


def test_the_rate_so_far_tells_the_time_left():
    pace = pace_of(job(20, 100, 10.0))
    assert (pace.per_minute, pace.left_s) == (120.0, 40.0)


def test_nothing_is_foretold_before_anything_is_done_or_known():
    assert pace_of(job(0, 100, 10.0)) is None
    assert pace_of(job(20, 0, 10.0)) is None
    assert pace_of(job(20, 100, 0.1)) is None
