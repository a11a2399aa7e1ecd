import pytest

from domain import ImportItem, ImportKind, Outcome
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.import_store import Imports, ReadFigures
from storage.ledger.source_store import Sources
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def items(database):
    return Imports(database)


@pytest.fixture
def import_id(database):
    source = Sources(database).ensure("directory", "/docs", name="docs")
    return ImportRuns(database).enqueue(source.id, "local", ImportKind.DRY_RUN, {}).id


def new(n):
    return ImportItem(f"{n}", f"/{n}", Outcome.NEW, "", 2, 3, 5, 7)


def test_items_are_listed_page_by_page_in_insertion_order(items, import_id):
    expected = [new(n) for n in (3, 1, 2)]
    items.replace_items(import_id, expected)
    assert items.items(import_id, limit=2) == expected[:2]
    assert items.items(import_id, limit=2, offset=2) == expected[2:]


def test_items_can_be_filtered_by_outcome(items, import_id):
    failed = ImportItem("f", "/f", Outcome.FAILED, "encrypted")
    items.replace_items(import_id, [new(1), failed])
    assert items.items(import_id, [Outcome.FAILED], limit=9) == [failed]
    assert items.counts(import_id) == {Outcome.NEW: 1, Outcome.FAILED: 1}
    assert items.count_with_reason(import_id, "encrypted") == 1


def test_figures_are_summed_over_all_items(items, import_id):
    assert items.figures(import_id) == ReadFigures()
    items.replace_items(import_id, [new(1), new(2)])
    assert items.figures(import_id) == ReadFigures(4, 6, 10, 14)


def test_replacing_items_removes_the_old_ones(items, import_id):
    items.replace_items(import_id, [new(n) for n in range(1200)])
    items.replace_items(import_id, [new(7)])
    assert items.items(import_id, limit=9) == [new(7)]
