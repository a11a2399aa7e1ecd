"""Signing in to the fake through Google's own libraries."""

import time
from http.client import HTTPConnection
from urllib.parse import parse_qs, urlsplit

import httplib2
import pytest
from google.auth import jwt
from google.auth.crypt import RSASigner
from google.auth.exceptions import RefreshError
from google.oauth2 import credentials, service_account
from google_auth_httplib2 import Request
from google_auth_oauthlib.flow import InstalledAppFlow

from tests.fakes.google_drive import IMPORTER, PERSON, READ_ONLY, FakeDrive
from tests.fakes.google_drive_client import client, error
from tests.fakes.google_drive_people import CLIENT

HOME = "http://localhost:1/"


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # loopback has no certificate
    with FakeDrive() as drive:
        yield drive
    assert drive.refused == []


def signed_in(fake, key=None):
    made = service_account.Credentials.from_service_account_info(
        key or fake.service_account(), scopes=[READ_ONLY]
    )
    made.refresh(Request(httplib2.Http()))
    return made


def who(fake, made):
    http = httplib2.Http()
    url = f"{fake.url}about?fields=user(emailAddress)"
    headers = {"Authorization": f"Bearer {made.token}"}
    return http.request(url, headers=headers)


def test_a_service_account_signs_in_with_its_key(fake):
    made = signed_in(fake)
    assert made.valid
    assert IMPORTER.encode() in who(fake, made)[1]


def test_the_key_of_another_account_is_refused(fake):
    theirs = fake.service_account("other@a-project.iam.gserviceaccount.com")
    key = {**fake.service_account(), "private_key": theirs["private_key"]}
    with pytest.raises(RefreshError, match="Invalid JWT Signature"):
        signed_in(fake, key)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"aud": "https://elsewhere.example/token"}, "audience"),
        ({"exp": 1}, "short-lived"),
        ({"iat": 1}, "short-lived"),
        ({"exp": 2**33}, "short-lived"),
        ({"scope": ""}, "scope"),
    ],
)
def test_only_a_wish_for_now_and_for_here_is_granted(fake, claims, reason):
    key = fake.service_account()
    now = int(time.time())
    told = {"iss": IMPORTER, "aud": key["token_uri"], "iat": now, "exp": now + 3600}
    signer = RSASigner.from_service_account_info(key)
    assertion = jwt.encode(signer, {**told, "scope": READ_ONLY, **claims}).decode()
    kind = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    body = f"grant_type={kind}&assertion={assertion}"
    status, told = httplib2.Http().request(key["token_uri"], "POST", body)
    assert (status.status, reason in told.decode()) == (400, True)


def test_a_key_that_was_taken_away_is_refused(fake):
    made = signed_in(fake)
    fake.people.revoke(IMPORTER)
    assert who(fake, made)[0].status == 401
    with pytest.raises(RefreshError, match="invalid_grant"):
        signed_in(fake)


def test_an_access_token_ends_and_the_client_gets_another(fake):
    api = client(fake)
    api.about().get(fields="user").execute()
    fake.people.expire_access()
    api.about().get(fields="user").execute()
    assert [asked.status for asked in fake.requests if asked.path != "/token"] == [200, 401, 200]


def test_a_scope_that_does_not_read_is_not_enough(fake):
    api = client(fake, scope="https://www.googleapis.com/auth/drive.file")
    assert error(api.about().get(fields="user")) == (403, "insufficientPermissions")


def of_person(fake, **other):
    stored = fake.people.authorized_user() | other
    del stored["type"]
    return credentials.Credentials(None, **stored)


def test_a_stored_token_of_a_person_is_refreshed_until_it_is_withdrawn(fake):
    made = of_person(fake)
    made.refresh(Request(httplib2.Http()))
    assert PERSON.encode() in who(fake, made)[1]
    fake.people.revoke(PERSON)
    with pytest.raises(RefreshError, match="expired or revoked"):
        made.refresh(Request(httplib2.Http()))


def test_a_stored_token_needs_its_client(fake):
    made = of_person(fake, client_secret="another")
    with pytest.raises(RefreshError, match="invalid_client"):
        made.refresh(Request(httplib2.Http()))


def asked_for_consent(fake, flow):
    """Where the browser is sent back to."""
    url, _ = flow.authorization_url(access_type="offline", prompt="consent")
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=5)
    connection.request("GET", f"{address.path}?{address.query}")
    answer = connection.getresponse()
    connection.close()
    assert answer.status == 302
    return answer.headers["Location"]


def test_a_person_signs_in_through_a_browser(fake):
    flow = InstalledAppFlow.from_client_config(
        fake.people.client_secrets(), [READ_ONLY], redirect_uri=HOME
    )
    back = asked_for_consent(fake, flow)
    flow.fetch_token(authorization_response=back)
    assert flow.credentials.refresh_token
    assert flow.credentials.client_id == CLIENT["client_id"]
    assert PERSON.encode() in who(fake, flow.credentials)[1]
    again = InstalledAppFlow.from_client_config(
        fake.people.client_secrets(), [READ_ONLY], redirect_uri=HOME
    )
    with pytest.raises(Exception, match="invalid_grant"):
        again.fetch_token(code=parse_qs(urlsplit(back).query)["code"][0])


def test_a_person_may_say_no(fake):
    fake.people.consents = False
    flow = InstalledAppFlow.from_client_config(
        fake.people.client_secrets(), [READ_ONLY], redirect_uri=HOME
    )
    asked = parse_qs(urlsplit(asked_for_consent(fake, flow)).query)
    assert asked["error"] == ["access_denied"]
