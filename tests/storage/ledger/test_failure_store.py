import pytest
from sqlalchemy import insert

from storage.ledger.import_store import Failures
from storage.ledger.ledger_tables import FailureRow
from tests.storage.ledger.test_document_list_store import NOW, Shelf

pytestmark = pytest.mark.usefixtures("ledger_kind")


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


def keys(documents):
    return [key for _, key in documents]


def test_failures_are_listed_from_the_latest_with_reason_location_and_time(failures):
    documents = failures.identifiers()
    page = failures.of(documents)
    assert [(one.source_id, one.key) for one in page] == documents
    assert page[2].key == "a.pdf"
    assert page[2].failed_at is None
    latest = {
        (failure.key, failure.reason, failure.location, failure.failed_at) for failure in page[:2]
    }
    assert ("b.pdf", "b.pdf is damaged", "/b.pdf", NOW) in latest
    assert [failure.key for failure in failures.of(documents[2:])] == ["a.pdf"]


def test_a_document_without_a_failure_is_omitted(failures, shelf):
    assert failures.of([(shelf.docs, "none.pdf")]) == []


def test_failures_can_be_limited_to_sources(failures, shelf):
    assert failures.identifiers([shelf.wiki]) == [(shelf.wiki, "c")]
    assert len(failures.identifiers([shelf.docs])) == 2
    assert failures.identifiers([]) == []


def test_only_dismissed_failures_are_hidden(failures, shelf):
    failures.dismiss(shelf.docs, ["a.pdf", "unknown"])
    assert sorted(keys(failures.identifiers())) == ["b.pdf", "c"]
