import pytest

from domain import ImportItem, ImportReport, ImportState, Outcome
from domain.errors import NotFoundError
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_store import Failure, Failures, Imports
from storage.ledger.source_store import Sources
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

NEW = ImportItem("a.txt", "/a.txt", Outcome.NEW, "", 3, pages=2, characters=50, tokens=9, title="A")
UNCHANGED = ImportItem("b.txt", "/b.txt", Outcome.UNCHANGED)
FAILED = ImportItem("c.pdf", "/c.pdf", Outcome.FAILED, "encrypted")


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def source_id(database):
    return Sources(database).ensure("directory", "/docs", name="docs").id


@pytest.fixture
def imports(database):
    return Imports(database)


@pytest.fixture
def leases(database):
    return ImportLeases(database)


@pytest.fixture
def finish_import(imports, leases, source_id):
    def finish_import(items):
        import_id = leases.start(source_id, "anna", "w")
        imports.add(import_id, items)
        state = ImportState.COMPLETED
        leases.settle(import_id, "w", state, message="a message", seconds=1.5, passages=3)
        return ImportReport(import_id, source_id, state, tuple(items), 3, 1.5, "a message")

    return finish_import


def test_reports_are_stored_unchanged(imports, source_id, finish_import):
    report = finish_import([NEW, FAILED, UNCHANGED])
    assert imports.get(report.id) == report
    assert imports.latest(source_id) == report
    assert imports.latest("another") is None


def test_the_report_of_a_running_import_contains_the_items_so_far(imports, leases, source_id):
    import_id = leases.start(source_id, "anna", "w")
    imports.add(import_id, [NEW])
    assert imports.get(import_id).state is ImportState.RUNNING
    assert imports.get(import_id).items == (NEW,)


def test_only_the_latest_report_contains_unchanged_items(imports, finish_import):
    first = finish_import([NEW, UNCHANGED])
    second = finish_import([UNCHANGED])
    assert imports.get(first.id).items == (NEW,)
    assert imports.get(second.id).items == (UNCHANGED,)


def test_failures_are_stored_by_key_until_they_are_deleted(imports, leases, source_id):
    import_id = leases.start(source_id, "anna", "w")
    other = ImportItem("d", "d", Outcome.FAILED, "no permission")
    imports.fail(import_id, source_id, FAILED, Failure("v1", 1, "encrypted", "/c.pdf"))
    imports.fail(import_id, source_id, FAILED, Failure("v2", 1, "truncated", "/c.pdf"))
    imports.fail(import_id, source_id, other, Failure("v", 1, "no permission", "d", again=True))

    assert imports.failures(source_id) == {
        "c.pdf": Failure("v2", 1, "truncated", "/c.pdf"),
        "d": Failure("v", 1, "no permission", "d", again=True),
    }
    assert len(imports.get(import_id).items) == 3
    imports.forget_failures(source_id, ["c.pdf", "never failed"])
    assert list(imports.failures(source_id)) == ["d"]


def test_a_dismissed_failure_reappears_if_another_version_fails(imports, source_id, database):
    failures = Failures(database)
    for version, expected in (("v1", 0), ("v2", 1)):
        imports.remember(source_id, {"c.pdf": Failure("v1", 1, "encrypted")})
        failures.dismiss(source_id, ["c.pdf"])
        imports.remember(source_id, {"c.pdf": Failure(version, 1, "encrypted")})
        assert len(failures.identifiers()) == expected
    assert "c.pdf" in imports.failures(source_id)


def test_unknown_imports_raise_not_found(imports):
    with pytest.raises(NotFoundError, match="nothing"):
        imports.get("nothing")
