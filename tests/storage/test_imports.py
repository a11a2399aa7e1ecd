import pytest

from domain import DocumentRef, ImportItem, ImportReport, ImportState, Outcome
from errors import NotFoundError
from storage.database import open_database
from storage.imports import Failure, Imports
from storage.sources import Sources

DONE = ImportItem("a.txt", "/a.txt", Outcome.NEW, passages=3)
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


def finished(imports, source_id, items):
    import_id = imports.start(source_id, "anna")
    imports.add(import_id, items)
    report = ImportReport(
        import_id, source_id, ImportState.COMPLETED, tuple(items), 3, 1.5, "a message"
    )
    imports.finish(report)
    return report


def test_a_report_reads_back_exactly(imports, source_id):
    report = finished(imports, source_id, [DONE, BAD, SAME])
    assert imports.get(report.id) == report
    assert imports.latest(source_id) == report
    assert imports.latest("another") is None


def test_a_running_import_shows_what_is_settled_so_far(imports, source_id):
    import_id = imports.start(source_id, "anna")
    imports.add(import_id, [DONE])
    assert imports.get(import_id).state is ImportState.RUNNING
    assert imports.get(import_id).items == (DONE,)


def test_only_the_latest_report_lists_what_was_unchanged(imports, source_id):
    first = finished(imports, source_id, [DONE, SAME])
    second = finished(imports, source_id, [SAME])
    assert imports.get(first.id).items == (DONE,)
    assert imports.get(second.id).items == (SAME,)


def test_failures_are_remembered_by_key_until_they_are_forgotten(imports, source_id):
    import_id = imports.start(source_id, "anna")
    ref = DocumentRef("c.pdf", "v1", "/c.pdf")
    imports.fail(import_id, BAD, (source_id, ref, Failure("v1", 1, "encrypted")))
    imports.fail(import_id, BAD, (source_id, ref, Failure("v2", 1, "truncated")))
    imports.fail(import_id, ImportItem("d", "d", Outcome.FAILED, "no permission"), None)

    assert imports.failures(source_id) == {"c.pdf": Failure("v2", 1, "truncated")}
    assert len(imports.get(import_id).items) == 3
    imports.forget_failures(source_id, ["c.pdf", "never failed"])
    assert imports.failures(source_id) == {}


def test_an_import_that_was_left_running_becomes_interrupted(imports, source_id):
    ended = finished(imports, source_id, [DONE])
    left = imports.start(source_id, "anna")

    assert imports.interrupt_running() == 1
    assert imports.get(left).state is ImportState.INTERRUPTED
    assert "again" in imports.get(left).message
    assert imports.get(ended.id) == ended
    assert imports.interrupt_running() == 0


def test_an_unknown_import_is_not_found(imports):
    with pytest.raises(NotFoundError, match="nothing"):
        imports.get("nothing")
