import json

import pytest

from domain.errors import SourceError
from loaders.google_drive.drive_login import DriveLogin
from tests.fakes.google_drive_people import People

PERSON = {"client_id": "id", "client_secret": "hush-1", "refresh_token": "hush-2"}


def test_a_service_account_has_an_email_address_and_a_repr_without_secrets():
    key = People().service_account("robot@example.org")
    login = DriveLogin.of("service_account", json.dumps(key))
    assert login.email == "robot@example.org"
    assert key["private_key"] not in repr(login)


def test_a_user_login_has_no_email_address_and_a_repr_without_secrets():
    login = DriveLogin.of("oauth", json.dumps(PERSON))
    assert login.email == ""
    assert "hush" not in repr(login)


@pytest.mark.parametrize("text", ["", "{", "[]", "hush-hush", "[" * 100_000, '{"client_id": "id"}'])
@pytest.mark.parametrize(
    ("kind", "message"), [("service_account", "JSON key"), ("oauth", "google-login")]
)
def test_invalid_logins_are_rejected_with_advice_and_not_quoted(kind, message, text):
    with pytest.raises(SourceError, match=message) as raised:
        DriveLogin.of(kind, text)
    assert "hush" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_an_invalid_private_key_is_rejected_on_use():
    key = {"client_email": "a@b", "private_key": "hush", "token_uri": "http://127.0.0.1/"}
    with pytest.raises(SourceError, match="private key can't be read"):
        DriveLogin.of("service_account", json.dumps(key)).credentials()


def test_the_fingerprint_depends_only_on_the_account():
    logins = [
        DriveLogin.of("oauth", json.dumps(PERSON | {"refresh_token": token})) for token in "aab"
    ]
    assert logins[0].fingerprint() == logins[1].fingerprint() != logins[2].fingerprint()
