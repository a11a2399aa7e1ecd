from datetime import UTC, datetime, timedelta

import pytest

from domain import LOCAL_USER, Account, Action, ApiScope, Principal, Role
from domain.errors import ForbiddenError, InputError
from storage.ledger.account_store import Accounts
from storage.ledger.audit_store import AuditLog, erase_name
from storage.ledger.database import open_database

ADA = Principal("ada", role=Role.ADMIN)


@pytest.fixture
def services(build_services):
    return build_services()


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


def add_account(database, id_="ada", name="Ada Lovelace"):
    now = datetime.now(UTC)
    person = (id_, "https://login", id_, name, "", Role.ADMIN, frozenset())
    return Accounts(database).put(Account(*person, now, now, now))


def actions(events):
    return [event.action for event in events]


def test_an_event_says_who_changed_what_and_when(services):
    services.audit.record(LOCAL_USER, Action.SOURCE_ADDED, "one", kind="directory")
    event = services.audit.list(LOCAL_USER)[0]
    assert (event.actor, event.actor_name, event.api_key) == ("local", "", "")
    assert (event.action, event.object_kind, event.object_id) == ("source.added", "source", "one")
    assert event.detail == {"kind": "directory"}
    assert timedelta(0) <= datetime.now(UTC) - event.at < timedelta(minutes=1)


def test_an_event_has_the_name_of_the_account_at_that_time(database):
    add_account(database)
    log = AuditLog(database)
    log.add(ADA, Action.SETTINGS_CHANGED, "", {})
    [event] = log.about("ada")
    assert (event.actor, event.actor_name) == ("ada", "Ada Lovelace")


def test_an_event_of_an_api_key_has_its_user_and_name(services):
    key = services.api_keys.create(LOCAL_USER, Principal("ada"), "Nightly", [ApiScope.MANAGE]).key
    services.audit.record(key.principal, Action.DOCUMENT_REMOVED, "one")
    event = services.audit.list(LOCAL_USER)[0]
    assert (event.actor, event.actor_name, event.api_key) == ("ada", "Nightly", key.id)


def test_events_are_listed_newest_first_and_paged(services):
    for number in range(5):
        services.audit.record(LOCAL_USER, Action.SOURCE_EDITED, str(number))
    first = services.audit.list(LOCAL_USER, limit=2)
    second = services.audit.list(LOCAL_USER, limit=2, before=first[-1].id)
    assert [event.object_id for event in (*first, *second)] == ["4", "3", "2", "1"]


def test_events_are_filtered_by_time_action_and_actor(services):
    services.audit.record(LOCAL_USER, Action.SOURCE_EDITED, "one")
    services.audit.record(ADA, Action.SOURCE_DELETED, "one")
    listed = services.audit.list
    assert actions(listed(LOCAL_USER, action="source.edited")) == ["source.edited"]
    assert actions(listed(LOCAL_USER, actor="ada")) == ["source.deleted"]
    assert len(listed(LOCAL_USER, since=datetime.now(UTC) - timedelta(days=1))) == 2
    assert listed(LOCAL_USER, since=datetime.now(UTC) + timedelta(days=1)) == []


def test_only_administrators_read_the_log(services):
    with pytest.raises(ForbiddenError):
        services.audit.list(Principal("eve", role=Role.EDITOR))


@pytest.mark.parametrize("wrong", [{"action": "source.eaten"}, {"limit": 0}, {"limit": 201}])
def test_a_wrong_filter_is_refused(services, wrong):
    with pytest.raises(InputError):
        services.audit.list(LOCAL_USER, **wrong)


def test_events_are_deleted_after_their_retention(services):
    services.audit.record(LOCAL_USER, Action.SOURCE_EDITED, "one")
    now = datetime.now(UTC)
    assert services.audit.purge(now + timedelta(days=364)) == 0
    assert services.audit.purge(now + timedelta(days=366)) == 1
    assert services.audit.list(LOCAL_USER) == []


def test_a_refusal_is_recorded_once_an_hour(services):
    for _ in range(3):
        services.audit.record_refusal(ADA, "ada", "disabled")
    services.audit.record_refusal(Principal("eve"), "eve", "disabled")
    assert [one.object_id for one in services.audit.list(LOCAL_USER)] == ["eve", "ada"]


def test_erasing_a_name_keeps_the_id(database):
    add_account(database)
    log = AuditLog(database)
    log.add(ADA, Action.SETTINGS_CHANGED, "", {})
    with database.write() as session:
        erase_name(session, "ada")
    [event] = log.about("ada")
    assert (event.actor, event.actor_name) == ("ada", "")
