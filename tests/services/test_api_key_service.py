from datetime import UTC, datetime, timedelta

import pytest

from domain import LOCAL_USER, ApiScope, Principal, Role
from domain.errors import ForbiddenError, InputError, NotFoundError, SignInError
from services.api_key_service import PREFIX, ApiKeyService
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.database import open_database
from tests.fakes.audit import audit_of


@pytest.fixture
def keys(tmp_path):
    database = open_database(tmp_path)
    return ApiKeyService(ApiKeys(database), audit_of(database))


def test_a_key_is_found_only_by_its_secret(keys):
    created = keys.create(LOCAL_USER, Principal("ada"), " Bot ", [ApiScope.READ, ApiScope.READ])
    assert created.secret.startswith(PREFIX)
    key = keys.find(created.secret)
    assert key == created.key
    assert (key.name, key.scopes, key.principal.user_id) == ("Bot", {ApiScope.READ}, "ada")
    for wrong in (created.key.id, created.secret[:-1], created.secret.upper(), "", PREFIX, "é"):
        assert keys.find(wrong) is None


def test_secrets_are_unique_and_never_stored(keys, tmp_path):
    secrets = {keys.create(LOCAL_USER, LOCAL_USER, "Bot", ApiScope).secret for _ in range(50)}
    assert len(secrets) == 50
    assert min(map(len, secrets)) > 40
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert not any(secret.encode() in stored for secret in secrets)


def test_a_revoked_key_is_no_longer_valid(keys):
    created = keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK])
    keys.revoke(LOCAL_USER, created.key.id)
    assert keys.find(created.secret) is None
    assert keys.list(LOCAL_USER)[0].revoked_at is not None


def test_the_last_use_of_a_key_is_recorded(keys):
    created = keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK])
    keys.note_use(created.key)
    assert keys.list(LOCAL_USER)[0].used_at is not None


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "two\nlines", "a\0b", "\u202ebot"])
def test_a_name_that_is_not_one_readable_line_is_rejected(keys, name):
    with pytest.raises(InputError, match="1 to 100 characters"):
        keys.create(LOCAL_USER, LOCAL_USER, name, [ApiScope.ASK])


def test_a_key_needs_a_scope_and_a_user(keys):
    with pytest.raises(InputError, match="read, ask, manage"):
        keys.create(LOCAL_USER, LOCAL_USER, "Bot", [])
    with pytest.raises(InputError, match="Specify the user"):
        keys.create(LOCAL_USER, Principal(" "), "Bot", [ApiScope.ASK])


def test_an_unknown_key_cannot_be_revoked(keys):
    with pytest.raises(NotFoundError):
        keys.revoke(LOCAL_USER, "none")


def test_an_unknown_or_revoked_key_is_not_verified(keys):
    created = keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK])
    assert keys.verify(created.secret) == created.key
    keys.revoke(LOCAL_USER, created.key.id)
    for secret in (created.secret, "fn-unknown", ""):
        with pytest.raises(SignInError, match="is unknown or was revoked"):
            keys.verify(secret)


def test_an_expired_key_is_refused_and_the_message_says_so(keys):
    created = keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK], timedelta(microseconds=1))
    assert not created.key.is_valid(datetime.now(UTC))
    with pytest.raises(SignInError, match=f"expired on {created.key.expires_at:%Y-%m-%d}: "):
        keys.verify(created.secret)


def test_a_key_is_valid_until_the_moment_of_its_expiry(keys):
    key = keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK], timedelta(days=30)).key
    assert key.expires_at == key.created_at + timedelta(days=30)
    assert key.is_valid(key.expires_at - timedelta(microseconds=1))
    assert not key.is_valid(key.expires_at)
    assert keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK]).key.is_valid(
        datetime.max.replace(tzinfo=UTC)
    )


@pytest.mark.parametrize("days", [-1, 0, 3651])
def test_a_lifetime_that_is_not_between_one_day_and_ten_years_is_refused(keys, days):
    with pytest.raises(InputError, match="after 1 to 3650 days"):
        keys.create(LOCAL_USER, LOCAL_USER, "Bot", [ApiScope.ASK], timedelta(days=days))
    assert keys.list(LOCAL_USER) == []


def test_a_key_acts_for_a_user_and_their_groups(keys):
    anna = Principal("anna", frozenset({"hr", " 人事部 "}), Role.ADMIN)
    created = keys.create(LOCAL_USER, anna, "Bot", [ApiScope.READ])
    principal = keys.verify(created.secret).principal
    assert principal == Principal("anna", frozenset({"hr", "人事部"}), Role.EDITOR)
    assert not principal.is_operator


@pytest.mark.parametrize("group", ["", " ", "two\nlines", "x" * 201, "\u202ehr"])
def test_the_group_of_a_key_must_be_a_readable_name(keys, group):
    with pytest.raises(InputError, match="is not a reader"):
        keys.create(LOCAL_USER, Principal("anna", frozenset({group})), "Bot", [ApiScope.READ])


def test_a_key_has_the_role_editor_whose_use_its_scopes_limit(keys):
    for scopes in ([ApiScope.READ], [*ApiScope]):
        key = keys.create(LOCAL_USER, Principal("anna", role=Role.ADMIN), "Bot", scopes).key
        assert key.principal.role is Role.EDITOR


@pytest.mark.parametrize("role", [Role.READER, Role.EDITOR])
def test_only_administrators_manage_keys(keys, role):
    created = keys.create(Principal("root", role=Role.ADMIN), LOCAL_USER, "Bot", [ApiScope.ASK])
    principal = Principal("anna", role=role)
    for call, *arguments in [
        (keys.create, principal, "Bot", [ApiScope.ASK]),
        (keys.list,),
        (keys.revoke, created.key.id),
    ]:
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            call(principal, *arguments)
    assert keys.list(LOCAL_USER) == [created.key]
