import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from errors import ConfigError, SourceError
from storage.database import open_database
from storage.secrets import Secrets, new_key
from storage.sources import Sources

PLAIN = "ATATT3xFf-very-plain-secret"


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


@pytest.fixture
def source_id(database):
    return Sources(database).ensure("confluence", "https://wiki", name="Wiki").id


def test_a_secret_is_given_back_and_stands_nowhere_in_the_data_folder(
    database, source_id, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    secrets = Secrets(database, new_key())
    secrets.keep(source_id, "api_token", PLAIN)
    assert secrets.get(source_id, "api_token") == PLAIN
    database.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"source_secrets" in stored
    assert PLAIN.encode() not in stored
    assert PLAIN not in caplog.text


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_given_back_as_it_was(database, source_id, secret):
    secrets = Secrets(database, new_key())
    secrets.keep(source_id, "password", secret)
    assert secrets.get(source_id, "password") == secret


def test_another_secret_takes_the_place_of_the_one_there_is(database, source_id):
    secrets = Secrets(database, new_key())
    secrets.keep(source_id, "api_token", "one")
    secrets.keep(source_id, "password", "two")
    assert not secrets.has(source_id, "api_token")
    assert secrets.get(source_id, "password") == "two"
    with pytest.raises(SourceError, match="No secret is kept"):
        secrets.get(source_id, "api_token")


def test_secrets_go_with_their_source(database, source_id):
    Secrets(database, new_key()).keep(source_id, "api_token", PLAIN)
    Sources(database).remove(source_id)
    with database.read() as session:
        assert session.scalar(text("select count(*) from source_secrets")) == 0


def test_after_a_change_of_keys_the_old_one_decrypts_until_all_are_rotated(database, source_id):
    old, new = new_key(), new_key()
    Secrets(database, old).keep(source_id, "api_token", PLAIN)
    both = Secrets(database, f"{new}, {old}")
    assert both.get(source_id, "api_token") == PLAIN
    with pytest.raises(SourceError, match="another key.*FOOTNOTE_ENCRYPTION_KEY"):
        Secrets(database, new).get(source_id, "api_token")
    with pytest.raises(SourceError, match="FOOTNOTE_ENCRYPTION_KEY"):
        Secrets(database, new).rotate()
    assert both.rotate() == 1
    assert Secrets(database, new).get(source_id, "api_token") == PLAIN


@pytest.mark.parametrize("keys", ["", " , "])
def test_without_a_key_it_is_said_what_to_do(database, source_id, keys):
    with pytest.raises(ConfigError, match=r"FOOTNOTE_ENCRYPTION_KEY.*\$FOOTNOTE_SECRET_"):
        Secrets(database, keys).keep(source_id, "api_token", PLAIN)


@pytest.mark.parametrize("wrong", ["secret-but-no-key", "ü" * 44, "A" * 43])
def test_what_is_not_a_key_is_refused_and_not_shown(database, wrong):
    with pytest.raises(ConfigError, match="FOOTNOTE_ENCRYPTION_KEY.*encryption-key") as caught:
        Secrets(database, f"{new_key()},{wrong}").require_key()
    assert wrong not in str(caught.value)
    assert caught.value.__cause__ is None


def test_nothing_of_it_is_in_its_representation(database):
    key = new_key()
    assert key not in repr(Secrets(database, key))
