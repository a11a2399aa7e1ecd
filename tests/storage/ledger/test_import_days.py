from datetime import UTC, datetime, timedelta

import pytest

from domain import LOCAL_USER, ImportItem, ImportKind, ImportState, Outcome
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_store import Imports, import_days
from storage.ledger.ledger_tables import ImportRow
from tests.storage.ledger.test_document_list_store import Shelf

pytestmark = pytest.mark.usefixtures("ledger_kind")

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def add_import(shelf, started_at, outcomes, kind=ImportKind.IMPORT):
    imports, leases = Imports(shelf.database), ImportLeases(shelf.database)
    import_id = leases.start(shelf.docs, LOCAL_USER.user_id, "w")
    imports.add(import_id, [ImportItem(f"{n}", "", each) for n, each in enumerate(outcomes)])
    leases.settle(import_id, "w", ImportState.FAILED, message="", seconds=1.0)
    with shelf.database.write() as session:
        row = session.get_one(ImportRow, import_id)
        row.started_at, row.kind = started_at, kind


def test_new_changed_and_removed_documents_are_counted_per_day(tmp_path):
    shelf = Shelf(tmp_path)
    add_import(shelf, NOON, [Outcome.NEW, Outcome.NEW, Outcome.UNCHANGED, Outcome.FAILED])
    add_import(shelf, NOON + timedelta(hours=3), [Outcome.NEW, Outcome.CHANGED])
    add_import(shelf, NOON + timedelta(days=1), [Outcome.REMOVED])
    add_import(shelf, NOON + timedelta(days=1), [Outcome.NEW], ImportKind.DRY_RUN)
    add_import(shelf, NOON - timedelta(days=9), [Outcome.NEW])

    first, second = import_days(shelf.database, [shelf.docs], NOON - timedelta(days=2))
    assert (first.day.isoformat(), first.counts) == ("2026-11-20", {"new": 3, "changed": 1})
    assert import_days(shelf.database, [shelf.wiki], NOON - timedelta(days=2)) == []
    assert (second.day.isoformat(), second.counts) == ("2026-11-21", {"gone": 1})
