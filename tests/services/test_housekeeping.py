from datetime import UTC, datetime, timedelta

import pytest

from domain import LOCAL_USER, Action
from services import import_worker
from storage.ledger.source_store import Sources
from storage.upload_files import BOXES

DAY = timedelta(days=1)


@pytest.fixture
def with_retention(build_services):
    return build_services(conversation_days=30, audit_days=7)


def test_conversations_without_questions_are_removed_with_their_files(with_retention):
    services, now = with_retention, datetime.now(UTC)
    conversation = services.conversations.begin(LOCAL_USER, "Trip")
    services.uploads.add(LOCAL_USER, [("map.txt", b"Map.")], conversation_id=conversation.id)
    files = services.parts.settings.data_dir / BOXES
    services.housekeeping.run(now + 29 * DAY)
    assert services.conversations.page(LOCAL_USER, limit=9).total == 1
    services.housekeeping.run(now + 31 * DAY)
    assert services.conversations.page(LOCAL_USER, limit=9).total == 0
    while services.worker.run_next():
        pass
    assert not list(files.rglob("*.txt"))


def test_a_question_keeps_a_conversation(with_retention):
    services, now = with_retention, datetime.now(UTC)
    turn = services.chat.ask(LOCAL_USER, "Where is the office?")
    old = now - 40 * DAY
    with services._database.write() as session:
        session.connection().exec_driver_sql(
            "UPDATE conversations SET updated_at = ?", (f"{old:%Y-%m-%d %H:%M:%S.%f}",)
        )
    services.chat.ask(LOCAL_USER, "And the garden?", conversation_id=turn.conversation_id)
    services.housekeeping.run(now)
    assert services.conversations.page(LOCAL_USER, limit=9).total == 1


def test_files_that_another_process_removes_meanwhile_are_no_error(with_retention, monkeypatch):
    services, now = with_retention, datetime.now(UTC)
    conversation = services.conversations.begin(LOCAL_USER, "Trip")
    services.uploads.add(LOCAL_USER, [("map.txt", b"Map.")], conversation_id=conversation.id)
    find_orphans = Sources.of_lost_conversations

    def remove_after_finding(sources):
        boxes = find_orphans(sources)
        for box in boxes:
            sources.remove(box.id)
        assert boxes
        return boxes

    monkeypatch.setattr(Sources, "of_lost_conversations", remove_after_finding)
    services.housekeeping.run(now + 31 * DAY)
    assert services.queue.current(LOCAL_USER) == []


def test_conversations_are_kept_forever_by_default(build_services):
    services = build_services()
    services.conversations.begin(LOCAL_USER, "Trip")
    services.housekeeping.run(datetime.now(UTC) + 3650 * DAY)
    assert services.conversations.page(LOCAL_USER, limit=9).total == 1


def test_events_leave_the_audit_log_after_the_days_of_the_setting(with_retention):
    with_retention.audit.record(LOCAL_USER, Action.SETTINGS_CHANGED, "")
    with_retention.housekeeping.run(datetime.now(UTC) + 6 * DAY)
    assert len(with_retention.audit.list(LOCAL_USER)) == 1
    with_retention.housekeeping.run(datetime.now(UTC) + 8 * DAY)
    assert with_retention.audit.list(LOCAL_USER) == []


def test_a_worker_that_runs_for_a_long_time_does_the_housekeeping(with_retention, monkeypatch):
    services = with_retention
    services.audit.record(LOCAL_USER, Action.SETTINGS_CHANGED, "")
    with services._database.write() as session:
        session.connection().exec_driver_sql("UPDATE audit_events SET at = '2020-01-01 00:00:00'")
    services.worker._schedule()
    assert len(services.audit.list(LOCAL_USER)) == 1
    monkeypatch.setattr(import_worker, "_HOUSEKEEPING_S", 0.0)
    services.worker._schedule()
    assert services.audit.list(LOCAL_USER) == []
