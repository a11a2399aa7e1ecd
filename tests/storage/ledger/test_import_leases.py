import threading
from datetime import timedelta

import pytest
from sqlalchemy import update

from domain import ImportItem, ImportKind, ImportState, Outcome, Progress, Stage
from storage.ledger import import_leases
from storage.ledger.database import open_database
from storage.ledger.import_leases import ImportLeases, Workers
from storage.ledger.import_queue_store import CANCEL, ImportRuns
from storage.ledger.import_store import Imports
from storage.ledger.ledger_tables import ImportRow
from storage.ledger.source_store import Sources
from storage.processes import is_known_dead, process_name
from tests.fakes.library import DEAD

ELSEWHERE = "another-machine/1/x"


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


@pytest.fixture
def leases(database):
    return ImportLeases(database)


@pytest.fixture
def queue(database):
    return ImportRuns(database)


@pytest.fixture
def enqueue(database, queue):
    def enqueue(name):
        source = Sources(database).ensure("directory", f"/{name}", name=name)
        return queue.enqueue(source.id, "anna", ImportKind.IMPORT, {}).id

    return enqueue


def test_the_oldest_is_taken_first_and_the_next_only_when_it_is_done(leases, enqueue):
    first, second = enqueue("a"), enqueue("b")
    assert leases.claim("w").id == first
    assert leases.claim("v") is None
    leases.settle(first, "w", ImportState.COMPLETED, message="", seconds=1)
    assert leases.claim("v").id == second


def test_of_many_who_ask_at_once_one_gets_it(tmp_path, enqueue):
    job, taken = enqueue("a"), []

    def take(name):
        database = open_database(tmp_path)
        taken.append(ImportLeases(database).claim(name))
        database.close()

    threads = [threading.Thread(target=take, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.id for one in taken if one] == [job]


def test_with_its_process_alive_and_its_lease_renewed_an_import_is_left_alone(leases, enqueue):
    job = enqueue("a")
    leases.claim(process_name())
    assert leases.interrupt_dead() == 0
    assert leases.claim("v") is None
    assert job


@pytest.mark.parametrize("worker", [ELSEWHERE, process_name()], ids=["elsewhere", "here"])
def test_an_expired_lease_interrupts(leases, queue, enqueue, monkeypatch, worker):
    job = enqueue("a")
    monkeypatch.setattr(import_leases, "LEASE", timedelta(seconds=-1))
    leases.claim(worker)
    assert leases.interrupt_dead() == 1
    assert queue.get(job).state is ImportState.INTERRUPTED
    assert leases.stop_request(job, worker) is None
    assert leases.settle(job, worker, ImportState.COMPLETED, message="", seconds=1) is None
    assert leases.stop(job, worker, ImportState.QUEUED, seconds=1) is None
    assert queue.get(job).state is ImportState.INTERRUPTED


def test_people_see_the_import_of_a_dead_worker_interrupted_before_another_takes_it(
    leases, queue, enqueue
):
    job = enqueue("a")
    leases.claim(DEAD)
    assert [one.state for one in queue.current()] == [ImportState.INTERRUPTED]
    taken = leases.claim(process_name())
    assert taken is None  # not before it is noted
    leases.interrupt_dead()
    assert leases.claim(process_name()).id == job
    assert queue.get(job).state is ImportState.RUNNING


def test_a_renewed_lease_lasts(leases, enqueue, monkeypatch):
    job = enqueue("a")
    with monkeypatch.context() as patched:
        patched.setattr(import_leases, "LEASE", timedelta(seconds=-1))
        leases.claim(ELSEWHERE)
    leases.renew(job, ELSEWHERE)
    assert leases.interrupt_dead() == 0


def test_what_was_wished_of_an_import_whose_worker_died_comes_true(leases, queue, enqueue):
    job = enqueue("a")
    leases.claim(DEAD)
    queue.request_stop(job, CANCEL)
    leases.interrupt_dead()
    assert (queue.get(job).state, queue.get(job).ended) == (ImportState.CANCELLED, True)


def test_a_wish_comes_true_at_once_where_the_worker_is_dead_and_nobody_has_noted_it(
    leases, queue, enqueue
):
    job = enqueue("a")
    leases.claim(DEAD)
    assert enqueue("a") == job, "it will look at the source anew"
    assert queue.request_stop(job, CANCEL).state is ImportState.CANCELLED
    assert queue.get(job).ended


def test_an_import_whose_workers_die_at_the_same_document_fails_in_the_end(leases, queue, enqueue):
    def die_at(key):
        leases.claim(DEAD)
        leases.save_progress(job, DEAD, Progress(Stage.READING, 1, 9, key), 1.0)
        leases.interrupt_dead()
        return queue.get(job).state

    job = enqueue("a")
    told = [die_at(key) for key in ("a.pdf", "a.pdf", "b.pdf", "b.pdf")]
    assert told == [ImportState.INTERRUPTED] * 4
    assert enqueue("a") == job, "it is the same import still"
    assert die_at("b.pdf") is ImportState.FAILED
    assert "3 times at b.pdf" in queue.get(job).message
    assert enqueue("a") != job


def test_what_is_asked_for_while_an_import_is_at_work_waits_for_its_turn(leases, queue, enqueue):
    at_work = enqueue("a")
    leases.claim("w")
    later = enqueue("a")
    assert later != at_work, "it may have looked at the source already"
    assert enqueue("a") == later


@pytest.mark.parametrize(("stop_request", "is_same"), [("", True), (CANCEL, False)])
def test_a_removal_at_work_is_not_asked_for_twice_unless_it_stops(
    leases, queue, enqueue, stop_request, is_same
):
    source_id = queue.get(enqueue("a")).source_id
    queue.request_stop(queue.current()[0].id, CANCEL)
    removal = queue.enqueue(source_id, "anna", ImportKind.REMOVAL, {})
    leases.claim("w")
    if stop_request:
        queue.request_stop(removal.id, stop_request)
    again = queue.enqueue(source_id, "anna", ImportKind.REMOVAL, {})
    assert (again.id == removal.id) is is_same


def test_an_import_of_the_source_ends_interrupted_ones_of_all_of_it_with_their_counts(
    database, leases, queue, enqueue
):
    whole = enqueue("a")
    source_id = queue.get(whole).source_id
    asked = queue.enqueue(source_id, "anna", ImportKind.IMPORT, {"keys": ["a.txt"]}).id
    Imports(database).add(whole, [ImportItem("a.txt", "/a.txt", Outcome.NEW)])
    with database.write() as session:  # as if both workers had died at once
        session.execute(update(ImportRow).values(state=ImportState.INTERRUPTED))
    leases.start(source_id, "anna", "v")
    assert (queue.get(whole).ended, queue.get(whole).counts) == (True, {"new": 1})
    assert not queue.get(asked).ended, "it reads a document that has not changed"


def test_a_worker_lives_while_it_gives_signs_of_life(database):
    workers, name = Workers(database), process_name()
    assert not workers.any_alive()
    workers.renew(DEAD)
    assert not workers.any_alive()
    workers.renew(name)
    workers.renew(name)
    assert workers.any_alive()
    workers.leave(name)
    assert not workers.any_alive()


def test_of_earlier_dry_runs_only_what_would_change_is_kept(database, leases, queue, enqueue):
    source_id = queue.get(enqueue("a")).source_id
    queue.request_stop(queue.current()[0].id, CANCEL)
    items = [ImportItem(one.value, "/x", one) for one in (Outcome.NEW, Outcome.UNCHANGED)]
    jobs = []
    for _ in range(2):
        jobs.append(queue.enqueue(source_id, "anna", ImportKind.DRY_RUN, {}).id)
        leases.claim("w")
        Imports(database).add(jobs[-1], items)
        leases.settle(jobs[-1], "w", ImportState.COMPLETED, message="", seconds=1)
    first, second = (Imports(database).get(job).items for job in jobs)
    assert (list(first), list(second)) == (items[:1], items)
    assert queue.get(jobs[0]).counts == {"new": 1, "unchanged": 1}


def test_of_another_machine_nobody_knows_that_it_is_dead():
    assert not is_known_dead(ELSEWHERE)
    assert is_known_dead(DEAD)
    assert not is_known_dead(process_name())
