import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from domain.errors import ConfigError, SourceError
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.secret_store import EncryptionKeys, Secrets, new_key
from storage.ledger.source_store import Sources
from tests.postgresql.ledgers import LEDGERS, open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

PLAIN = "ATATT3xFf-very-plain-secret"


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def secrets_with(database, tmp_path):
    """A function that returns secrets given the value of the encryption key setting."""
    return lambda setting="": Secrets(database, EncryptionKeys(tmp_path, setting))


@pytest.fixture
def source_id(database):
    return Sources(database).ensure("confluence", "https://wiki", name="Wiki").id


def test_secrets_are_stored_only_encrypted(database, secrets_with, source_id, tmp_path, caplog):
    caplog.set_level(logging.DEBUG, "footnote")
    secrets = secrets_with(new_key())
    secrets.save(source_id, "api_token", PLAIN)
    assert secrets.get(source_id, "api_token") == PLAIN
    database.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    with database.read() as session:
        rows = session.execute(text("SELECT * FROM source_secrets")).all()
    assert LEDGERS.server or b"source_secrets" in stored
    assert "api_token" in repr(rows)
    assert PLAIN not in repr(rows)
    assert PLAIN.encode() not in stored
    assert PLAIN not in caplog.text


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=st.text(st.characters(exclude_categories=["Cs"])))
def test_secrets_may_be_any_text(secrets_with, source_id, secret):
    secrets = secrets_with(new_key())
    secrets.save(source_id, "password", secret)
    assert secrets.get(source_id, "password") == secret


def test_a_new_secret_replaces_the_old_one(secrets_with, source_id):
    secrets = secrets_with(new_key())
    secrets.save(source_id, "api_token", "one")
    secrets.save(source_id, "password", "two")
    assert secrets.get(source_id, "password") == "two"
    with pytest.raises(SourceError, match="no stored secret"):
        secrets.get(source_id, "api_token")


def test_removing_a_source_removes_its_secrets(database, secrets_with, source_id):
    secrets_with(new_key()).save(source_id, "api_token", PLAIN)
    Sources(database).remove(source_id)
    with database.read() as session:
        assert session.scalar(text("select count(*) from source_secrets")) == 0


def test_an_old_key_decrypts_until_all_secrets_are_rotated(secrets_with, source_id):
    old, new = new_key(), new_key()
    secrets_with(old).save(source_id, "api_token", PLAIN)
    both = secrets_with(f"{new}, {old}")
    assert both.get(source_id, "api_token") == PLAIN
    with pytest.raises(SourceError, match="another key.*FOOTNOTE_ENCRYPTION_KEY"):
        secrets_with(new).get(source_id, "api_token")
    with pytest.raises(SourceError, match="FOOTNOTE_ENCRYPTION_KEY"):
        secrets_with(new).rotate()
    assert both.rotate() == 1
    assert secrets_with(new).get(source_id, "api_token") == PLAIN


@pytest.mark.parametrize("setting", ["", " , "])
def test_without_a_key_in_the_setting_the_first_secret_creates_one(
    secrets_with, source_id, tmp_path, setting
):
    secrets_with(setting).save(source_id, "api_token", PLAIN)
    key = (tmp_path / KEY_FILE).read_bytes()
    assert secrets_with(setting).get(source_id, "api_token") == PLAIN
    secrets_with(setting).save(source_id, "api_token", "another")
    assert (tmp_path / KEY_FILE).read_bytes() == key


def test_with_a_key_in_the_setting_no_key_file_is_created(secrets_with, source_id, tmp_path):
    secrets_with(new_key()).save(source_id, "api_token", PLAIN)
    assert not (tmp_path / KEY_FILE).exists()


def test_secrets_encrypted_with_the_key_file_survive_changes_of_the_setting(
    secrets_with, source_id, tmp_path
):
    secrets_with().save(source_id, "api_token", PLAIN)
    setting = new_key()
    assert secrets_with(setting).get(source_id, "api_token") == PLAIN
    assert secrets_with().get(source_id, "api_token") == PLAIN
    assert secrets_with(setting).rotate() == 1
    with pytest.raises(SourceError, match=f"FOOTNOTE_ENCRYPTION_KEY or .*{KEY_FILE}"):
        secrets_with().get(source_id, "api_token")
    file = tmp_path / KEY_FILE
    file.write_text(f"{setting}\n{file.read_text()}")
    assert secrets_with().get(source_id, "api_token") == PLAIN


def test_a_lost_key_is_never_replaced_while_secrets_exist(secrets_with, source_id, tmp_path):
    secrets_with().save(source_id, "api_token", PLAIN)
    file = tmp_path / KEY_FILE
    key = file.read_bytes()
    file.unlink()
    lost = secrets_with()
    for use in (
        lost.require_key,
        lost.rotate,
        lambda: lost.get(source_id, "api_token"),
        lambda: lost.save(source_id, "api_token", "another"),
    ):
        with pytest.raises(ConfigError, match=f"{KEY_FILE} from a backup") as caught:
            use()
        assert str(file) in str(caught.value)
        assert not file.exists()
    file.write_bytes(key)
    assert secrets_with().get(source_id, "api_token") == PLAIN


def test_after_losing_a_key_new_secrets_can_be_stored_with_another_one(
    secrets_with, source_id, tmp_path
):
    secrets_with().save(source_id, "api_token", PLAIN)
    (tmp_path / KEY_FILE).unlink()
    secrets = secrets_with(new_key())
    with pytest.raises(SourceError, match="enter the secret again"):
        secrets.get(source_id, "api_token")
    secrets.save(source_id, "api_token", "again")
    assert secrets.get(source_id, "api_token") == "again"


def test_a_new_key_is_created_once_no_secret_exists(secrets_with, source_id, tmp_path):
    secrets_with().save(source_id, "api_token", PLAIN)
    (tmp_path / KEY_FILE).unlink()
    secrets_with().forget(source_id)
    secrets_with().save(source_id, "api_token", "new")
    assert secrets_with().get(source_id, "api_token") == "new"


def test_a_damaged_key_file_is_reported_only_if_no_other_key_decrypts(
    secrets_with, source_id, tmp_path
):
    setting = new_key()
    secrets_with(setting).save(source_id, "api_token", PLAIN)
    (tmp_path / KEY_FILE).write_text("damaged")
    assert secrets_with(setting).get(source_id, "api_token") == PLAIN
    with pytest.raises(ConfigError, match="empty or damaged"):
        secrets_with().get(source_id, "api_token")
    assert secrets_with(setting).rotate() == 1


def test_rotating_without_secrets_does_not_create_a_key(secrets_with, tmp_path):
    assert secrets_with().rotate() == 0
    assert not (tmp_path / KEY_FILE).exists()


@pytest.mark.parametrize("wrong", ["secret-but-no-key", "ü" * 44, "A" * 43])
def test_invalid_keys_are_rejected_and_not_quoted(secrets_with, wrong):
    with pytest.raises(ConfigError, match="FOOTNOTE_ENCRYPTION_KEY.*encryption-key") as caught:
        secrets_with(f"{new_key()},{wrong}").require_key()
    assert wrong not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_repr_does_not_contain_the_key(secrets_with):
    key = new_key()
    assert key not in repr(secrets_with(key))
