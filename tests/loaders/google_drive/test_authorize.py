"""A person signs in: the browser of the test goes where Google's page would send it."""

import contextlib
import json
import threading
import urllib.error
import urllib.request

import pytest

from errors import SourceError
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
    """Opens what it is told to, as a person's browser does; `opened` are the addresses."""

    class Browser:
        def open(self, url, new=0, autoraise=True):
            self.opened.append(url)
            self.thread = threading.Thread(target=visit, args=(url,))
            self.thread.start()
            return True

    browser = Browser()
    browser.opened = []
    monkeypatch.setattr("webbrowser.get", lambda *_: browser)
    yield browser
    if browser.opened:
        browser.thread.join(30)


def visit(url):
    with contextlib.suppress(urllib.error.URLError):  # the server remembers what it refuses
        urllib.request.urlopen(url, timeout=30).read()


def test_who_agrees_gets_a_token_that_lists_a_drive(google, browser, importer, drive):
    stored = authorize(json.dumps(google.people.client_secrets()))
    assert "access_type=offline" in browser.opened[0]
    assert "prompt=consent" in browser.opened[0]
    assert set(json.loads(stored)) == {
        "type", "client_id", "client_secret", "refresh_token", "token_uri",
    }  # fmt: skip
    importer.drive, importer.login = google, DriveLogin.of("oauth", stored)
    told = importer.files(folders=[google.my_drive]).connection()
    assert (told.account, told.names) == ("Kim (kim@example.org)", ("My Drive",))
    assert google.refused == []


def test_only_reading_is_asked_for(google, browser):
    authorize(json.dumps(google.people.client_secrets()))
    [asked] = [one for one in google.requests if one.path == "/o/oauth2/auth"]
    assert asked.params["scope"] == READ_ONLY


def test_who_does_not_agree_is_told_so(google, browser):
    google.people.consents = False
    with pytest.raises(SourceError, match="did not allow it .*access_denied.*again"):
        authorize(json.dumps(google.people.client_secrets()))


def test_who_does_not_come_is_not_waited_for_for_ever(google, monkeypatch, capsys):
    monkeypatch.setattr(module, "SIGN_IN_TIMEOUT_S", 0.05)
    with pytest.raises(SourceError, match="Nobody signed in"):
        authorize(json.dumps(google.people.client_secrets()), open_browser=False)
    assert f"{google.origin}/o/oauth2/auth?" in capsys.readouterr().out


def test_a_computer_without_a_browser_gets_the_address(google, monkeypatch, capsys):
    monkeypatch.setattr(module, "SIGN_IN_TIMEOUT_S", 0.05)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("webbrowser._tryorder", [])
    with pytest.raises(SourceError, match="Nobody signed in"):
        authorize(json.dumps(google.people.client_secrets()))
    assert "/o/oauth2/auth?" in capsys.readouterr().out


def test_google_that_is_away_when_the_code_is_used_is_told(google, browser, monkeypatch):
    client = google.people.client_secrets()
    client["installed"]["token_uri"] = "http://127.0.0.1:9/token"
    with pytest.raises(SourceError, match="broke off"):
        authorize(json.dumps(client))


@pytest.mark.parametrize("text", ["", "[]", "hush", '{"web": {}}', '{"installed": {"hush": 1}}'])
def test_what_is_no_client_is_refused_and_not_quoted(text):
    with pytest.raises(SourceError, match='type "Desktop app"') as raised:
        authorize(text)
    assert "hush" not in str(raised.value)
