from datetime import UTC, datetime, timedelta

import pytest

from domain import ApiKey, ApiScope
from domain.errors import NotFoundError
from storage.ledger.api_key_store import ApiKeys
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def keys(tmp_path):
    return ApiKeys(open_ledger(tmp_path))


def add_key(keys, key_id="k1", at=NOW):
    key = ApiKey(key_id, "bot", "ada", frozenset({ApiScope.ASK, ApiScope.READ}), at)
    keys.add(key, f"digest of {key_id}")
    return key


def test_a_key_is_found_by_the_digest_of_its_secret(keys):
    key = add_key(keys)
    assert keys.find("digest of k1") == key
    assert keys.find("k1") is None


def test_the_expiry_and_the_groups_of_a_key_are_stored(keys):
    key = ApiKey(
        "k2",
        "bot",
        "ada",
        frozenset({ApiScope.ASK}),
        NOW,
        expires_at=NOW + timedelta(days=30),
        groups=frozenset({"hr", "it"}),
    )
    keys.add(key, "digest of k2")
    assert keys.find("digest of k2") == key


def test_keys_are_listed_from_oldest_to_newest(keys):
    add_key(keys, "b")
    add_key(keys, "a")
    add_key(keys, "c", NOW - timedelta(days=1))
    assert [key.id for key in keys.list()] == ["c", "a", "b"]


def test_the_time_of_use_is_stored_at_most_once_a_minute(keys):
    key = add_key(keys)
    keys.note_use(key, NOW)
    key = keys.find("digest of k1")
    assert key.used_at == NOW
    keys.note_use(key, NOW + timedelta(seconds=59))
    assert keys.find("digest of k1").used_at == NOW
    keys.note_use(key, NOW + timedelta(seconds=60))
    assert keys.find("digest of k1").used_at == NOW + timedelta(seconds=60)


def test_revoked_keys_stay_listed_with_the_time_of_the_first_revocation(keys):
    add_key(keys)
    keys.revoke("k1", NOW)
    keys.revoke("k1", NOW + timedelta(hours=1))
    assert [key.revoked_at for key in keys.list()] == [NOW]


def test_revoking_an_unknown_key_raises_not_found(keys):
    with pytest.raises(NotFoundError, match="no API key 'k9'"):
        keys.revoke("k9", NOW)
