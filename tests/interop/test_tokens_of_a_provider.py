"""Access tokens of a certified OpenID provider, sent to the API."""

import httpx
import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER
from tests.browser.openid_provider import CLIENT_ID, CLIENT_SECRET, openid_provider

pytestmark = pytest.mark.slow

AUDIENCE = "https://docs.example.com/api"
LIBRARY = "/api/v1/library"


@pytest.fixture
def provider(tmp_path):
    people = {CLIENT_ID: {"groups": ["hr"]}}
    with openid_provider(
        tmp_path, "http://localhost:8501", api=AUDIENCE, people=people
    ) as provider:
        yield provider


def access_token(provider):
    """A token that the client itself gets, without a person (client credentials)."""
    address = httpx.get(f"{provider.issuer}/.well-known/openid-configuration").json()
    response = httpx.post(
        address["token_endpoint"],
        auth=(CLIENT_ID, CLIENT_SECRET),
        data={"grant_type": "client_credentials"},
    )
    return response.json()["access_token"]


def client_of(imported, provider, audience=AUDIENCE):
    settings = {
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret": CLIENT_SECRET,
        "oidc_api_audience": audience,
        "public_url": provider.public_url,
    }
    services = imported(**settings)
    client = TestClient(make_app(services))
    client.services = services
    client.headers["Authorization"] = f"Bearer {access_token(provider)}"
    return client


def test_an_access_token_reads_what_its_groups_may_read(imported, provider):
    client = client_of(imported, provider)
    assert client.get(LIBRARY).json()["documents"] > 0
    [account] = client.services.accounts.list(LOCAL_USER)
    assert (account.subject, account.groups) == (CLIENT_ID, {"hr"})
    [status] = client.services.sources.list(LOCAL_USER)
    for group, is_readable in (("hr", True), ("it", False)):
        client.services.permissions.set_readers(LOCAL_USER, status.source.id, [f"group:{group}"])
        assert bool(client.get(LIBRARY).json()["documents"]) == is_readable


def test_an_access_token_for_another_audience_is_refused(imported, provider):
    answer = client_of(imported, provider, audience="https://other.example.com").get(LIBRARY)
    assert answer.status_code == 401
    assert "for another program" in answer.json()["detail"]


def test_keys_are_known_while_the_provider_does_not_answer(imported, provider):
    client = client_of(imported, provider)
    assert client.get(LIBRARY).status_code == 200
    with provider.silent():
        assert client.get(LIBRARY).status_code == 200
