import pytest

from domain import LOCAL_USER, ApiScope, Principal
from errors import InputError, NotFoundError
from services.api_key_service import PREFIX, ApiKeyService
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.database import open_database


@pytest.fixture
def keys(tmp_path):
    return ApiKeyService(ApiKeys(open_database(tmp_path)))


def test_a_key_is_found_by_its_secret_alone(keys):
    made = keys.create(Principal("ada"), " Bot ", [ApiScope.READ, ApiScope.READ])
    assert made.secret.startswith(PREFIX)
    found = keys.find(made.secret)
    assert found == made.key
    assert (found.name, found.scopes, found.principal.user_id) == ("Bot", {ApiScope.READ}, "ada")
    for wrong in (made.key.id, made.secret[:-1], made.secret.upper(), "", PREFIX, "é"):
        assert keys.find(wrong) is None


def test_secrets_are_unique_and_never_stored(keys, tmp_path):
    secrets = {keys.create(LOCAL_USER, "Bot", ApiScope).secret for _ in range(50)}
    assert len(secrets) == 50
    assert min(map(len, secrets)) > 40
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert not any(secret.encode() in kept for secret in secrets)


def test_a_revoked_key_is_no_longer_valid(keys):
    created = keys.create(LOCAL_USER, "Bot", [ApiScope.ASK])
    keys.revoke(created.key.id)
    assert keys.find(created.secret) is None
    assert keys.list()[0].revoked_at is not None


def test_its_use_is_noted(keys):
    made = keys.create(LOCAL_USER, "Bot", [ApiScope.ASK])
    keys.note_use(made.key)
    assert keys.list()[0].used_at is not None


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "two\nlines", "a\0b", "\u202ebot"])
def test_a_name_is_one_line_that_people_can_read(keys, name):
    with pytest.raises(InputError, match="1 to 100 characters"):
        keys.create(LOCAL_USER, name, [ApiScope.ASK])


def test_a_key_is_for_something_and_for_somebody(keys):
    with pytest.raises(InputError, match="read, ask, manage"):
        keys.create(LOCAL_USER, "Bot", [])
    with pytest.raises(InputError, match="Name the user"):
        keys.create(Principal(" "), "Bot", [ApiScope.ASK])


def test_what_is_none_can_t_be_revoked(keys):
    with pytest.raises(NotFoundError):
        keys.revoke("none")
