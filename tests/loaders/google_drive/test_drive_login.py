import json

import pytest

from errors import SourceError
from loaders.google_drive.drive_login import DriveLogin
from tests.fakes.google_drive_people import People

PERSON = {"client_id": "id", "client_secret": "hush-1", "refresh_token": "hush-2"}


def test_a_service_account_says_whom_to_share_with_and_shows_no_secret():
    key = People().service_account("robot@example.org")
    login = DriveLogin.of("service_account", json.dumps(key))
    assert login.email == "robot@example.org"
    assert key["private_key"] not in repr(login)


def test_a_person_has_no_address_to_share_with_and_shows_no_secret():
    login = DriveLogin.of("oauth", json.dumps(PERSON))
    assert login.email == ""
    assert "hush" not in repr(login)


@pytest.mark.parametrize("text", ["", "{", "[]", "hush-hush", "[" * 100_000, '{"client_id": "id"}'])
@pytest.mark.parametrize(
    ("kind", "told"), [("service_account", "JSON key"), ("oauth", "google-login")]
)
def test_what_is_no_login_is_refused_with_what_to_do_and_not_quoted(kind, told, text):
    with pytest.raises(SourceError, match=told) as raised:
        DriveLogin.of(kind, text)
    assert "hush" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_private_key_that_is_none_is_refused_when_it_is_used():
    key = {"client_email": "a@b", "private_key": "hush", "token_uri": "http://127.0.0.1/"}
    with pytest.raises(SourceError, match="private key can't be read"):
        DriveLogin.of("service_account", json.dumps(key)).credentials()


def test_there_is_no_other_way_to_sign_in():
    with pytest.raises(SourceError, match="'password' is not a way"):
        DriveLogin.of("password", "{}")


def test_the_fingerprint_tells_accounts_apart_and_nothing_else():
    logins = [
        DriveLogin.of("oauth", json.dumps(PERSON | {"refresh_token": token})) for token in "aab"
    ]
    assert logins[0].fingerprint() == logins[1].fingerprint() != logins[2].fingerprint()
