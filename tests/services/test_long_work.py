import time

import pytest

from domain import CancelledError, Progress, Stage
from services.long_work import CancelableWait, never


def test_a_wait_is_reported_with_its_reason_and_the_previous_figures():
    reports = []
    wait = CancelableWait(reports.append, never)
    reading = Progress(Stage.READING, 3, 9, "a page", 40)
    wait.report(reading)
    wait.wait(0.01, "The site asked to wait.")
    assert reports == [
        reading,
        Progress(Stage.WAITING, 3, 9, "The site asked to wait.", 40),
        reading,
    ]


def test_a_wait_lasts_for_the_requested_time():
    start = time.monotonic()
    CancelableWait(lambda _: None, never).wait(0.25, "why")
    assert time.monotonic() - start >= 0.25


def test_a_cancellation_ends_a_wait_immediately():
    cancellations = iter([False, True])
    with pytest.raises(CancelledError):
        CancelableWait(lambda _: None, lambda: next(cancellations)).wait(3600, "why")


def test_a_cancellation_at_the_end_of_a_wait_takes_effect():
    with pytest.raises(CancelledError):
        CancelableWait(lambda _: None, lambda: True).wait(0, "why")
