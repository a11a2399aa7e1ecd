"""A running import and the thread that watches it."""

import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from domain import CancelledError, ImportKind, ImportReport, ImportState, Progress, Stage
from domain.errors import (
    BusyError,
    ForbiddenAddressError,
    SourceUnavailableError,
    StorageError,
    StorageUnavailableError,
)
from services.imports import leased_run as module
from services.imports.leased_run import LeasedRun
from storage.ledger.import_queue_store import CANCEL, PAUSE, ImportRuns
from storage.ledger.ledger_tables import ImportRow
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
def import_id(library, queue):
    queue.enqueue(library.source.id, "anna", ImportKind.IMPORT, {})
    return library.leases.claim("w").id


def job(library, import_id, **options):
    return LeasedRun(
        library.leases, import_id, "w", default_state=ImportState.INTERRUPTED, **options
    )


def until(condition):
    """Wait for the watching thread; the time limit of the test ends an endless wait."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.005)


def at(stage, done=1):
    return Progress(stage, done, 5, "a.txt", 7, 3, 9)


def test_progress_and_working_time_are_saved_in_the_record(library, queue, import_id):
    def work(report, _cancelled):
        report(at(Stage.EMBEDDING))
        until(lambda: queue.get(import_id).progress == at(Stage.EMBEDDING))
        return ImportReport(import_id, library.source.id, ImportState.COMPLETED)

    assert job(library, import_id).run(work).state is ImportState.COMPLETED
    assert queue.get(import_id).seconds > 0


@pytest.mark.parametrize(
    ("stop_request", "state"), [(PAUSE, ImportState.PAUSED), (CANCEL, ImportState.CANCELLED)]
)
def test_a_stop_request_in_the_record_stops_the_work_and_sets_its_state(
    library, queue, import_id, stop_request, state
):
    def work(_report, cancelled):
        queue.request_stop(import_id, stop_request)
        until(cancelled)
        raise CancelledError

    assert job(library, import_id).run(work) is None
    assert queue.get(import_id).state is state


@pytest.mark.parametrize("stage", [Stage.LISTING, Stage.READING, Stage.SPLITTING, Stage.EMBEDDING])
def test_unresponsive_work_is_settled_before_the_process_is_left(library, queue, import_id, stage):
    states = []

    def work(report, _cancelled):
        report(at(stage))
        queue.request_stop(import_id, PAUSE)
        until(lambda: states)
        raise CancelledError

    leave = lambda: states.append(queue.get(import_id).state)  # noqa: E731
    job(library, import_id, leave=leave).run(work)
    assert states[0] is ImportState.PAUSED


@pytest.mark.parametrize("stage", [Stage.WRITING, Stage.REMOVING, Stage.INDEXING, None])
def test_the_process_is_never_left_while_writing(library, queue, import_id, stage):
    exits = []
    checks = []
    stop_request = library.leases.stop_request
    library.leases.stop_request = lambda *names: checks.append(1) or stop_request(*names)

    def work(report, cancelled):
        if stage:
            report(at(stage))
        queue.request_stop(import_id, CANCEL)
        until(cancelled)
        checks_before = len(checks)
        until(lambda: len(checks) > checks_before + 3)
        raise CancelledError

    job(library, import_id, leave=lambda: exits.append(1)).run(work)
    assert exits == []
    assert queue.get(import_id).state is ImportState.CANCELLED


def test_a_pause_withdrawn_before_it_took_effect_lets_the_import_continue(
    library, queue, import_id
):
    def work(_report, cancelled):
        queue.request_stop(import_id, PAUSE)
        until(cancelled)
        queue.resume(import_id)
        raise CancelledError

    job(library, import_id).run(work)
    assert library.leases.claim("another").id == import_id


def test_after_a_standstill_the_work_stops_if_another_worker_has_the_lease(
    library, queue, import_id, monkeypatch
):
    monkeypatch.setattr(module, "_TICK_S", 600)  # the watching thread has not checked yet
    monkeypatch.setattr(module, "_STALE_S", 0)
    cancellations = []

    def work(_report, cancelled):
        cancellations.append(cancelled())
        library.leases.stop(import_id, "w", ImportState.QUEUED, seconds=1)
        assert library.leases.claim("another").id == import_id
        cancellations.append(cancelled())
        raise CancelledError

    job(library, import_id).run(work)
    assert cancellations == [False, True]
    assert queue.get(import_id).state is ImportState.RUNNING


def test_waiting_for_the_library_does_not_count_as_working_time(library, queue, import_id):
    library.leases.stop(import_id, "w", ImportState.QUEUED, seconds=7)
    before = library.leases.claim("w").seconds

    def work(_report, _cancelled):
        raise BusyError("a reindex is running")

    for _ in range(2):
        with pytest.raises(BusyError):
            job(library, import_id, seconds_before=before).run(work)
        assert library.leases.claim("w").seconds == 7


def test_work_before_the_ledger_was_busy_counts_as_working_time(library, queue, import_id):
    def work(report, _cancelled):
        report(at(Stage.READING))
        raise BusyError("the ledger is being written by another process")

    with pytest.raises(BusyError):
        job(library, import_id, seconds_before=7).run(work)
    assert queue.get(import_id).seconds > 7


def test_an_error_is_recorded_and_raised_again(library, queue, import_id):
    def work(_report, _cancelled):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        job(library, import_id).run(work)
    failed = queue.get(import_id)
    assert (failed.state, failed.ended) == (ImportState.FAILED, True)
    assert "broken" in failed.message
    assert "imported documents are kept" in failed.message


def test_a_failed_removal_does_not_claim_that_documents_are_kept(library, queue, import_id):
    def work(_report, _cancelled):
        raise StorageError("The folder can't be deleted.")

    with pytest.raises(StorageError):
        job(library, import_id, kind=ImportKind.REMOVAL).run(work)
    assert queue.get(import_id).message == "The folder can't be deleted."


class PageStop(BaseException):
    """Like the exception with which Streamlit stops a page."""


@pytest.mark.parametrize("stop", [KeyboardInterrupt, PageStop])
def test_an_import_that_a_signal_or_the_stop_of_a_page_interrupts_is_resumed_by_the_next_worker(
    library, queue, import_id, stop
):
    def work(_report, _cancelled):
        raise stop

    with pytest.raises(stop):
        job(library, import_id).run(work)
    assert queue.get(import_id).state is ImportState.INTERRUPTED
    assert library.leases.claim("another").id == import_id


@pytest.mark.parametrize(
    ("stages", "error", "pause_s"),
    [
        ([Stage.WRITING], StorageUnavailableError, 30),
        ([Stage.WRITING, Stage.READING], StorageUnavailableError, 15),
        ([Stage.READING], SourceUnavailableError, 30),
        ([Stage.READING, Stage.WRITING], SourceUnavailableError, 15),
        ([Stage.LISTING], ForbiddenAddressError, 30),  # its name may be known again then
    ],
)
def test_only_an_attempt_that_wrote_something_starts_the_retries_again(
    library, queue, import_id, stages, error, pause_s
):
    """A write that the search server rejects again and again must not be retried without end."""

    def work(report, _cancelled):
        for stage in stages:
            report(at(stage))
        raise error("off")

    with library.database.write() as session:
        session.execute(update(ImportRow).values(attempts=1))
    with pytest.raises(error):
        job(library, import_id).run(work)
    pause = queue.get(import_id).retry_at - datetime.now(UTC)
    assert pause.total_seconds() == pytest.approx(pause_s, abs=5)
