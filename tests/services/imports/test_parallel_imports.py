"""Imports of several workers at the same time, each with a ledger and stores of its own."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain import LOCAL_USER, ImportState, Stage
from domain.errors import StorageUnavailableError
from services.imports import compaction
from services.imports.compaction import Compaction
from storage.ledger.ledger import Ledger
from tests.fakes.library import DictLoader, Library
from tests.fakes.workers import HookedLoader, Worker, documents
from tests.postgresql.ledgers import LEDGERS

pytestmark = pytest.mark.usefixtures("ledger_kind")

WAIT_S = 60


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


@pytest.fixture
def other(tmp_path, worker):
    return Worker(tmp_path)


def texts_of(library):
    return {
        key: library.documents.text(version.document_id)
        for source in library.sources.list()
        for key, version in library.documents.versions(source.id).items()
    }


def test_two_workers_import_two_sources_at_the_same_time(worker, other):
    worker.add("a")
    worker.add("b")
    assert worker.claim().source_id != other.claim().source_id
    both_read = threading.Barrier(2, timeout=WAIT_S)

    def meet(number):
        if number in (0, 65):  # before the first batch of either is written, and after it
            both_read.wait()

    loaders = [HookedLoader(documents(name), meet) for name in "ab"]
    with ThreadPoolExecutor(2) as threads:
        states = [
            threads.submit(one.perform, loader)
            for one, loader in zip((worker, other), loaders, strict=True)
        ]
        assert [one.result(WAIT_S) for one in states] == [ImportState.COMPLETED] * 2
    assert texts_of(worker.library) == documents("a") | documents("b")
    for loader in loaders:
        assert set(Counter(loader.reads).values()) == {1}
    assert worker.library.check().agrees
    assert worker.library.active.passages.ids()


def test_the_first_two_imports_of_a_library_create_one_index(worker, other):
    worker.add("a")
    worker.add("b")
    worker.claim(), other.claim()
    assert other.library.indexes.active() is None

    def import_meanwhile(number):
        if number == 0:
            assert other.perform(DictLoader(documents("b"))) is ImportState.COMPLETED

    assert worker.perform(HookedLoader(documents("a"), import_meanwhile)) is ImportState.COMPLETED
    assert len(worker.library.indexes.all()) == 1
    assert worker.library.check().agrees


def test_garbage_collection_during_another_import_deletes_nothing_staged(
    worker, other, monkeypatch
):
    worker.library.load(DictLoader(documents("old")))
    worker.add("a")
    worker.claim()
    ledger, index_id = other.library.imports._active.ledger, other.library.indexes.active().id
    staged, stage = [], Ledger.stage

    def recover():
        before = ledger.discards(index_id)
        other.library.maintenance.recover()
        staged.append((before, ledger.discards(index_id)))

    def recover_in_a_thread():
        # Because the lock must keep it from collecting what is being written.
        with ThreadPoolExecutor(1) as threads:
            threads.submit(recover).result()

    def stage_and_recover(*arguments):
        stage(*arguments)
        recover_in_a_thread()

    def collect(progress):
        if progress.stage is Stage.WRITING:
            recover_in_a_thread()
        elif progress.stage is Stage.EMBEDDING:
            recover()

    monkeypatch.setattr(Ledger, "stage", stage_and_recover)

    assert worker.perform(DictLoader(documents("a")), collect) is ImportState.COMPLETED
    assert len(staged) >= 2
    assert any(before for before, _ in staged)
    assert all(before == after for before, after in staged)
    assert worker.library.check().agrees


@pytest.mark.parametrize("at", [0, 30, 64, 69], ids=lambda at: f"document {at}")
def test_a_worker_whose_run_was_taken_over_writes_nothing_more(worker, other, at):
    worker.add("a")
    worker.claim()
    written = []

    def lose(number):
        if number == at:
            other.take_over()
            written.append(texts_of(other.library))

    # Not the watch of the lease, but the ledger must stop this worker.
    worker.library.leases.stop_request = lambda *_: ""
    loader = HookedLoader(documents("a"), lose)
    assert worker.perform(loader) is ImportState.RUNNING
    assert texts_of(other.library) == written[0]

    assert other.perform(DictLoader(documents("a"))) is ImportState.COMPLETED
    report = other.library.import_store.get(other.run.id)
    assert Counter(item.key for item in report.items) == Counter(list(documents("a")))
    assert other.library.check().agrees


def test_passages_written_after_the_loss_of_the_lease_are_garbage(worker, other, monkeypatch):
    worker.library.load(DictLoader(documents("old")))
    worker.add("a")
    worker.claim()
    store = worker.library.active
    add = store.add

    def lose_and_add(passages, vectors):
        other.take_over()
        other.library.imports._active.ledger.forget(
            store.index.id, [one.id for one in passages]
        )  # as if garbage had been collected on another machine
        add(passages, vectors)

    worker.library.leases.stop_request = lambda *_: ""
    with monkeypatch.context() as patched:
        patched.setattr(store, "add", lose_and_add)
        assert worker.perform(DictLoader(documents("a", 3))) is ImportState.RUNNING
    assert len(other.library.imports._active.ledger.discards(store.index.id)) == 3
    other.library.maintenance.recover()
    assert other.library.check().agrees


def test_an_import_continues_with_the_copy_of_a_compacted_index(worker, other, monkeypatch):
    monkeypatch.setattr(compaction, "COMMITS", 0)
    worker.library.load(DictLoader(documents("old")))
    worker.add("a")
    worker.claim()
    before = worker.library.indexes.active()

    def compact(number):
        if number in (10, 66):  # between two batches, and while documents wait to be written
            compacted = Compaction(other.library.database, other.library.stores)
            assert compacted.run_if_due(LOCAL_USER)

    assert worker.perform(HookedLoader(documents("a"), compact)) is ImportState.COMPLETED
    assert worker.library.indexes.active() != before
    assert worker.library.check().agrees
    assert worker.library.embeddings.texts == 140, "nothing was embedded twice"


def test_an_import_starts_over_with_an_index_of_other_settings(worker, tmp_path):
    worker.library.load(DictLoader(documents("old")))
    worker.add("a")
    worker.claim()
    changed = Library(tmp_path, size=60)

    def reindex(number):
        if number == 66:
            changed.reindex()

    assert worker.perform(HookedLoader(documents("a"), reindex)) is ImportState.QUEUED
    assert "rebuilt with other settings" in str(worker.error)
    worker.claim()
    assert worker.perform(DictLoader(documents("a"))) is ImportState.COMPLETED
    assert worker.library.indexes.active().id == changed.indexes.active().id
    longest = max(
        len(passage.text)
        for version in worker.library.documents.versions(worker.run.source_id).values()
        for passage in worker.library.documents.passages(
            version.document_id, changed.indexes.active().id
        )
    )
    assert longest <= 60
    assert worker.library.check().agrees


class Step:
    """A step of another worker, which holds the lock of the library until `release` is set."""

    def __init__(self, worker):
        self.release = threading.Event()
        self._lock, self._held = worker.library.imports.lock, threading.Event()

    def begin_in(self, threads):
        threads.submit(self._hold)
        self._held.wait(WAIT_S)

    def _hold(self):
        with self._lock.hold(0):
            self._held.set()
            self.release.wait(WAIT_S)


def test_an_import_waits_for_the_short_steps_of_others_but_not_for_a_reindex(
    worker, other, monkeypatch
):
    worker.add("a")
    worker.claim()
    short, long = Step(other), Step(other)

    def block(number):
        if number == 60:
            short.begin_in(threads)
            threading.Timer(0.3, short.release.set).start()

    with ThreadPoolExecutor(1) as threads:
        loader = HookedLoader(documents("a"), block)
        assert worker.perform(loader) is ImportState.COMPLETED
        assert len(loader.reads) == 70

    monkeypatch.setattr("services.imports.index_writer._STEP_TIMEOUT_S", 0.2)
    worker.add("b")
    worker.claim()

    def block_for_long(number):
        if number == 60:
            long.begin_in(threads)

    with ThreadPoolExecutor(1) as threads:
        state = worker.perform(HookedLoader(documents("b"), block_for_long))
        long.release.set()
    assert state is ImportState.QUEUED
    assert "Another import or a reindex is running" in str(worker.error)
    assert worker.claim()
    assert worker.perform(DictLoader(documents("b"))) is ImportState.COMPLETED


def test_a_cancellation_takes_effect_while_a_step_waits(worker, other):
    worker.add("a")
    worker.claim()
    step = Step(other)

    def block(number):
        if number == 60:
            step.begin_in(threads)
            threading.Timer(0.3, cancel).start()

    def cancel():
        other.runs.request_stop(worker.run.id, "cancel")

    with ThreadPoolExecutor(1) as threads:
        state = worker.perform(HookedLoader(documents("a"), block))
        step.release.set()
    assert state is ImportState.CANCELLED
    assert texts_of(worker.library) == {}


def test_a_worker_that_loses_the_lock_with_its_database_stops_writing(worker, other, monkeypatch):
    if LEDGERS.server is None:
        pytest.skip("the lock of a folder can't be lost")
    worker.library.load(DictLoader(documents("old")))
    worker.add("a")
    worker.claim()
    ledger_calls = []
    stage = type(worker.library.imports._active.ledger).stage

    def stage_and_disconnect(self, index_id, ids):
        stage(self, index_id, ids)
        if not ledger_calls:
            ledger_calls.append(True)
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            LEDGERS.server.execute(
                f"SELECT pg_terminate_backend(pid) {others} AND datname LIKE 'ledger_%'"
            )

    before = set(worker.library.active.passages.ids())
    with monkeypatch.context() as patched:
        patched.setattr(type(worker.library.imports._active.ledger), "stage", stage_and_disconnect)
        assert worker.perform(DictLoader(documents("a"))) is ImportState.INTERRUPTED
    assert isinstance(worker.error, StorageUnavailableError)
    assert "connection that locked the library" in str(worker.error)
    assert set(other.library.active.passages.ids()) == before, "nothing was added"
    other.library.maintenance.recover()
    assert other.library.check().agrees
