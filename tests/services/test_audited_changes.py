"""Every service that changes what others see records it, whoever calls it."""

import pytest

from domain import LOCAL_USER, Action, ApiScope, DocumentFilter, Principal, Role
from domain.errors import SignInError
from services.sources.source_service import SourceSettings
from storage.ledger.account_store import Accounts
from tests.fakes.audit import actions_of
from tests.services.administration.conftest import account

SETTINGS = SourceSettings(name="Handbook")


@pytest.fixture
def services(build_services):
    return build_services()


def latest(services):
    return services.audit.list(LOCAL_USER, limit=1)[0]


def add_source(services, handbook, principal=LOCAL_USER):
    values = {"path": str(handbook)}
    return services.sources.add(principal, "directory", values, SETTINGS).source


def test_adding_editing_and_deleting_a_source(services, handbook):
    source = add_source(services, handbook)
    services.sources.edit(LOCAL_USER, source.id, {}, SourceSettings(name="Guide"))
    services.sources.delete(LOCAL_USER, source.id)
    actions = [one for one in actions_of(services) if one.startswith("source.")]
    assert actions == ["source.added", "source.edited", "source.deleted"]
    assert latest(services).object_id == source.id
    assert latest(services).detail == {"kind": "directory", "name": "Guide"}


def test_a_key_is_named_as_the_actor(services, handbook):
    key = services.api_keys.create(LOCAL_USER, Principal("ada"), "Wiki", [ApiScope.MANAGE]).key
    add_source(services, handbook, key.principal)
    event = latest(services)
    assert (event.actor, event.actor_name, event.api_key) == ("ada", "Wiki", key.id)


def test_imports_are_recorded_unless_a_scheduled_one_changes_nothing(services, handbook):
    source = add_source(services, handbook)
    run = services.sources.refresh(LOCAL_USER, source.id)
    services.worker.run_next()
    assert actions_of(services)[1:] == ["import.started", "import.ended"]
    assert latest(services).object_id == run.id
    assert latest(services).detail["new"] > 0
    services.queue.enqueue(LOCAL_USER, source.id, is_scheduled=True)
    services.worker.run_next()
    assert len(actions_of(services)) == 3


def test_removing_and_restoring_a_document(services, handbook):
    report = services.directories.import_directory(LOCAL_USER, handbook)
    document_id, *_others = services.documents.ids(LOCAL_USER, DocumentFilter())
    services.documents.remove(LOCAL_USER, [document_id])
    assert Action.DOCUMENT_REMOVED in actions_of(services)
    excluded = services.documents.excluded(LOCAL_USER)
    services.documents.include_again(LOCAL_USER, excluded)
    restored = services.audit.list(LOCAL_USER, action=Action.DOCUMENT_RESTORED)[0]
    assert restored.object_id == report.source_id
    assert restored.detail["keys"] == [excluded[0][1]]


def test_names_of_files_of_a_conversation_are_not_recorded(services):
    conversation = services.conversations.begin(LOCAL_USER, "Secret plan")
    box = services.uploads.add(
        LOCAL_USER, [("salary of Bob.txt", b"50")], conversation_id=conversation.id
    )
    services.uploads.delete(LOCAL_USER, box.source_id, "salary of Bob.txt")
    services.sharing.share(LOCAL_USER, conversation.id)
    services.sharing.unshare(LOCAL_USER, conversation.id)
    services.conversations.delete(LOCAL_USER, conversation.id)
    assert actions_of(services) == [
        "upload.added",
        "upload.deleted",
        "conversation.shared",
        "conversation.unshared",
        "conversation.deleted",
    ]
    details = [str(event.detail) for event in services.audit.list(LOCAL_USER)]
    assert not any("Bob" in one or "Secret" in one for one in details)


def test_settings_are_recorded_without_secrets(services):
    change = services.settings.change(
        LOCAL_USER, {"ocr_languages": "kor", "openai_api_key": "sk-very-secret"}
    )
    event = latest(services)
    assert event.action == Action.SETTINGS_CHANGED
    assert "openai_api_key" in event.detail["settings"]
    assert event.detail["values"] == {"ocr_languages": "kor"}
    assert "secret" not in str(event.detail)
    services.settings.undo(LOCAL_USER, change)
    assert latest(services).detail["values"] == {"ocr_languages": None}


def test_readers_of_a_source(services, handbook):
    source = add_source(services, handbook)
    services.permissions.set_readers(LOCAL_USER, source.id, ["group:hr"])
    event = latest(services)
    assert (event.action, event.object_id) == (Action.ACCESS_CHANGED, f"source:{source.id}")
    assert event.detail == {"readers": 1}


def test_roles_and_disabled_accounts(services):
    Accounts(services._database).put(account("Ada Lovelace"))
    services.accounts.set_role(LOCAL_USER, "ada", Role.EDITOR)
    services.accounts.disable(LOCAL_USER, "ada")
    services.accounts.enable(LOCAL_USER, "ada")
    expected = ["account.role_changed", "account.disabled", "account.enabled"]
    assert actions_of(services) == expected
    assert services.audit.list(LOCAL_USER)[-1].detail == {"role": "editor"}


def test_api_keys(services):
    key = services.api_keys.create(LOCAL_USER, Principal("ada"), "Wiki", [ApiScope.READ]).key
    services.api_keys.revoke(LOCAL_USER, key.id)
    assert actions_of(services) == ["api_key.created", "api_key.revoked"]
    assert services.audit.list(LOCAL_USER)[-1].detail == {"user_id": "ada", "scopes": ["read"]}


def test_a_call_with_the_key_of_a_disabled_account(services):
    Accounts(services._database).put(account("Ada Lovelace"))
    secret = services.api_keys.create(LOCAL_USER, Principal("ada"), "Wiki", [ApiScope.READ]).secret
    services.accounts.disable(LOCAL_USER, "ada")
    for _ in range(2):
        with pytest.raises(SignInError):
            services.callers.caller(secret)
    assert actions_of(services, action=Action.SIGN_IN_REFUSED) == ["sign_in.refused"]


def test_a_backup(services, tmp_path):
    backup = services.backups.back_up(LOCAL_USER, tmp_path)
    assert latest(services).action == Action.BACKUP_CREATED
    assert latest(services).object_id == backup.file.name
