import pytest
from sqlalchemy import insert

from storage.ledger.import_store import Failures
from storage.ledger.ledger_tables import FailureRow
from tests.storage.ledger.test_document_list_store import NOW, Shelf


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


@pytest.fixture
def failures(shelf):
    rows = [(shelf.docs, "a.pdf", None), (shelf.docs, "b.pdf", NOW), (shelf.wiki, "c", NOW)]
    values = [
        {"source_id": s, "key": key, "failed_at": at, "version": "1", "formats_version": 1}
        | {"reason": f"{key} is damaged", "location": f"/{key}"}
        for s, key, at in rows
    ]
    with shelf.database.write() as session:
        session.execute(insert(FailureRow), values)
    return Failures(shelf.database)


def test_failures_are_listed_from_the_latest_with_reason_location_and_time(failures):
    page = failures.page(limit=10)
    assert page[2].key == "a.pdf"
    assert page[2].failed_at is None
    latest = {
        (failure.key, failure.reason, failure.location, failure.failed_at) for failure in page[:2]
    }
    assert ("b.pdf", "b.pdf is damaged", "/b.pdf", NOW) in latest
    assert [failure.key for failure in failures.page(limit=1, offset=2)] == ["a.pdf"]


def test_failures_can_be_limited_to_sources(failures, shelf):
    assert [failure.key for failure in failures.page([shelf.wiki], limit=10)] == ["c"]
    assert failures.count([shelf.docs]) == 2
    assert failures.identifiers([shelf.wiki]) == [(shelf.wiki, "c")]
    assert failures.count([]) == 0


def test_only_dismissed_failures_are_hidden(failures, shelf):
    failures.dismiss(shelf.docs, ["a.pdf", "unknown"])
    assert failures.count() == 2
    assert {key for _, key in failures.identifiers()} == {"b.pdf", "c"}
    assert "a.pdf" not in {failure.key for failure in failures.page(limit=10)}
