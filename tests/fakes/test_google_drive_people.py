"""Signing in to the fake with Google's own libraries."""

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

pytestmark = pytest.mark.slow

HOME = "http://localhost:1/"


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # loopback has no certificate
    with FakeDrive() as drive:
        yield drive
    assert drive.refused == []


def sign_in(fake, key=None):
    credentials = service_account.Credentials.from_service_account_info(
        key or fake.service_account(), scopes=[READ_ONLY]
    )
    credentials.refresh(Request(httplib2.Http()))
    return credentials


def account_response(fake, credentials):
    http = httplib2.Http()
    url = f"{fake.url}about?fields=user(emailAddress)"
    headers = {"Authorization": f"Bearer {credentials.token}"}
    return http.request(url, headers=headers)


def test_a_service_account_signs_in_with_its_key(fake):
    credentials = sign_in(fake)
    assert credentials.valid
    assert IMPORTER.encode() in account_response(fake, credentials)[1]


def test_the_key_of_another_account_is_refused(fake):
    other_key = fake.service_account("other@a-project.iam.gserviceaccount.com")
    key = {**fake.service_account(), "private_key": other_key["private_key"]}
    with pytest.raises(RefreshError, match="Invalid JWT Signature"):
        sign_in(fake, key)


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
def test_an_assertion_must_be_current_and_meant_for_this_server(fake, claims, reason):
    key = fake.service_account()
    now = int(time.time())
    payload = {"iss": IMPORTER, "aud": key["token_uri"], "iat": now, "exp": now + 3600}
    signer = RSASigner.from_service_account_info(key)
    assertion = jwt.encode(signer, {**payload, "scope": READ_ONLY, **claims}).decode()
    kind = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    body = f"grant_type={kind}&assertion={assertion}"
    status, content = httplib2.Http().request(key["token_uri"], "POST", body)
    assert (status.status, reason in content.decode()) == (400, True)


def test_a_revoked_key_is_refused(fake):
    credentials = sign_in(fake)
    fake.people.revoke(IMPORTER)
    assert account_response(fake, credentials)[0].status == 401
    with pytest.raises(RefreshError, match="invalid_grant"):
        sign_in(fake)


def test_an_expired_access_token_is_replaced(fake):
    api = client(fake)
    api.about().get(fields="user").execute()
    fake.people.expire_access()
    api.about().get(fields="user").execute()
    statuses = [request.status for request in fake.requests if request.path != "/token"]
    assert statuses == [200, 401, 200]


def test_a_scope_without_read_access_is_insufficient(fake):
    api = client(fake, scope="https://www.googleapis.com/auth/drive.file")
    assert error(api.about().get(fields="user")) == (403, "insufficientPermissions")


def user_credentials(fake, **other):
    stored = fake.people.authorized_user() | other
    del stored["type"]
    return credentials.Credentials(None, **stored)


def test_a_stored_user_token_is_refreshed_until_revoked(fake):
    credentials = user_credentials(fake)
    credentials.refresh(Request(httplib2.Http()))
    assert PERSON.encode() in account_response(fake, credentials)[1]
    fake.people.revoke(PERSON)
    with pytest.raises(RefreshError, match="expired or revoked"):
        credentials.refresh(Request(httplib2.Http()))


def test_a_stored_token_needs_its_client(fake):
    credentials = user_credentials(fake, client_secret="another")
    with pytest.raises(RefreshError, match="invalid_client"):
        credentials.refresh(Request(httplib2.Http()))


def request_consent(fake, flow):
    """The URL to which the browser is redirected."""
    url, _ = flow.authorization_url(access_type="offline", prompt="consent")
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=5)
    connection.request("GET", f"{address.path}?{address.query}")
    answer = connection.getresponse()
    connection.close()
    assert answer.status == 302
    return answer.headers["Location"]


def test_a_person_signs_in_with_a_browser(fake):
    flow = InstalledAppFlow.from_client_config(
        fake.people.client_secrets(), [READ_ONLY], redirect_uri=HOME
    )
    redirect = request_consent(fake, flow)
    flow.fetch_token(authorization_response=redirect)
    assert flow.credentials.refresh_token
    assert flow.credentials.client_id == CLIENT["client_id"]
    assert PERSON.encode() in account_response(fake, flow.credentials)[1]
    second = InstalledAppFlow.from_client_config(
        fake.people.client_secrets(), [READ_ONLY], redirect_uri=HOME
    )
    with pytest.raises(Exception, match="invalid_grant"):
        second.fetch_token(code=parse_qs(urlsplit(redirect).query)["code"][0])


def test_a_person_can_decline(fake):
    fake.people.consents = False
    flow = InstalledAppFlow.from_client_config(
        fake.people.client_secrets(), [READ_ONLY], redirect_uri=HOME
    )
    query = parse_qs(urlsplit(request_consent(fake, flow)).query)
    assert query["error"] == ["access_denied"]
