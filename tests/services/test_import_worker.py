"""Imports performed by a worker: resumed, stopped, lost, and rejected ones."""

import threading
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from domain import ImportKind, ImportState, Outcome, Stage
from domain.errors import (
    BusyError,
    NotFoundError,
    SourceError,
    SourceUnavailableError,
    StorageError,
    StorageUnavailableError,
    UnreadableError,
)
from services.import_worker import Worker
from services.imports import compaction
from services.imports.compaction import Compaction
from services.imports.import_queue import ImportQueue
from storage.ledger.import_queue_store import CANCEL, PAUSE, ImportRuns
from storage.processes import process_name
from storage.safe_writes import writer_lock
from tests.fakes.library import DEAD, DictLoader, Library


def documents(count, words=3):
    return {f"{n:03}.txt": f"document {n}. " * words for n in range(count)}


class Factory:
    """A library whose worker reads from one loader."""

    def __init__(self, data_dir, loader):
        self.library = Library(data_dir)
        self.loader = loader
        self.queue = ImportRuns(self.library.database)
        self.reports = []
        self.react = lambda progress: None
        self.refresh_due = lambda: None
        self.worker = Worker(
            self.library.database,
            ImportQueue(self.library.database, self.library.access, self.library.audit),
            SimpleNamespace(refresh_due=lambda principal, now: self.refresh_due()),
            SimpleNamespace(loader=lambda source, wait: self.loader),
            SimpleNamespace(perform=self.perform),
            removals=None,
            compaction=Compaction(self.library.database, self.library.stores),
        )
        self.workers = self.worker._workers
        self.worker._leases = self.library.leases

    def perform(self, task):
        return self.library.imports.perform(
            replace(task, cancelled=lambda: self.stop_requested() or task.cancelled())
        )

    def stop_requested(self):
        """Reads the record: a test must not depend on how often a worker checks it."""
        return any(run.stop_request for run in self.queue.current())

    def enqueue(self, kind=ImportKind.IMPORT, **options):
        return self.queue.enqueue(self.library.source.id, "anna", kind, options).id

    def run_next(self):
        def on_progress(progress):
            self.reports.append(progress)
            self.react(progress)

        return self.worker.run_next(on_progress)

    def request_stop_at(self, import_id, stop_request, stage, done):
        def react(progress):
            if (progress.stage, progress.done) == (stage, done):
                self.react = lambda progress: None
                self.queue.request_stop(import_id, stop_request)

        self.react = react

    def items(self, import_id):
        return self.library.import_store.get(import_id).items


@pytest.fixture
def factory(tmp_path):
    return Factory(tmp_path / "data", DictLoader(documents(200)))


def test_a_paused_import_resumes_with_its_record_and_one_item_per_document(factory):
    job = factory.enqueue()
    factory.request_stop_at(job, PAUSE, Stage.READING, 130)
    factory.run_next()
    paused = factory.queue.get(job)
    assert (paused.state, paused.ended, paused.stop_request) == (ImportState.PAUSED, False, "")
    assert len(factory.items(job)) == 128
    assert not factory.run_next(), "a paused import is not resumed automatically"

    factory.queue.resume(job)
    factory.reports.clear()
    factory.run_next()
    completed = factory.queue.get(job)
    assert (completed.state, completed.counts) == (ImportState.COMPLETED, {"new": 200})
    assert completed.passages_embedded == 200
    assert Counter(item.key for item in factory.items(job)) == Counter(list(factory.loader.texts))
    first = next(progress for progress in factory.reports if progress.stage is Stage.READING)
    assert (first.done, first.total, first.passages) == (128, 200, 128)
    assert factory.library.check().agrees


def test_documents_changed_during_a_pause_are_counted_once(factory):
    factory.library.load(DictLoader({"kept": "x", "gone": "y"}))
    factory.loader.texts = documents(100) | {"kept": "x", "gone": "z"}
    job = factory.enqueue(confirm_removals=True)
    factory.request_stop_at(job, PAUSE, Stage.READING, 90)
    factory.run_next()
    factory.loader.texts["000.txt"] = "edited meanwhile"
    del factory.loader.texts["gone"]
    factory.queue.resume(job)
    factory.run_next()

    counts = {"new": 100, "unchanged": 1, "gone": 1}
    assert factory.queue.get(job).counts == counts
    assert Counter(item.outcome for item in factory.items(job)) == Counter(counts)
    assert factory.library.texts() == factory.loader.texts


def test_requested_unchanged_documents_are_not_read_again_after_a_pause(factory):
    factory.enqueue()
    factory.run_next()
    factory.loader.reads.clear()
    keys = sorted(factory.loader.texts)
    job = factory.enqueue(keys=keys)
    factory.request_stop_at(job, PAUSE, Stage.READING, 130)
    factory.run_next()
    factory.queue.resume(job)
    factory.run_next()
    assert factory.queue.get(job).counts == {"changed": 200}
    assert [key for key, n in Counter(factory.loader.reads).items() if n > 1] == keys[128:131]


@pytest.mark.parametrize(
    ("stop_request", "state"), [(PAUSE, ImportState.PAUSED), (CANCEL, ImportState.CANCELLED)]
)
@pytest.mark.parametrize("stage", [Stage.LISTING, Stage.READING, Stage.SPLITTING, Stage.EMBEDDING])
def test_a_stop_request_takes_effect_before_the_next_step_and_nothing_is_written(
    factory, stop_request, state, stage
):
    job = factory.enqueue()
    factory.request_stop_at(job, stop_request, stage, 0 if stage is not Stage.EMBEDDING else 63)
    factory.run_next()
    assert factory.queue.get(job).state is state
    stages = [progress.stage for progress in factory.reports]
    assert stages[-1] is stage
    assert Stage.WRITING not in stages
    assert factory.library.texts() == {}


def test_a_stop_request_takes_effect_between_two_batches_of_a_long_document(factory):
    factory.loader.texts = {"long.txt": "many words. " * 5000}
    job = factory.enqueue()
    factory.react = lambda progress: progress.part and factory.queue.request_stop(job, CANCEL)
    factory.run_next()
    last = factory.reports[-1]
    assert (last.stage, last.key) == (Stage.EMBEDDING, "long.txt")
    assert factory.library.embeddings.texts == last.part == 16 < last.parts
    assert factory.queue.get(job).state is ImportState.CANCELLED


def test_the_stages_of_a_document_are_reported_in_order(factory):
    factory.loader.texts = {"a.txt": "words. " * 100}
    factory.enqueue()
    factory.run_next()
    stages = list(dict.fromkeys(progress.stage for progress in factory.reports))
    assert stages == [
        Stage.LISTING,
        Stage.READING,
        Stage.SPLITTING,
        Stage.EMBEDDING,
        Stage.WRITING,
    ]


def test_an_import_whose_worker_died_is_interrupted_and_then_resumed(factory):
    job = factory.enqueue()
    assert factory.library.leases.claim(DEAD).id == job
    assert factory.library.leases.interrupt_dead() == 1
    interrupted = factory.queue.get(job)
    assert (interrupted.state, interrupted.ended) == (ImportState.INTERRUPTED, False)
    assert "next worker or import continues" in interrupted.message

    assert factory.run_next()
    assert factory.queue.get(job).counts == {"new": 200}


def test_a_worker_that_lost_its_lease_stops_and_leaves_the_import_unchanged(factory):
    job = factory.enqueue()
    other = process_name()

    def lose(progress):
        if progress.stage is Stage.READING and progress.done == 70:
            factory.library.leases.stop(job, factory.holder, ImportState.QUEUED, seconds=1)
            assert factory.library.leases.claim(other).id == job

    claim = factory.library.leases.claim
    factory.library.leases.claim = lambda name: setattr(factory, "holder", name) or claim(name)
    factory.react = lose
    factory.run_next()
    assert factory.queue.get(job).state is ImportState.RUNNING
    assert factory.library.leases.stop_request(job, other) == ""


def test_an_unlistable_source_fails_its_import_and_the_worker_continues(factory):
    def refuse(before):
        raise SourceError("/docs is not there")
        yield

    factory.loader.list = refuse
    job = factory.enqueue()
    assert factory.run_next()
    failed = factory.queue.get(job)
    assert (failed.state, failed.ended) == (ImportState.FAILED, True)
    assert "/docs is not there" in failed.message


def test_an_import_stays_queued_while_another_process_writes(factory):
    job = factory.enqueue()
    locked, release = threading.Event(), threading.Event()

    def hold():
        with writer_lock(factory.library.data_dir):
            locked.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(10)
    try:
        assert not factory.run_next()
        waiting = factory.queue.get(job)
        assert (waiting.state, waiting.seconds) == (ImportState.QUEUED, 0), "waiting is not work"
        with pytest.raises(BusyError, match="Another import or a reindex is running"):
            factory.library.load(factory.loader)
    finally:
        release.set()
        holder.join()
    assert factory.run_next()
    assert factory.queue.get(job).state is ImportState.COMPLETED


def test_an_import_whose_source_is_deleted_ends_without_an_error(factory):
    factory.enqueue()

    def delete(progress):
        if progress.stage is Stage.READING and progress.done == 10:
            factory.library.sources.remove(factory.library.source.id)

    factory.react = delete
    assert factory.run_next()
    assert factory.queue.current() == []
    assert not factory.run_next()


def test_excluded_documents_are_removed_without_confirmation_and_stay_excluded(factory):
    library = factory.library
    library.load(factory.loader)
    excluded = sorted(factory.loader.texts)[:150]
    library.sources.save(
        library.source.id, name="docs", options={"left_out": excluded}, refresh_s=None
    )
    job = factory.enqueue()
    factory.run_next()
    completed = factory.queue.get(job)
    assert (completed.state, completed.counts) == (
        ImportState.COMPLETED,
        {"gone": 150, "unchanged": 50},
    )
    again = factory.enqueue(keys=excluded[:2])
    factory.run_next()
    assert factory.queue.get(again).counts == {}


def test_a_direct_import_ends_an_interrupted_import_of_the_same_source(factory):
    job = factory.enqueue()
    factory.library.leases.claim(DEAD)
    factory.library.leases.interrupt_dead()
    factory.library.load(factory.loader)
    interrupted = factory.queue.get(job)
    assert (interrupted.state, interrupted.ended) == (ImportState.INTERRUPTED, True)
    assert not factory.run_next()


def test_repeated_failures_are_stored_until_the_document_is_read(factory):
    class Refusing(DictLoader):
        def read(self, ref):
            raise UnreadableError("no permission") from PermissionError("denied")

    factory.loader = Refusing({"a": "text"}, hidden={"b": "is too large"})
    factory.enqueue()
    factory.run_next()
    failures = factory.library.import_store.failures(factory.library.source.id)
    assert {key: (failure.reason, failure.again) for key, failure in failures.items()} == {
        "a": ("no permission", True),
        "b": ("is too large", True),
    }
    factory.loader = DictLoader({"a": "text"})
    factory.enqueue()
    factory.run_next()
    assert factory.library.import_store.failures(factory.library.source.id) == {}


def test_a_worker_reports_that_it_is_alive_and_stops_on_request(factory):
    stop, job = threading.Event(), factory.enqueue()
    thread = threading.Thread(target=factory.worker.run, args=(stop,))
    thread.start()
    try:
        while factory.queue.get(job).state is not ImportState.COMPLETED:
            assert thread.is_alive()
            stop.wait(0.05)
        assert factory.workers.any_alive()
    finally:
        stop.set()
        thread.join()
    assert not factory.workers.any_alive()


def test_a_busy_ledger_at_the_end_does_not_prevent_a_worker_from_stopping(factory):
    def refuse(_name):
        raise StorageError("being written by another process")

    stop = threading.Event()
    factory.refresh_due = stop.set
    factory.workers.leave = refuse
    factory.worker.run(stop)


def test_a_source_removed_when_it_is_due_does_not_stop_the_worker(factory, monkeypatch):
    monkeypatch.setattr("services.import_worker._SCHEDULE_S", 0)
    stop, calls = threading.Event(), []

    def refresh_due():
        calls.append(1)
        if len(calls) > 1:
            stop.set()
        raise NotFoundError("there is no source x")

    factory.refresh_due = refresh_due
    factory.worker.run(stop)
    assert len(calls) == 2


def test_the_import_of_a_stopped_worker_is_resumed_by_the_next(factory):
    stop, job = threading.Event(), factory.enqueue()
    read = factory.loader.read

    def read_and_stop(ref):
        stop.set()
        return read(ref)

    factory.loader.read = read_and_stop
    factory.worker.run(stop)
    assert factory.queue.get(job).state is ImportState.INTERRUPTED
    assert factory.run_next()
    assert factory.queue.get(job).counts == {Outcome.NEW.value: 200}


def test_a_long_history_is_left_behind_after_an_import(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "COMMITS", 1)
    factory = Factory(tmp_path, DictLoader(documents(3)))
    factory.enqueue()
    assert factory.run_next()
    first = factory.library.indexes.active()
    factory.loader.texts["000.txt"] = "changed"
    factory.enqueue()
    assert factory.run_next()
    assert factory.library.indexes.active() != first
    assert factory.library.check().agrees


def test_an_import_succeeds_even_if_the_index_cannot_be_compacted(tmp_path, monkeypatch, caplog):
    factory = Factory(tmp_path, DictLoader(documents(3)))

    def fail(*_arguments):
        raise StorageError("the disk is full")

    monkeypatch.setattr(factory.worker._compaction, "run_if_due", fail)
    import_id = factory.enqueue()
    assert factory.run_next()
    assert factory.queue.get(import_id).state is ImportState.COMPLETED
    assert "could not be compacted" in caplog.text


def test_an_import_lets_another_source_have_its_turn_and_then_continues(factory):
    factory.worker.turn_s = 0
    sources = factory.library.sources
    other = sources.ensure("directory", "/other", name="other")
    first = factory.enqueue()
    second = factory.queue.enqueue(other.id, "bert", ImportKind.IMPORT, {}).id
    ended = []
    while len(ended) < 2:
        assert factory.run_next()
        ended += [
            one for one in (first, second) if factory.queue.get(one).ended and one not in ended
        ]
        if not ended:
            run = factory.queue.get(first)
            assert (run.state, run.message) == (ImportState.QUEUED, "")
            assert run.progress is not None
    assert {factory.queue.get(one).state for one in ended} == {ImportState.COMPLETED}
    assert len(factory.items(first)) == 200


def test_an_import_that_nobody_waits_for_has_one_turn(factory):
    factory.worker.turn_s = 0
    import_id = factory.enqueue()
    assert factory.run_next()
    assert factory.queue.get(import_id).state is ImportState.COMPLETED


def test_the_message_of_a_run_names_no_server(factory, monkeypatch):
    def list_(*_):
        error = StorageUnavailableError("https://search.example:9200 can't be reached")
        error.public_message = "The search server can't be used."
        raise error

    monkeypatch.setattr(factory.loader, "list", list_)
    import_id = factory.enqueue()
    factory.run_next()
    run = factory.queue.get(import_id)
    assert run.state is ImportState.INTERRUPTED
    assert run.message.startswith("The search server can't be used.")
    assert "9200" not in run.message


def test_a_run_that_fails_with_the_ledger_is_released_and_has_not_crashed(factory, monkeypatch):
    def postpone(*_, **__):
        raise StorageUnavailableError("the ledger is away")

    def list_(*_):
        raise SourceUnavailableError("no network")

    import_id = factory.enqueue()
    monkeypatch.setattr(factory.loader, "list", list_)
    with monkeypatch.context() as outage:
        outage.setattr(factory.library.leases, "postpone", postpone)
        with pytest.raises(StorageUnavailableError):
            factory.run_next()
    assert factory.queue.get(import_id).state is ImportState.RUNNING
    factory.worker._release_unrecorded()
    run = factory.queue.get(import_id)
    assert (run.state, run.has_crashed) == (ImportState.INTERRUPTED, False)
