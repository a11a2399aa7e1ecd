import pytest

from domain import ImportItem, ImportReport, ImportState, Outcome
from errors import NotFoundError
from storage.ledger.database import open_database
from storage.ledger.import_leases import ImportLeases
from storage.ledger.import_store import Failure, Failures, Imports
from storage.ledger.source_store import Sources

DONE = ImportItem(
    "a.txt", "/a.txt", Outcome.NEW, "", 3, pages=2, characters=50, tokens=9, title="A"
)
SAME = ImportItem("b.txt", "/b.txt", Outcome.UNCHANGED)
BAD = ImportItem("c.pdf", "/c.pdf", Outcome.FAILED, "encrypted")


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


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
def finished(imports, leases, source_id):
    def finished(items):
        import_id = leases.start(source_id, "anna", "w")
        imports.add(import_id, items)
        state = ImportState.COMPLETED
        leases.settle(import_id, "w", state, message="a message", seconds=1.5, passages=3)
        return ImportReport(import_id, source_id, state, tuple(items), 3, 1.5, "a message")

    return finished


def test_a_report_reads_back_exactly(imports, source_id, finished):
    report = finished([DONE, BAD, SAME])
    assert imports.get(report.id) == report
    assert imports.latest(source_id) == report
    assert imports.latest("another") is None


def test_a_running_import_shows_what_is_settled_so_far(imports, leases, source_id):
    import_id = leases.start(source_id, "anna", "w")
    imports.add(import_id, [DONE])
    assert imports.get(import_id).state is ImportState.RUNNING
    assert imports.get(import_id).items == (DONE,)


def test_only_the_latest_report_lists_what_was_unchanged(imports, finished):
    first = finished([DONE, SAME])
    second = finished([SAME])
    assert imports.get(first.id).items == (DONE,)
    assert imports.get(second.id).items == (SAME,)


def test_failures_are_remembered_by_key_until_they_are_forgotten(imports, leases, source_id):
    import_id = leases.start(source_id, "anna", "w")
    other = ImportItem("d", "d", Outcome.FAILED, "no permission")
    imports.fail(import_id, source_id, BAD, Failure("v1", 1, "encrypted", "/c.pdf"))
    imports.fail(import_id, source_id, BAD, Failure("v2", 1, "truncated", "/c.pdf"))
    imports.fail(import_id, source_id, other, Failure("v", 1, "no permission", "d", again=True))

    assert imports.failures(source_id) == {
        "c.pdf": Failure("v2", 1, "truncated", "/c.pdf"),
        "d": Failure("v", 1, "no permission", "d", again=True),
    }
    assert len(imports.get(import_id).items) == 3
    imports.forget_failures(source_id, ["c.pdf", "never failed"])
    assert list(imports.failures(source_id)) == ["d"]


def test_a_dismissed_failure_shows_again_once_another_version_fails(imports, source_id, database):
    shown = Failures(database)
    for version, expected in (("v1", 0), ("v2", 1)):
        imports.remember(source_id, {"c.pdf": Failure("v1", 1, "encrypted")})
        shown.dismiss(source_id, ["c.pdf"])
        imports.remember(source_id, {"c.pdf": Failure(version, 1, "encrypted")})
        assert shown.count() == expected
    assert "c.pdf" in imports.failures(source_id)


def test_an_unknown_import_is_not_found(imports):
    with pytest.raises(NotFoundError, match="nothing"):
        imports.get("nothing")
