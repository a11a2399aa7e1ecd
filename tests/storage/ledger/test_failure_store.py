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
    named = [
        {"source_id": s, "key": key, "failed_at": at, "version": "1", "formats_version": 1}
        | {"reason": f"{key} is damaged", "location": f"/{key}"}
        for s, key, at in rows
    ]
    with shelf.database.write() as session:
        session.execute(insert(FailureRow), named)
    return Failures(shelf.database)


def test_failures_are_listed_the_latest_first_with_reason_place_and_time(failures):
    found = failures.page(limit=10)
    assert found[2].key == "a.pdf"
    assert found[2].failed_at is None
    told = {(one.key, one.reason, one.location, one.failed_at) for one in found[:2]}
    assert ("b.pdf", "b.pdf is damaged", "/b.pdf", NOW) in told
    assert [one.key for one in failures.page(limit=1, offset=2)] == ["a.pdf"]


def test_failures_of_some_sources_only(failures, shelf):
    assert [one.key for one in failures.page([shelf.wiki], limit=10)] == ["c"]
    assert failures.count([shelf.docs]) == 2
    assert failures.identifiers([shelf.wiki]) == [(shelf.wiki, "c")]
    assert failures.count([]) == 0


def test_a_dismissed_failure_is_not_seen_again_and_others_stay(failures, shelf):
    failures.dismiss(shelf.docs, ["a.pdf", "unknown"])
    assert failures.count() == 2
    assert {key for _, key in failures.identifiers()} == {"b.pdf", "c"}
    assert "a.pdf" not in {one.key for one in failures.page(limit=10)}
