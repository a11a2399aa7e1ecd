import pytest

from domain import ImportItem, ImportKind, Outcome
from storage.ledger.database import open_database
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.import_store import Imports, ReadFigures
from storage.ledger.source_store import Sources


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


@pytest.fixture
def items(database):
    return Imports(database)


@pytest.fixture
def job(database):
    source = Sources(database).ensure("directory", "/docs", name="docs")
    return ImportRuns(database).enqueue(source.id, "local", ImportKind.DRY_RUN, {}).id


def new(n):
    return ImportItem(f"{n}", f"/{n}", Outcome.NEW, "", 2, 3, 5, 7)


def test_items_are_read_page_by_page_in_the_order_they_were_settled(items, job):
    given = [new(n) for n in (3, 1, 2)]
    items.replace_items(job, given)
    assert items.items(job, limit=2) == given[:2]
    assert items.items(job, limit=2, offset=2) == given[2:]


def test_a_page_can_be_of_chosen_outcomes(items, job):
    failed = ImportItem("f", "/f", Outcome.FAILED, "encrypted")
    items.replace_items(job, [new(1), failed])
    assert items.items(job, [Outcome.FAILED], limit=9) == [failed]
    assert items.counts(job) == {Outcome.NEW: 1, Outcome.FAILED: 1}
    assert items.count_with_reason(job, "encrypted") == 1


def test_figures_are_sums_and_zero_of_nothing(items, job):
    assert items.figures(job) == ReadFigures()
    items.replace_items(job, [new(1), new(2)])
    assert items.figures(job) == ReadFigures(4, 6, 10, 14)


def test_replacing_leaves_nothing_of_before(items, job):
    items.replace_items(job, [new(n) for n in range(1200)])
    items.replace_items(job, [new(7)])
    assert items.items(job, limit=9) == [new(7)]
