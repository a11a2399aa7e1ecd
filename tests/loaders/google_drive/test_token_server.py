"""A secret for Google Drive can't make this machine ask another server for tokens."""

import json

import pytest

from domain.errors import SourceError
from loaders.google_drive.drive_login import DriveLogin

GOOGLE = "https://www.googleapis.com/drive/v3/"
PERSON = {"client_id": "c", "client_secret": "s", "refresh_token": "r"}


def login(**values):
    return DriveLogin.of("oauth", json.dumps(PERSON | values))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"token_uri": "https://oauth2.googleapis.com/token"},
        {"token_uri": "https://accounts.google.com/o/oauth2/token"},
    ],
)
def test_tokens_come_from_google(values):
    login(**values).require_token_server(GOOGLE)


@pytest.mark.parametrize(
    "token_uri",
    [
        "http://169.254.169.254/latest",
        "http://oauth2.googleapis.com/token",
        "https://oauth2.googleapis.com.evil.example/token",
        "https://oauth2.googleapis.com@127.0.0.1/token",
        "https://oauth2.googleapis.com:8443/token",
        "https://[",
        "file:///etc/passwd",
    ],
)
def test_another_server_for_tokens_is_rejected(token_uri):
    with pytest.raises(SourceError, match="not Google's"):
        login(token_uri=token_uri).require_token_server(GOOGLE)
    account = {"client_email": "a@b", "private_key": "k", "token_uri": token_uri}
    with pytest.raises(SourceError, match="not Google's"):
        DriveLogin.of("service_account", json.dumps(account)).require_token_server(GOOGLE)


def test_the_server_of_the_configured_api_may_issue_tokens():
    login(token_uri="http://127.0.0.1:80/token").require_token_server("http://127.0.0.1:80/drive")
    with pytest.raises(SourceError):
        login(token_uri="http://127.0.0.1:81/token").require_token_server("http://127.0.0.1:80/")
