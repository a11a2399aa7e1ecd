"""Portions of the documents of a running import, and who reads them."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from domain import HIDDEN, DocumentRef, ImportKind, ImportState
from domain.messages import _
from storage.ledger.import_leases import ImportLeases, Workers
from storage.ledger.import_portions import ImportPortions, with_portion
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.lease_guard import LeaseLostError
from storage.ledger.ledger_tables import WorkerRow
from storage.ledger.source_store import Sources
from tests.fakes.library import DEAD
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

REFS = [DocumentRef(f"{n}.txt", "1", f"/{n}.txt") for n in range(5)]
OWNER, READER, THIRD = "one/1/owner", "two/1/reader", "two/2/third"


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def portions(database):
    return ImportPortions(database)


@pytest.fixture
def import_id(database):
    """A running import of the owner; the reader is another worker."""
    source = Sources(database).ensure("directory", "/docs", name="docs")
    ImportRuns(database).enqueue(source.id, "anna", ImportKind.IMPORT, {})
    for name in (OWNER, READER, THIRD):
        Workers(database).renew(name)
    return ImportLeases(database).claim(OWNER).id


def keys_of(portion):
    return [ref.key for ref in portion.documents]


def test_portions_are_taken_once_and_in_order(portions, import_id):
    portions.publish(import_id, [REFS[:2], REFS[2:4], REFS[4:]], {"1.txt"})
    first, second = portions.take_any(READER), portions.take(import_id, OWNER)
    assert [keys_of(first), keys_of(second)] == [["0.txt", "1.txt"], ["2.txt", "3.txt"]]
    assert (first.new_keys, second.new_keys) == ({"1.txt"}, frozenset())
    assert not first.is_retry
    assert keys_of(portions.take_any(THIRD)) == ["4.txt"]
    assert portions.take(import_id, OWNER) is None
    assert portions.take_any("three/1/fourth") is None


def test_a_portion_exists_until_its_reader_has_finished_it(portions, import_id):
    portions.publish(import_id, [REFS[:2], REFS[2:]], ())
    first = portions.take_any(READER)
    portions.finish(first, OWNER)
    assert portions.numbers(import_id) == {0, 1}, "another worker can't finish it"
    portions.finish(first, READER)
    assert portions.numbers(import_id) == {1}


def test_what_was_given_back_is_only_for_the_worker_of_the_import(portions, import_id):
    portions.publish(import_id, [REFS], ())
    portions.give_back(portions.take_any(READER), READER)
    assert portions.take_any(READER) is None
    again = portions.take(import_id, OWNER)
    assert keys_of(again) == [ref.key for ref in REFS]
    assert again.is_retry


def test_a_worker_gives_back_what_it_still_holds_before_it_takes_another(portions, import_id):
    """The ledger may have been unavailable when it was to give back or finish the first."""
    portions.publish(import_id, [REFS[:2], REFS[2:]], ())
    portions.take_any(READER)
    assert keys_of(portions.take_any(READER)) == [ref.key for ref in REFS[2:]]
    assert keys_of(portions.take(import_id, OWNER)) == [ref.key for ref in REFS[:2]]
    assert portions.take_any(READER) is None
    assert keys_of(portions.take(import_id, OWNER)) == [ref.key for ref in REFS[2:]]


def test_an_import_gives_way_if_the_only_other_worker_reads_a_portion(
    database, portions, import_id
):
    portions.publish(import_id, [REFS], ())
    Workers(database).leave(THIRD)
    other = Sources(database).ensure("directory", "/other", name="other")
    ImportRuns(database).enqueue(other.id, "carol", ImportKind.IMPORT, {})
    run, leases = ImportRuns(database).get(import_id), ImportLeases(database)
    assert not leases.others_wait(run), "the reader is idle"
    taken = portions.take_any(READER)
    assert leases.others_wait(run)
    portions.finish(taken, READER)
    assert not leases.others_wait(run)


@pytest.mark.parametrize("reader", [DEAD, "never/1/registered"])
def test_the_portion_of_a_dead_worker_is_taken_over(database, portions, import_id, reader):
    if reader == DEAD:
        Workers(database).renew(DEAD)
    portions.publish(import_id, [REFS], ())
    lost = portions.take_any(reader)
    assert portions.take(import_id, OWNER).is_retry
    assert not portions.is_held(lost, reader)


def test_the_portion_of_a_worker_is_taken_over_when_its_heartbeat_expires(
    database, portions, import_id
):
    portions.publish(import_id, [REFS], ())
    portions.take_any(READER)
    assert portions.take(import_id, OWNER) is None
    with database.write() as session:
        expired = datetime.now(UTC) - timedelta(minutes=1)
        reader = update(WorkerRow).where(WorkerRow.name == READER)
        session.execute(reader.values(lease_until=expired))
    assert portions.take(import_id, OWNER).is_retry


@pytest.mark.parametrize("state", [ImportState.INTERRUPTED, ImportState.FAILED])
def test_the_end_of_the_run_ends_its_portions(database, portions, import_id, state):
    portions.publish(import_id, [REFS[:2], REFS[2:]], ())
    taken = portions.take_any(READER)
    ledger = with_portion(database, taken, READER)
    with ledger.write():
        pass
    ImportLeases(database).settle(import_id, OWNER, state, message="", seconds=1.0)
    assert portions.numbers(import_id) == set()
    assert not portions.is_held(taken, READER)
    with pytest.raises(LeaseLostError), ledger.write():
        pass
    assert portions.take_any(READER) is None
    portions.give_back(taken, READER)
    portions.finish(taken, READER)


@pytest.mark.parametrize(
    "ref",
    [
        DocumentRef("가/報告.md", "é", "https://example.com/1", title="題名", size=2**40),
        DocumentRef("a", "1", "/a", restrictions=()),
        DocumentRef("a", "1", "/a", restrictions=(frozenset({"b", "a"}), frozenset({"c"}))),
        DocumentRef("a", "1", "/a").hidden(_("page {page} is hidden").format(page=3)),
    ],
)
def test_documents_are_stored_with_all_their_fields(portions, import_id, ref):
    portions.publish(import_id, [[ref]], ())
    [stored] = portions.take_any(READER).documents
    assert stored == ref
    assert (stored.title, stored.size) == (ref.title, ref.size)
    assert stored.restrictions == ref.restrictions
    assert stored.hidden_reason == ref.hidden_reason
    assert type(stored.hidden_reason) is type(ref.hidden_reason)


def test_hidden_documents_stay_hidden_from_everyone(portions, import_id):
    portions.publish(import_id, [[REFS[0].hidden("unknown")]], ())
    assert portions.take_any(READER).documents[0].restrictions == HIDDEN
