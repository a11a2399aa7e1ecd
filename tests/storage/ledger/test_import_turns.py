"""People take turns in the import queue, and so do the sources of one person."""

from collections import defaultdict
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ImportKind, ImportState
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_queue_store import PAUSE, ImportRuns
from storage.ledger.source_store import Sources
from tests.postgresql.fixtures import only_sqlite
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

SLICE = 3


class Queue:
    """A queue whose worker is `work`."""

    def __init__(self, database):
        self.runs = ImportRuns(database)
        self.leases = ImportLeases(database)
        self.sources = Sources(database)
        self.names = {}

    def add(self, user_id, name):
        """Queue an import of the person's source with this name."""
        source = self.sources.ensure("directory", f"/{user_id}/{name}", name=name)
        run = self.runs.enqueue(source.id, user_id, ImportKind.IMPORT, {})
        self.names[run.id] = name
        return run.id

    def next(self):
        """The name of the run that a worker takes now."""
        run = self.leases.claim("w")
        return None if run is None else self.names[run.id]

    def give_way(self):
        for run in self.runs.current():
            self.leases.stop(run.id, "w", ImportState.QUEUED, seconds=1)

    def end(self):
        run = self.runs.current()[0]
        self.leases.settle(run.id, "w", ImportState.COMPLETED, message="", seconds=1)

    def turns(self, number):
        """The names of the next runs, each of which gives way."""
        names = []
        for _ in range(number):
            names.append(self.next())
            self.give_way()
        return names


@pytest.fixture
def queue(tmp_path):
    return Queue(open_ledger(tmp_path))


def test_people_take_turns_whoever_has_more_imports(queue):
    for name in ("a1", "a2", "a3"):
        queue.add("anna", name)
    queue.add("bert", "b1")
    assert queue.turns(6) == ["a1", "b1", "a2", "b1", "a3", "b1"]


def test_the_sources_of_one_person_take_turns_from_the_oldest(queue):
    queue.add("anna", "site")
    queue.add("anna", "upload")
    assert queue.turns(4) == ["site", "upload", "site", "upload"]


def test_a_new_import_comes_before_one_that_has_had_a_turn(queue):
    queue.add("anna", "site")
    assert queue.turns(2) == ["site", "site"]
    queue.add("anna", "upload")
    assert queue.next() == "upload"


def test_repeated_imports_of_one_source_do_not_keep_another_waiting(queue):
    queue.add("anna", "site")
    queue.turns(1)
    for _ in range(3):
        queue.add("anna", "box")
        assert queue.next() == "box"
        queue.end()
        queue.add("anna", "box")
        assert queue.turns(1) == ["site"]
        assert queue.next() == "box"
        queue.end()
        assert queue.turns(1) == ["site"]


def test_a_person_who_was_served_longer_ago_is_next(queue):
    for user_id in ("anna", "bert", "cora"):
        queue.add(user_id, user_id)
        assert queue.next() == user_id
        queue.end()
    for user_id in ("cora", "bert", "anna"):
        queue.add(user_id, f"{user_id} again")
    assert queue.next() == "anna again"


def test_runs_are_listed_in_the_order_of_their_turns_and_paused_ones_last(queue):
    paused = queue.add("dora", "paused")
    queue.runs.request_stop(paused, PAUSE)
    for user_id, name in [("anna", "a1"), ("anna", "a2"), ("bert", "b1"), ("cora", "c1")]:
        queue.add(user_id, name)
    assert queue.next() == "a1"
    listed = [queue.names[run.id] for run in queue.runs.current()]
    assert listed == ["a1", "b1", "c1", "a2", "paused"]


def test_a_run_that_gave_way_waits_in_the_queue_with_its_working_time(queue):
    import_id = queue.add("anna", "site")
    queue.turns(1)
    run = queue.runs.get(import_id)
    assert (run.state, run.ended, run.seconds, run.message) == (ImportState.QUEUED, False, 1, "")


def test_a_pause_requested_during_a_turn_takes_effect_at_its_end(queue):
    import_id = queue.add("anna", "site")
    queue.next()
    queue.runs.request_stop(import_id, PAUSE)
    queue.give_way()
    assert queue.runs.get(import_id).state is ImportState.PAUSED


def test_others_wait_only_with_another_source(queue):
    import_id = queue.add("anna", "site")
    queue.next()
    run = queue.runs.get(import_id)
    queue.runs.enqueue(run.source_id, "bert", ImportKind.DRY_RUN, {})
    assert not queue.leases.others_wait(run)
    queue.add("bert", "box")
    assert queue.leases.others_wait(run)


def test_turns_of_a_removed_source_are_forgotten(queue):
    import_id = queue.add("anna", "site")
    queue.next()
    queue.end()
    queue.sources.remove(queue.runs.get(import_id).source_id)
    queue.add("anna", "other")
    assert queue.next() == "other"


@dataclass
class Arrival:
    """An import of a person that is requested before a certain step, with its documents left."""

    step: int
    user_id: str
    documents: int


arrivals = st.lists(
    st.builds(
        Arrival, st.integers(0, 30), st.sampled_from("abcd"), st.sampled_from([1, 2, 4, 9, 40])
    ),
    min_size=1,
    max_size=9,
)


class Simulation:
    """Imports of one person each; the worker reads one document in each step."""

    def __init__(self, queue, requests):
        self.queue = queue
        self.requests = dict(enumerate(requests))
        self.left = {}
        self.waits = defaultdict(list)
        """By person with a waiting import, for whom the worker read since it last read for them."""
        self.step = 0

    def run(self):
        while self.requests or self.left:
            self._arrive()
            run = self.queue.leases.claim("w")
            if run is None:
                self.step += 1
                continue
            self._serve(run)

    def _arrive(self):
        for n in [n for n, one in self.requests.items() if one.step <= self.step]:
            request = self.requests.pop(n)
            self.left[self.queue.add(request.user_id, f"source {n}")] = request

    def _serve(self, run):
        user_id = self.left[run.id].user_id
        self.waits.pop(user_id, None)
        read = 0
        while self.left[run.id].documents:
            self._read(run)
            read += 1
            if read >= SLICE and self.left[run.id].documents and self.queue.leases.others_wait(run):
                self.queue.leases.stop(run.id, "w", ImportState.QUEUED, seconds=1)
                return
        del self.left[run.id]
        self.queue.leases.settle(run.id, "w", ImportState.COMPLETED, message="", seconds=1)

    def _read(self, run):
        self.left[run.id].documents -= 1
        self.step += 1
        self._arrive()
        for user_id in {one.user_id for one in self.left.values()} - {run.user_id}:
            self.waits[user_id].append(run.user_id)
            people = set(self.waits[user_id])
            assert len(self.waits[user_id]) <= len(people) * SLICE + 1


@pytest.mark.slow
@only_sqlite
@given(arrivals)
def test_nobody_waits_longer_than_one_turn_of_each_person_and_all_imports_end(
    tmp_path_factory, requests
):
    database = open_ledger(tmp_path_factory.mktemp("queue"))
    queue = Queue(database)
    Simulation(queue, requests).run()
    assert all(queue.runs.get(import_id).ended for import_id in queue.names)
    database.close()
