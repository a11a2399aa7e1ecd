import pytest

from domain import LOCAL_USER, ApiScope, Principal
from domain.errors import InputError, NotFoundError
from services.api_key_service import PREFIX, ApiKeyService
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.database import open_database


@pytest.fixture
def keys(tmp_path):
    return ApiKeyService(ApiKeys(open_database(tmp_path)))


def test_a_key_is_found_only_by_its_secret(keys):
    created = keys.create(Principal("ada"), " Bot ", [ApiScope.READ, ApiScope.READ])
    assert created.secret.startswith(PREFIX)
    key = keys.find(created.secret)
    assert key == created.key
    assert (key.name, key.scopes, key.principal.user_id) == ("Bot", {ApiScope.READ}, "ada")
    for wrong in (created.key.id, created.secret[:-1], created.secret.upper(), "", PREFIX, "é"):
        assert keys.find(wrong) is None


def test_secrets_are_unique_and_never_stored(keys, tmp_path):
    secrets = {keys.create(LOCAL_USER, "Bot", ApiScope).secret for _ in range(50)}
    assert len(secrets) == 50
    assert min(map(len, secrets)) > 40
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert not any(secret.encode() in stored for secret in secrets)


def test_a_revoked_key_is_no_longer_valid(keys):
    created = keys.create(LOCAL_USER, "Bot", [ApiScope.ASK])
    keys.revoke(created.key.id)
    assert keys.find(created.secret) is None
    assert keys.list()[0].revoked_at is not None


def test_the_last_use_of_a_key_is_recorded(keys):
    created = keys.create(LOCAL_USER, "Bot", [ApiScope.ASK])
    keys.note_use(created.key)
    assert keys.list()[0].used_at is not None


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "two\nlines", "a\0b", "\u202ebot"])
def test_a_name_that_is_not_one_readable_line_is_rejected(keys, name):
    with pytest.raises(InputError, match="1 to 100 characters"):
        keys.create(LOCAL_USER, name, [ApiScope.ASK])


def test_a_key_needs_a_scope_and_a_user(keys):
    with pytest.raises(InputError, match="read, ask, manage"):
        keys.create(LOCAL_USER, "Bot", [])
    with pytest.raises(InputError, match="Specify the user"):
        keys.create(Principal(" "), "Bot", [ApiScope.ASK])


def test_an_unknown_key_cannot_be_revoked(keys):
    with pytest.raises(NotFoundError):
        keys.revoke("none")
