"""Signing in: the fake browser follows the redirects of Google's consent page."""

import contextlib
import json
import threading
import urllib.error
import urllib.request

import pytest

from domain.errors import SourceError
from loaders.google_drive import drive_login as module
from loaders.google_drive.drive_login import DriveLogin, authorize
from tests.fakes.google_drive import READ_ONLY, FakeDrive


@pytest.fixture
def google(monkeypatch):
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # loopback has no https
    with FakeDrive() as fake:
        yield fake


@pytest.fixture
def browser(monkeypatch):
    """A fake browser that visits each address and records it in `urls`."""

    class Browser:
        def open(self, url, new=0, autoraise=True):
            self.urls.append(url)
            self.thread = threading.Thread(target=visit, args=(url,))
            self.thread.start()
            return True

    browser = Browser()
    browser.urls = []
    monkeypatch.setattr("webbrowser.get", lambda *_: browser)
    yield browser
    if browser.urls:
        browser.thread.join(30)


def visit(url):
    with contextlib.suppress(urllib.error.URLError):  # the server records rejected requests
        urllib.request.urlopen(url, timeout=30).read()


def test_consent_returns_a_token_that_can_list_a_drive(google, browser, importer, drive):
    stored = authorize(json.dumps(google.people.client_secrets()))
    assert "access_type=offline" in browser.urls[0]
    assert "prompt=consent" in browser.urls[0]
    assert set(json.loads(stored)) == {
        "type", "client_id", "client_secret", "refresh_token", "token_uri",
    }  # fmt: skip
    importer.drive, importer.login = google, DriveLogin.of("oauth", stored)
    connection = importer.files(folders=[google.my_drive]).connection()
    assert (connection.account, connection.names) == ("Kim (kim@example.org)", ("My Drive",))
    assert google.refused == []


def test_only_read_access_is_requested(google, browser):
    authorize(json.dumps(google.people.client_secrets()))
    [request] = [request for request in google.requests if request.path == "/o/oauth2/auth"]
    assert request.params["scope"] == READ_ONLY


def test_denied_consent_is_reported(google, browser):
    google.people.consents = False
    with pytest.raises(SourceError, match="denied access .*access_denied.*again"):
        authorize(json.dumps(google.people.client_secrets()))


def test_waiting_for_the_sign_in_times_out(google, monkeypatch, capsys):
    monkeypatch.setattr(module, "SIGN_IN_TIMEOUT_S", 0.05)
    with pytest.raises(SourceError, match="Nobody signed in"):
        authorize(json.dumps(google.people.client_secrets()), open_browser=False)
    assert f"{google.origin}/o/oauth2/auth?" in capsys.readouterr().out


def test_without_a_browser_the_address_is_printed(google, monkeypatch, capsys):
    monkeypatch.setattr(module, "SIGN_IN_TIMEOUT_S", 0.05)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("webbrowser._tryorder", [])
    with pytest.raises(SourceError, match="Nobody signed in"):
        authorize(json.dumps(google.people.client_secrets()))
    assert "/o/oauth2/auth?" in capsys.readouterr().out


def test_an_unreachable_token_server_is_reported(google, browser, monkeypatch):
    client = google.people.client_secrets()
    client["installed"]["token_uri"] = "http://127.0.0.1:9/token"
    with pytest.raises(SourceError, match="was interrupted"):
        authorize(json.dumps(client))


@pytest.mark.parametrize("text", ["", "[]", "hush", '{"web": {}}', '{"installed": {"hush": 1}}'])
def test_invalid_client_secrets_are_rejected_and_not_quoted(text):
    with pytest.raises(SourceError, match='type "Desktop app"') as raised:
        authorize(text)
    assert "hush" not in str(raised.value)
