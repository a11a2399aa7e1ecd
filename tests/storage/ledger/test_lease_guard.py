"""A run that another worker performs, or that was deleted, writes nothing more."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from domain import CancelledError, ImportItem, ImportKind, ImportState, Outcome, Passage
from storage.ledger.database import Database
from storage.ledger.document_store import StoredDocument
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.import_store import Failure, Imports
from storage.ledger.index_store import Indexes, IndexSpec, IndexState, new_index
from storage.ledger.lease_guard import LeaseLostError, with_lease
from storage.ledger.ledger import Ledger, NewVersion
from storage.ledger.ledger_tables import Base
from storage.ledger.source_store import Sources
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

SPEC = IndexSpec({}, "model", "1", 200, 40)
INDEX = new_index(SPEC, IndexState.ACTIVE)
ITEM = ImportItem("a", "/a", Outcome.NEW)
FAILURE = Failure("1", 1, "broken")


@dataclass
class Run:
    """A run and the ledger through which it writes."""

    database: Database
    id: str
    source_id: str

    def __post_init__(self):
        self.ledger = Ledger(self.database)
        self.imports = Imports(self.database)
        self.sources = Sources(self.database)

    def version(self):
        document = StoredDocument(
            id="d",
            source_id=self.source_id,
            key="a",
            version="1",
            formats_version=1,
            title="a",
            location="/a",
            format="txt",
            encoding="utf-8",
            pages=(),
            warnings=(),
            details={},
            imported_at=datetime.now(UTC),
            revision=1,
        )
        return NewVersion(document, "text", [Passage("p", "d", 0, 0, 4, "text")], ITEM)


WRITES = {
    "stage": lambda run: run.ledger.stage(INDEX.id, ["p"]),
    "commit": lambda run: run.ledger.commit(INDEX.id, run.id, [run.version()]),
    "forget": lambda run: run.ledger.forget(INDEX.id, ["left"]),
    "settle": lambda run: run.ledger.settle(run.id, [ITEM], {}),
    "update_metadata": lambda run: run.ledger.update_metadata({"d": {"labels": ["x"]}}),
    "remove": lambda run: run.ledger.remove(run.id, [("d", ITEM)]),
    "fail": lambda run: run.imports.fail(run.id, run.source_id, ITEM, FAILURE),
    "remember": lambda run: run.imports.remember(run.source_id, {"a": FAILURE}),
    "forget_failures": lambda run: run.imports.forget_failures(run.source_id, ["old"]),
    "drop_items": lambda run: run.imports.drop_items(run.id, ["old"]),
    "add": lambda run: run.imports.add(run.id, [ITEM]),
    "replace_items": lambda run: run.imports.replace_items(run.id, [ITEM]),
    "set_options": lambda run: run.sources.set_options(run.source_id, {"labels": ["x"]}),
    "set_cursor": lambda run: run.sources.set_cursor(run.source_id, {"token": "2"}),
    "add_index": lambda run: Indexes(run.database).add(new_index(SPEC, IndexState.BUILDING)),
    "remove_source": lambda run: run.sources.remove(run.source_id),
}
"""All that a run may write, each of which changes something."""


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def leases(database):
    return ImportLeases(database)


@pytest.fixture
def run(database, leases):
    """A running import of the worker `w`, and what earlier ones have left."""
    source_id = Sources(database).ensure("directory", "/docs", name="docs").id
    run_id = ImportRuns(database).enqueue(source_id, "anna", ImportKind.IMPORT, {}).id
    assert leases.claim("w").id == run_id
    Indexes(database).add(INDEX)
    unchecked = Run(database, run_id, source_id)
    unchecked.ledger.stage(INDEX.id, ["left"])
    unchecked.imports.fail(run_id, source_id, ImportItem("old", "", Outcome.FAILED), FAILURE)
    return Run(with_lease(database, run_id, "w"), run_id, source_id)


def rows(database):
    with database.read() as session:
        return [session.execute(select(table)).all() for table in Base.metadata.sorted_tables]


def add_document(database, run, name):
    if name in ("update_metadata", "remove"):
        Run(database, run.id, run.source_id).ledger.commit(INDEX.id, run.id, [run.version()])


@pytest.mark.parametrize("name", WRITES)
def test_a_run_writes_while_it_has_its_lease(database, run, name):
    add_document(database, run, name)
    before = rows(database)
    WRITES[name](run)
    assert rows(database) != before


@pytest.mark.parametrize("name", WRITES)
def test_a_run_that_another_worker_performs_writes_nothing(database, leases, run, name):
    add_document(database, run, name)
    leases.stop(run.id, "w", ImportState.INTERRUPTED, seconds=1)
    assert leases.claim("other").id == run.id
    before = rows(database)
    with pytest.raises(LeaseLostError):
        WRITES[name](run)
    assert rows(database) == before


@pytest.mark.parametrize("state", [ImportState.QUEUED, ImportState.PAUSED, ImportState.CANCELLED])
def test_a_run_that_was_stopped_writes_nothing(database, leases, run, state):
    leases.stop(run.id, "w", state, seconds=1)
    before = rows(database)
    with pytest.raises(CancelledError):
        run.imports.add(run.id, [ITEM])
    assert rows(database) == before


def test_a_run_whose_source_was_deleted_writes_nothing(database, run):
    Sources(database).remove(run.source_id)
    with pytest.raises(LeaseLostError):
        run.imports.remember(run.source_id, {"a": FAILURE})


def test_passages_are_staged_again_without_the_lease_unless_they_are_visible(database, leases, run):
    leases.stop(run.id, "w", ImportState.QUEUED, seconds=1)
    ledger = Ledger(database)
    ledger.forget(INDEX.id, ledger.discards(INDEX.id))
    ledger.commit(INDEX.id, run.id, [run.version()])
    run.ledger.stage_again(INDEX.id, ["p", "q"])
    assert ledger.discards(INDEX.id) == ["q"]
