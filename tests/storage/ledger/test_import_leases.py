import threading
import time
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import update

from domain import ImportItem, ImportKind, ImportState, Outcome, Progress, Stage
from domain.errors import BusyError
from storage.ledger import import_leases
from storage.ledger.import_leases import ImportLeases, Workers
from storage.ledger.import_queue_store import CANCEL, ImportRuns
from storage.ledger.import_store import Imports
from storage.ledger.ledger_tables import ImportRow
from storage.ledger.source_store import Sources
from storage.processes import is_known_dead, process_name
from tests.fakes import clock
from tests.fakes.library import DEAD
from tests.postgresql.fixtures import only_sqlite
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ELSEWHERE = "another-machine/1/x"


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


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


def test_imports_of_different_sources_are_claimed_at_once_from_the_oldest(leases, enqueue):
    first, second = enqueue("a"), enqueue("b")
    assert leases.claim("w").id == first
    assert leases.claim("v").id == second
    assert leases.claim("u") is None


@pytest.mark.parametrize("kind", ImportKind)
def test_runs_of_one_source_are_claimed_one_at_a_time(leases, queue, enqueue, kind):
    first = enqueue("a")
    second = queue.enqueue(queue.get(first).source_id, "bert", kind, {"keys": ["x"]}).id
    other = enqueue("b")
    assert leases.claim("w").id == first
    assert leases.claim("v").id == other
    assert leases.claim("u") is None
    leases.settle(first, "w", ImportState.COMPLETED, message="", seconds=1)
    assert leases.claim("u").id == second


def test_concurrent_workers_claim_each_source_once(tmp_path, queue, enqueue):
    sources = [queue.get(enqueue(name)).source_id for name in "abc"]
    for source_id in sources:
        queue.enqueue(source_id, "anna", ImportKind.DRY_RUN, {})
    claimed = []

    def claim(name):
        database = open_ledger(tmp_path)
        claimed.append(ImportLeases(database).claim(name))
        database.close()

    threads = [threading.Thread(target=claim, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(run.source_id for run in claimed if run) == sorted(sources)


def test_only_one_of_several_concurrent_claims_succeeds(tmp_path, enqueue):
    import_id, claimed = enqueue("a"), []

    def claim(name):
        database = open_ledger(tmp_path)
        claimed.append(ImportLeases(database).claim(name))
        database.close()

    threads = [threading.Thread(target=claim, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.id for run in claimed if run] == [import_id]


def test_an_import_with_a_live_worker_and_a_valid_lease_is_not_interrupted(leases, enqueue):
    import_id = enqueue("a")
    leases.claim(process_name())
    assert leases.interrupt_dead() == 0
    assert leases.claim("v") is None
    assert import_id


@pytest.mark.parametrize("worker", [ELSEWHERE, process_name()], ids=["elsewhere", "here"])
def test_an_expired_lease_interrupts_the_import(leases, queue, enqueue, monkeypatch, worker):
    import_id = enqueue("a")
    monkeypatch.setattr(import_leases, "LEASE", timedelta(seconds=-1))
    leases.claim(worker)
    assert leases.interrupt_dead() == 0, "it may be renewed as soon as the ledger is available"
    pass_seconds(monkeypatch, 10)
    assert leases.interrupt_dead() == 1
    assert queue.get(import_id).state is ImportState.INTERRUPTED
    assert leases.stop_request(import_id, worker) is None
    assert leases.settle(import_id, worker, ImportState.COMPLETED, message="", seconds=1) is None
    assert leases.stop(import_id, worker, ImportState.QUEUED, seconds=1) is None
    assert queue.get(import_id).state is ImportState.INTERRUPTED


def pass_seconds(monkeypatch, seconds):
    """Move the clock that no one can set."""
    later = time.monotonic() + seconds
    monkeypatch.setattr(import_leases.time, "monotonic", lambda: later)


def test_a_clock_set_forward_takes_no_lease_from_a_living_worker(database, enqueue, monkeypatch):
    worker, leases, other = process_name(), ImportLeases(database), ImportLeases(database)
    import_id = enqueue("a")
    leases.claim(worker)
    for days in (1, 365):
        clock.set_forward(monkeypatch, timedelta(days=days))
        assert other.interrupt_dead() == 0
        leases.renew(import_id, worker)
        pass_seconds(monkeypatch, 10)
        assert other.interrupt_dead() == 0
    assert leases.stop_request(import_id, worker) == ""
    clock.set_forward(monkeypatch, timedelta(days=366))
    monkeypatch.setattr(import_leases, "LEASE", timedelta(days=-366))  # of a server's clock, too
    leases.renew(import_id, worker)
    assert other.interrupt_dead() == 0
    pass_seconds(monkeypatch, 10)
    assert other.interrupt_dead() == 1, "the worker did not renew it"


@only_sqlite
def test_an_import_that_was_postponed_by_a_clock_that_was_ahead_is_retried(
    leases, enqueue, monkeypatch
):
    import_id = enqueue("a")
    with monkeypatch.context() as ahead:
        clock.set_forward(ahead, timedelta(days=365))
        leases.claim(worker := process_name())
        leases.postpone(
            import_id, worker, "no network", seconds=1, has_written=False, at_least_s=1e6
        )
        assert leases.claim(worker) is None
    assert leases.claim(worker).id == import_id


def test_the_import_of_a_dead_worker_is_reported_as_interrupted(leases, queue, enqueue):
    import_id = enqueue("a")
    leases.claim(DEAD)
    assert [run.state for run in queue.current()] == [ImportState.INTERRUPTED]
    claimed = leases.claim(process_name())
    assert claimed is None  # until the interruption is stored
    leases.interrupt_dead()
    assert leases.claim(process_name()).id == import_id
    assert queue.get(import_id).state is ImportState.RUNNING


def test_renewing_a_lease_prevents_its_expiry(leases, enqueue, monkeypatch):
    import_id = enqueue("a")
    with monkeypatch.context() as patched:
        patched.setattr(import_leases, "LEASE", timedelta(seconds=-1))
        leases.claim(ELSEWHERE)
    leases.renew(import_id, ELSEWHERE)
    assert leases.interrupt_dead() == 0


def test_a_cancellation_request_takes_effect_after_the_worker_died(leases, queue, enqueue):
    import_id = enqueue("a")
    leases.claim(DEAD)
    queue.request_stop(import_id, CANCEL)
    leases.interrupt_dead()
    assert (queue.get(import_id).state, queue.get(import_id).ended) == (ImportState.CANCELLED, True)


def test_an_import_of_a_dead_worker_is_canceled_at_once(leases, queue, enqueue):
    import_id = enqueue("a")
    leases.claim(DEAD)
    assert enqueue("a") == import_id, "an interrupted import will list the source again"
    assert queue.request_stop(import_id, CANCEL).state is ImportState.CANCELLED
    assert queue.get(import_id).ended


def test_an_import_fails_after_three_workers_died_at_the_same_document(leases, queue, enqueue):
    def die_at(key):
        leases.claim(DEAD)
        leases.save_progress(import_id, DEAD, Progress(Stage.READING, 1, 9, key), 1.0)
        leases.interrupt_dead()
        return queue.get(import_id).state

    import_id = enqueue("a")
    states = [die_at(key) for key in ("a.pdf", "a.pdf", "b.pdf", "b.pdf")]
    assert states == [ImportState.INTERRUPTED] * 4
    assert enqueue("a") == import_id, "the interrupted import is reused"
    assert die_at("b.pdf") is ImportState.FAILED
    assert "3 times at b.pdf" in queue.get(import_id).message
    assert enqueue("a") != import_id


def crash_at(leases, import_id, document):
    """Let a worker crash after it has noted this document."""
    assert leases.claim(DEAD).id == import_id
    leases.save_progress(import_id, DEAD, Progress(Stage.READING, 1, 9, "Title"), 1.0)
    leases.note_reading(import_id, DEAD, ("x.pdf", "1"))
    leases.note_reading(import_id, DEAD, document)
    leases.interrupt_dead()


def test_a_document_noted_by_a_worker_that_died_is_quarantined(leases, queue, enqueue):
    import_id = enqueue("a")
    for document in (("a.pdf", "1"), None, ("b.pdf", "2")):
        crash_at(leases, import_id, document)
    run = queue.get(import_id)
    assert run.state is ImportState.INTERRUPTED
    assert run.quarantined == {("a.pdf", "1"), ("b.pdf", "2")}
    assert run.has_crashed
    assert enqueue("a") == import_id, "internal options do not make it another import"


def test_a_crash_is_forgotten_when_what_it_lost_is_stored(leases, queue, enqueue):
    import_id = enqueue("a")
    crash_at(leases, import_id, ("a.pdf", "1"))
    leases.claim("w")
    leases.note_reading(import_id, "w", None)
    run = queue.get(import_id)
    assert not run.has_crashed
    assert run.quarantined == {("a.pdf", "1")}


def test_an_import_fails_if_it_crashes_on_many_documents(leases, queue, enqueue):
    import_id = enqueue("a")
    for n in range(import_leases._MOST_QUARANTINED):
        crash_at(leases, import_id, (f"{n}.pdf", "1"))
    assert queue.get(import_id).state is ImportState.INTERRUPTED
    crash_at(leases, import_id, ("last.pdf", "1"))
    run = queue.get(import_id)
    assert run.state is ImportState.FAILED
    assert "more memory" in run.message


def test_a_document_noted_by_a_worker_that_stopped_is_not_quarantined(leases, queue, enqueue):
    import_id = enqueue("a")
    leases.claim(DEAD)
    leases.note_reading(import_id, DEAD, ("a.pdf", "1"))
    leases.stop(import_id, DEAD, ImportState.QUEUED, seconds=1)
    leases.claim(DEAD)
    leases.interrupt_dead()
    assert queue.get(import_id).quarantined == frozenset()


def test_a_worker_without_the_lease_notes_nothing(leases, queue, enqueue):
    import_id = enqueue("a")
    leases.claim(DEAD)
    leases.note_reading(import_id, "another", ("a.pdf", "1"))
    leases.interrupt_dead()
    assert queue.get(import_id).quarantined == frozenset()


def test_an_import_requested_during_another_one_is_queued_once(leases, queue, enqueue):
    running = enqueue("a")
    leases.claim("w")
    later = enqueue("a")
    assert later != running, "the running import may have listed the source already"
    assert enqueue("a") == later


@pytest.mark.parametrize(("stop_request", "is_same"), [("", True), (CANCEL, False)])
def test_a_running_removal_is_not_queued_again_unless_it_is_stopping(
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


def test_a_new_full_import_ends_interrupted_full_imports_of_the_source(
    database, leases, queue, enqueue
):
    full = enqueue("a")
    source_id = queue.get(full).source_id
    partial = queue.enqueue(source_id, "anna", ImportKind.IMPORT, {"keys": ["a.txt"]}).id
    Imports(database).add(full, [ImportItem("a.txt", "/a.txt", Outcome.NEW)])
    with database.write() as session:  # as if the workers of both had died
        session.execute(update(ImportRow).values(state=ImportState.INTERRUPTED))
    leases.start(source_id, "anna", "v")
    assert (queue.get(full).ended, queue.get(full).counts) == (True, {"new": 1})
    assert not queue.get(partial).ended, "a partial import also reads unchanged documents"


def test_a_direct_import_is_refused_while_a_run_of_its_source_is_in_progress(
    leases, queue, enqueue
):
    running = enqueue("a")
    source_id, other = queue.get(running).source_id, queue.get(enqueue("b")).source_id
    leases.claim(process_name())
    for call in (
        lambda: leases.start(source_id, "anna", "v"),
        partial(leases.require_idle, source_id),
    ):
        with pytest.raises(BusyError, match="is working on this source"):
            call()
    assert [run.id for run in queue.current(source_id)] == [running]
    leases.require_idle(other)
    assert leases.start(other, "anna", "v")
    assert queue.get(running).state is ImportState.RUNNING


@pytest.mark.parametrize(("worker", "lease_s"), [(DEAD, 20), (ELSEWHERE, -1)])
def test_a_direct_import_takes_the_place_of_one_whose_worker_is_dead(
    leases, queue, enqueue, monkeypatch, worker, lease_s
):
    dead = enqueue("a")
    with monkeypatch.context() as patched:
        patched.setattr(import_leases, "LEASE", timedelta(seconds=lease_s))
        leases.claim(worker)
    source_id = queue.get(dead).source_id
    leases.require_idle(source_id)
    leases.start(source_id, "anna", "v")
    assert (queue.get(dead).state, queue.get(dead).ended) == (ImportState.INTERRUPTED, True)


def test_a_scheduled_import_is_not_queued_while_another_run_of_the_source_is_unfinished(
    leases, queue, enqueue
):
    def schedule():
        return queue.enqueue(source_id, "anna", ImportKind.IMPORT, {}, is_scheduled=True).id

    running = enqueue("a")
    source_id = queue.get(running).source_id
    leases.claim("w")
    assert schedule() == running, "several workers check schedules at the same time"
    leases.settle(running, "w", ImportState.COMPLETED, message="", seconds=1)
    queued = schedule()
    assert queued != running
    assert schedule() == queued


def test_a_run_does_not_give_way_to_one_that_an_idle_worker_can_take(
    database, leases, queue, enqueue
):
    first, _second = enqueue("a"), enqueue("b")
    busy, idle, workers = process_name(), process_name(), Workers(database)
    run = leases.claim(busy)
    assert run.id == first
    workers.renew(busy)
    assert leases.others_wait(run)
    workers.renew(DEAD)
    assert leases.others_wait(run), "a dead worker takes nothing"
    workers.renew(idle)
    assert not leases.others_wait(run)
    leases.claim(idle)
    assert not leases.others_wait(run), "nothing waits"
    enqueue("c")
    assert leases.others_wait(run)


def test_a_run_does_not_give_way_to_one_whose_source_has_a_running_one(leases, queue, enqueue):
    enqueue("a")
    run = leases.claim("w")
    other = queue.get(enqueue("b")).source_id
    leases.claim("v")
    queue.enqueue(other, "bert", ImportKind.DRY_RUN, {})
    assert not leases.others_wait(run)


def test_a_worker_is_alive_while_it_renews_its_registration(database):
    workers, name = Workers(database), process_name()
    assert not workers.any_alive()
    workers.renew(DEAD)
    assert not workers.any_alive()
    workers.renew(name)
    workers.renew(name)
    assert workers.any_alive()
    workers.leave(name)
    assert not workers.any_alive()


def test_only_the_latest_dry_run_keeps_unchanged_items(database, leases, queue, enqueue):
    source_id = queue.get(enqueue("a")).source_id
    queue.request_stop(queue.current()[0].id, CANCEL)
    items = [
        ImportItem(outcome.value, "/x", outcome) for outcome in (Outcome.NEW, Outcome.UNCHANGED)
    ]
    import_ids = []
    for _ in range(2):
        import_ids.append(queue.enqueue(source_id, "anna", ImportKind.DRY_RUN, {}).id)
        leases.claim("w")
        Imports(database).add(import_ids[-1], items)
        leases.settle(import_ids[-1], "w", ImportState.COMPLETED, message="", seconds=1)
    first, second = (Imports(database).get(import_id).items for import_id in import_ids)
    assert (list(first), list(second)) == (items[:1], items)
    assert queue.get(import_ids[0]).counts == {"new": 1, "unchanged": 1}


def test_processes_of_other_machines_are_never_known_to_be_dead():
    assert not is_known_dead(ELSEWHERE)
    assert is_known_dead(DEAD)
    assert not is_known_dead(process_name())
