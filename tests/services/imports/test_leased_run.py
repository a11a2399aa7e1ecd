"""An import at work, seen from the thread that watches over it."""

import threading

import pytest

from domain import ImportKind, ImportReport, ImportState, Progress
from errors import BusyError, StorageError
from services.imports import leased_run as module
from services.imports.leased_run import LeasedRun
from services.long_work import CancelledError, Stage
from storage.ledger.import_queue_store import CANCEL, PAUSE, ImportRuns
from tests.fakes.library import Library


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_TICK_S", 0.01)
    monkeypatch.setattr(module, "_SAVE_S", 0)
    monkeypatch.setattr(module, "_GRACE_S", 0)
    return Library(tmp_path)


@pytest.fixture
def queue(library):
    return ImportRuns(library.database)


@pytest.fixture
def claimed(library, queue):
    queue.enqueue(library.source.id, "anna", ImportKind.IMPORT, {})
    return library.leases.claim("w").id


def job(library, claimed, **options):
    return LeasedRun(library.leases, claimed, "w", default_state=ImportState.INTERRUPTED, **options)


def until(condition):
    """Wait for the watching thread; the test's own limit ends what never comes true."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.005)


def at(stage, done=1):
    return Progress(stage, done, 5, "a.txt", 7, 3, 9)


def test_the_record_tells_how_far_the_work_has_come(library, queue, claimed):
    def work(tell, _stops):
        tell(at(Stage.EMBEDDING))
        until(lambda: queue.get(claimed).progress == at(Stage.EMBEDDING))
        return ImportReport(claimed, library.source.id, ImportState.COMPLETED)

    assert job(library, claimed).run(work).state is ImportState.COMPLETED
    assert queue.get(claimed).seconds > 0


@pytest.mark.parametrize(
    ("stop_request", "state"), [(PAUSE, ImportState.PAUSED), (CANCEL, ImportState.CANCELLED)]
)
def test_a_stop_request_in_the_record_reaches_the_work_and_settles_it(
    library, queue, claimed, stop_request, state
):
    def work(_tell, stops):
        queue.request_stop(claimed, stop_request)
        until(stops)
        raise CancelledError

    assert job(library, claimed).run(work) is None
    assert queue.get(claimed).state is state


@pytest.mark.parametrize("stage", [Stage.LISTING, Stage.READING, Stage.SPLITTING, Stage.EMBEDDING])
def test_work_that_does_not_hear_is_settled_first_and_then_left(library, queue, claimed, stage):
    found = []

    def work(tell, _stops):
        tell(at(stage))
        queue.request_stop(claimed, PAUSE)
        until(lambda: found)
        raise CancelledError

    leave = lambda: found.append(queue.get(claimed).state)  # noqa: E731
    job(library, claimed, leave=leave).run(work)
    assert found[0] is ImportState.PAUSED


@pytest.mark.parametrize("stage", [Stage.WRITING, Stage.REMOVING, Stage.INDEXING, None])
def test_what_writes_is_never_left(library, queue, claimed, stage):
    left = []
    looks = []
    look = library.leases.stop_request
    library.leases.stop_request = lambda *names: looks.append(1) or look(*names)

    def work(tell, stops):
        if stage:
            tell(at(stage))
        queue.request_stop(claimed, CANCEL)
        until(stops)
        seen = len(looks)
        until(lambda: len(looks) > seen + 3)
        raise CancelledError

    job(library, claimed, leave=lambda: left.append(1)).run(work)
    assert left == []
    assert queue.get(claimed).state is ImportState.CANCELLED


def test_a_pause_that_is_taken_back_before_it_was_settled_lets_the_import_go_on(
    library, queue, claimed
):
    def work(_tell, stops):
        queue.request_stop(claimed, PAUSE)
        until(stops)
        queue.resume(claimed)
        raise CancelledError

    job(library, claimed).run(work)
    assert library.leases.claim("another").id == claimed


def test_after_a_standstill_the_work_hears_at_once_that_another_has_taken_it_over(
    library, queue, claimed, monkeypatch
):
    monkeypatch.setattr(module, "_TICK_S", 600)  # the watching thread has not come to look yet
    monkeypatch.setattr(module, "_STALE_S", 0)
    heard = []

    def work(_tell, stops):
        heard.append(stops())
        library.leases.stop(claimed, "w", ImportState.QUEUED, seconds=1)
        assert library.leases.claim("another").id == claimed
        heard.append(stops())
        raise CancelledError

    job(library, claimed).run(work)
    assert heard == [False, True]
    assert queue.get(claimed).state is ImportState.RUNNING


def test_waiting_for_the_library_is_not_counted_as_work(library, queue, claimed):
    library.leases.stop(claimed, "w", ImportState.QUEUED, seconds=7)
    before = library.leases.claim("w").seconds

    def work(_tell, _stops):
        raise BusyError("a reindex is running")

    for _ in range(2):
        with pytest.raises(BusyError):
            job(library, claimed, seconds_before=before).run(work)
        assert library.leases.claim("w").seconds == 7


def test_what_was_done_before_the_ledger_was_busy_is_counted(library, queue, claimed):
    def work(tell, _stops):
        tell(at(Stage.READING))
        raise BusyError("the ledger is being written by another process")

    with pytest.raises(BusyError):
        job(library, claimed, seconds_before=7).run(work)
    assert queue.get(claimed).seconds > 7


def test_an_error_of_the_work_is_recorded_and_raised(library, queue, claimed):
    def work(_tell, _stops):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        job(library, claimed).run(work)
    failed = queue.get(claimed)
    assert (failed.state, failed.ended) == (ImportState.FAILED, True)
    assert "broken" in failed.message
    assert "imported documents are kept" in failed.message


def test_of_what_is_no_import_nothing_is_said_to_be_kept(library, queue, claimed):
    def work(_tell, _stops):
        raise StorageError("The folder can't be deleted.")

    with pytest.raises(StorageError):
        job(library, claimed, kind=ImportKind.REMOVAL).run(work)
    assert queue.get(claimed).message == "The folder can't be deleted."


def test_a_worker_that_is_told_to_end_twice_leaves_its_import_to_the_next(library, queue, claimed):
    def work(_tell, _stops):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job(library, claimed).run(work)
    assert queue.get(claimed).state is ImportState.INTERRUPTED
    assert library.leases.claim("another").id == claimed
