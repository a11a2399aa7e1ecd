"""Several workers read the documents of one import, each with a ledger and stores of its own."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from domain import ImportState, Outcome, Stage
from domain.errors import NothingToReadError, SourceUnavailableError, UnreadableError
from services.import_worker import PortionReader
from services.imports.shared_reading import BATCH_DOCUMENTS
from storage.ledger.import_leases import Workers
from storage.ledger.import_portions import ImportPortions
from storage.ledger.import_queue_store import PAUSE
from tests.fakes.library import DictLoader
from tests.fakes.workers import HookedLoader, Worker, documents

pytestmark = pytest.mark.usefixtures("ledger_kind")

WAIT_S = 60
MANY = 2 * BATCH_DOCUMENTS + 10


@pytest.fixture
def worker(tmp_path):
    """The worker that performs the import."""
    return Worker(tmp_path)


@pytest.fixture
def other(tmp_path, worker):
    """A worker without a run, which has sent a heartbeat."""
    other = Worker(tmp_path)
    Workers(other.library.database).renew(other.name)
    return other


class Helper:
    """Reads portions of another worker's import, in that worker's thread."""

    def __init__(self, worker, loader):
        self.worker, self.loader = worker, loader
        database, imports = worker.library.database, worker.library.imports
        self.reader = PortionReader(database, SimpleNamespace(loader=self.loader_of), imports)
        self.stopped = False

    def loader_of(self, _source, _wait):
        return self.loader

    def read_next(self):
        return self.reader.read_next(self.worker.name, lambda: self.stopped)


class FailingLoader(DictLoader):
    """Raises errors by key."""

    def __init__(self, texts, errors):
        super().__init__(texts)
        self.errors = errors

    def read(self, ref):
        if ref.key in self.errors:
            raise self.errors[ref.key]
        return super().read(ref)


def begin(worker, name="a"):
    source = worker.add(name)
    worker.claim()
    return source


def texts_of(worker, source):
    versions = worker.library.documents.versions(source.id)
    return {
        key: worker.library.documents.text(version.document_id) for key, version in versions.items()
    }


def items_of(worker):
    return worker.library.import_store.get(worker.run.id).items


def require_complete(worker, source, texts):
    assert texts_of(worker, source) == texts
    assert Counter(item.key for item in items_of(worker)) == Counter(list(texts))
    assert worker.runs.get(worker.run.id).counts == {"new": len(texts)}
    assert worker.library.check().agrees
    assert ImportPortions(worker.library.database).numbers(worker.run.id) == set()


def test_two_workers_read_one_source_together(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    published, ended = threading.Event(), threading.Event()
    helper = Helper(other, DictLoader(texts))

    def help_until_the_end():
        published.wait(WAIT_S)
        first = helper.read_next()
        helped.set()
        while not ended.is_set():
            helper.read_next()
        return first

    def wait_for_help(number):
        published.set()
        if number == 1:  # the first portion is this worker's
            assert helped.wait(WAIT_S)

    helped = threading.Event()
    own = HookedLoader(texts, wait_for_help)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(help_until_the_end)
        try:
            assert worker.perform(own) is ImportState.COMPLETED
        finally:
            ended.set()
        assert first.result(WAIT_S), "a portion was there"
    assert set(Counter(own.reads + helper.loader.reads).values()) == {1}
    assert len(helper.loader.reads) >= BATCH_DOCUMENTS
    require_complete(worker, source, texts)
    assert worker.runs.get(worker.run.id).passages_embedded == MANY


def test_the_progress_includes_what_others_have_read(worker, other):
    texts = documents("a", MANY)
    begin(worker)
    helper, seen = Helper(other, DictLoader(texts)), []

    def help_once(number):
        if number == 0:
            assert helper.read_next()

    worker.perform(HookedLoader(texts, help_once), seen.append)
    reading = [one for one in seen if one.stage is Stage.READING]
    assert [one.done for one in reading] == sorted(one.done for one in reading)
    assert {one.total for one in reading} == {MANY}
    steps = {after.done - before.done for before, after in zip(reading, reading[1:], strict=False)}
    assert max(steps) > BATCH_DOCUMENTS - 1
    assert reading[-1].done == MANY
    assert reading[-1].expected == MANY


def portions_while_reading(worker, other, loader_type, count):
    """Whether another worker found a portion, before each document of an import was read."""
    begin(worker)
    helper, found = Helper(other, DictLoader({})), []
    loader = loader_type(documents("a", count), lambda _number: found.append(helper.read_next()))
    assert worker.perform(loader) is ImportState.COMPLETED
    return found


@pytest.mark.parametrize("count", [1, BATCH_DOCUMENTS])
def test_few_documents_are_not_shared(worker, other, count):
    assert portions_while_reading(worker, other, HookedLoader, count) == [False] * count


def test_without_another_worker_nothing_is_shared(worker, other):
    Workers(other.library.database).leave(other.name)
    assert set(portions_while_reading(worker, other, HookedLoader, MANY)) == {False}


def test_a_source_whose_documents_depend_on_the_listing_is_not_shared(worker, other):
    class Dependent(HookedLoader):
        reads_without_listing = False

    assert set(portions_while_reading(worker, other, Dependent, MANY)) == {False}


def test_what_a_worker_could_not_finish_is_read_by_that_of_the_import(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    unreachable = SourceUnavailableError("the source can't be reached")
    loader = FailingLoader(texts, {f"a{BATCH_DOCUMENTS + 10:03}.txt": unreachable})
    helper = Helper(other, loader)

    def help_once(number):
        if number == 0:
            assert helper.read_next()
            assert len(items_of(worker)) == 10

    own = HookedLoader(texts, help_once)
    assert worker.perform(own) is ImportState.COMPLETED
    assert Counter(own.reads + helper.loader.reads) == Counter(list(texts))
    require_complete(worker, source, texts)


def test_the_portion_of_a_dead_worker_is_read_by_that_of_the_import(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    portions = ImportPortions(worker.library.database)

    def die(number):
        if number == 0:
            assert portions.take_any("another-machine/1/0")  # it has sent no heartbeat

    assert worker.perform(HookedLoader(texts, die)) is ImportState.COMPLETED
    require_complete(worker, source, texts)


def test_a_worker_stops_reading_when_the_import_is_paused(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    helper = Helper(other, None)

    def pause(number):
        if number == 3:
            worker.runs.request_stop(worker.run.id, PAUSE)
            worker.library.leases.stop(
                worker.run.id, worker.name, ImportState.INTERRUPTED, seconds=1.0
            )

    helper.loader = HookedLoader(texts, pause)

    def help_once(number):
        if number == 0:
            assert helper.read_next()

    worker.perform(HookedLoader(texts, help_once))
    assert worker.runs.get(worker.run.id).state is ImportState.PAUSED
    assert texts_of(worker, source) == {}
    assert not helper.read_next(), "the portions of a paused import are gone"
    assert worker.library.check().agrees

    worker.runs.resume(worker.run.id)
    assert worker.claim().id == worker.run.id
    assert worker.perform(DictLoader(texts)) is ImportState.COMPLETED
    require_complete(worker, source, texts)


def test_a_suspended_worker_writes_nothing_once_another_reads_its_portion(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    portions = ImportPortions(worker.library.database)
    helper = Helper(other, None)

    def lose_the_portion(number):
        if number == 3:
            Workers(other.library.database).leave(other.name)  # as if its heartbeat had expired
            while (portion := portions.take(worker.run.id, worker.name)) is not None:
                taken.append(portion)
            for one in taken:
                portions.give_back(one, worker.name)

    taken = []
    helper.loader = HookedLoader(texts, lose_the_portion)

    def help_once(number):
        if number == 0:
            assert helper.read_next()
            assert items_of(worker) == ()

    assert worker.perform(HookedLoader(texts, help_once)) is ImportState.COMPLETED
    assert taken
    require_complete(worker, source, texts)


def test_a_worker_that_ends_leaves_its_portion_to_that_of_the_import(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    helper = Helper(other, DictLoader(texts))

    def help_once(number):
        if number == 0:
            helper.stopped = True
            assert helper.read_next()

    assert worker.perform(HookedLoader(texts, help_once)) is ImportState.COMPLETED
    assert helper.loader.reads == []
    require_complete(worker, source, texts)


def test_failures_and_empty_documents_of_another_worker_are_recorded(worker, other):
    texts, source = documents("a", MANY), begin(worker)
    keys = [f"a{BATCH_DOCUMENTS + n:03}.txt" for n in range(2)]
    assert worker.perform(DictLoader(texts)) is ImportState.COMPLETED
    changed = {key: f"{text} Changed." for key, text in texts.items()}
    worker.runs.enqueue(source.id, "anna", worker.run.kind, {})
    worker.claim()
    errors = {keys[0]: UnreadableError("broken"), keys[1]: NothingToReadError("empty")}
    helper = Helper(other, FailingLoader(changed, errors))

    def help_once(number):
        if number == 0:
            assert helper.read_next()

    worker.perform(HookedLoader(changed, help_once))
    outcomes = {item.key: item.outcome for item in items_of(worker)}
    assert [outcomes[key] for key in keys] == [Outcome.FAILED, Outcome.REMOVED]
    assert set(texts_of(worker, source)) == set(texts) - {keys[1]}
    assert texts_of(worker, source)[keys[0]] == texts[keys[0]]
    assert worker.runs.get(worker.run.id).state is ImportState.COMPLETED_WITH_ERRORS
    assert worker.library.check().agrees
