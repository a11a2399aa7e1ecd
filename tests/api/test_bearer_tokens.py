"""Bearer tokens of an OpenID provider, with the real app and a provider on loopback."""

import time
from datetime import datetime, timedelta

import httpx2
import openai
import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ApiScope, Principal, Role
from services.sign_in import provider_keys
from tests.api.conftest import bearer
from tests.api.serving import serving
from tests.fakes.mcp_clients import connected, over_http, serving_mcp
from tests.fakes.token_provider import rsa_key, serving_provider, settings_of

API = "/api/v1"


@pytest.fixture
def provider():
    with serving_provider() as provider:
        yield provider


@pytest.fixture
def services(provider, imported):
    return imported(**settings_of(provider))


@pytest.fixture
def client(services):
    return TestClient(make_app(services))


def authorization(token):
    return {"Authorization": f"Bearer {token}"}


def get(client, token, path="library"):
    return client.get(f"{API}/{path}", headers=authorization(token))


def set_role(services, role):
    [account] = services.accounts.list(LOCAL_USER)
    services.accounts.set_role(LOCAL_USER, account.id, role)
    return account.id


def test_a_person_reads_and_asks_with_a_token(client, provider):
    assert get(client, provider.token()).json()["documents"] > 0
    body = {"question": "How many days of annual leave do new employees get?"}
    answer = client.post(f"{API}/ask", headers=authorization(provider.token()), json=body)
    assert answer.status_code == 200
    [conversation] = get(client, provider.token(), "conversations").json()["items"]
    assert conversation["id"] == answer.json()["conversation_id"]
    assert get(client, provider.token(sub="ben-1"), "conversations").json()["items"] == []


def test_the_groups_in_a_token_decide_what_is_readable(client, services, provider):
    [status] = services.sources.list(LOCAL_USER)
    services.permissions.set_readers(LOCAL_USER, status.source.id, ["group:hr"])
    assert get(client, provider.token(groups=["hr"])).json()["documents"] > 0
    assert get(client, provider.token(groups=["it"])).json()["documents"] == 0
    assert get(client, provider.token()).json()["documents"] == 0


def test_the_role_of_a_person_decides_what_they_may_change(client, services, provider):
    [status] = services.sources.list(LOCAL_USER)
    token, path = provider.token(), f"{API}/sources/{status.source.id}/readers"
    assert get(client, token).status_code == 200
    refused = get(client, token, f"sources/{status.source.id}/readers")
    assert refused.status_code == 403
    assert "needs the role editor, and you have the role reader" in refused.json()["detail"]
    account = set_role(services, Role.EDITOR)
    assert client.get(path, headers=authorization(token)).status_code == 200
    body = {"readers": [f"user:{account}"]}
    assert client.put(path, headers=authorization(token), json=body).status_code == 403
    set_role(services, Role.ADMIN)
    assert client.put(path, headers=authorization(token), json=body).json() == body
    assert get(client, token).json()["documents"] > 0
    assert get(client, provider.token(sub="ben-1")).json()["documents"] == 0


def test_an_administrator_lists_and_revokes_keys(client, services, provider):
    owner, lifetime = Principal("anna", frozenset({"hr", "it"})), timedelta(days=30)
    created = services.api_keys.create(LOCAL_USER, owner, "Bot", [ApiScope.READ], lifetime)
    token = provider.token()
    assert get(client, token, "api-keys").status_code == 403
    set_role(services, Role.ADMIN)
    page = get(client, token, "api-keys").json()
    assert page["total"] == 1
    [key] = page["items"]
    assert (key["id"], key["name"], key["user_id"]) == (created.key.id, "Bot", "anna")
    assert (key["groups"], key["scopes"]) == (["hr", "it"], ["read"])
    assert datetime.fromisoformat(key["expires_at"]) == created.key.expires_at
    assert created.secret not in str(page)
    path, headers = f"{API}/api-keys/{key['id']}", authorization(token)
    assert client.delete(path, headers=headers).status_code == 204
    assert get(client, created.secret).status_code == 401
    assert client.delete(f"{API}/api-keys/none", headers=headers).status_code == 404


def test_a_disabled_person_is_refused_at_once(client, services, provider):
    token = provider.token()
    assert get(client, token).status_code == 200
    [account] = services.accounts.list(LOCAL_USER)
    services.accounts.disable(LOCAL_USER, account.id)
    answer = get(client, token)
    assert (answer.status_code, "account is disabled" in answer.json()["detail"]) == (401, True)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": 1_700_000_000}, "has expired"),
        ({"aud": "footnote"}, "for another program"),
        ({"iss": "https://evil.example.com"}, "another sign-in service"),
        ({"iat": 9_999_999_999}, "correct the clock"),
        ({"sub": None}, "lacks the claim sub"),
        ({"key": rsa_key("evil")}, "not signed by the sign-in service"),
    ],
)
def test_an_invalid_token_is_refused_with_one_sentence(client, services, provider, claims, reason):
    answer = get(client, provider.token(**claims))
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert reason in answer.json()["detail"]
    assert services.accounts.list(LOCAL_USER) == []


def test_a_huge_token_is_refused(client, provider):
    answer = get(client, "x." * 20_000)
    assert (answer.status_code, provider.requests) == (401, [])
    assert "too long" in answer.json()["detail"]


def test_tokens_cannot_be_checked_while_the_provider_is_down_but_keys_work(
    client, services, provider
):
    provider.status = 503
    answer = get(client, provider.token())
    assert answer.status_code == 503
    assert answer.json()["retryable"]
    assert answer.headers["retry-after"]
    assert "API keys still work" in answer.json()["detail"]
    assert client.get(f"{API}/library", headers=bearer(services)).status_code == 200


def test_keys_work_while_the_provider_does_not_answer(services, provider, monkeypatch):
    monkeypatch.setattr(provider_keys, "_TIMEOUT_S", 30)
    provider.is_slow = True
    headers = authorization(provider.token())
    with serving(services) as address, httpx2.Client(base_url=f"{address}{API}") as client:
        with pytest.raises(httpx2.ReadTimeout):
            client.get("/library", headers=headers, timeout=3)
        assert len(provider.requests) == 1  # and it has not been answered yet
        answer = client.get("/library", headers=bearer(services), timeout=30)
        assert answer.status_code == 200
        provider.end.set()


def test_the_limit_of_requests_is_that_of_the_person(provider, build_services):
    services = build_services(api_requests_per_minute=2, **settings_of(provider))
    client = TestClient(make_app(services))
    statuses = [get(client, provider.token(jti=str(n))).status_code for n in range(3)]
    assert statuses == [200, 200, 429]
    assert get(client, provider.token(sub="ben-1")).status_code == 200


def test_openai_clients_send_tokens_as_keys(services, provider):
    with serving(services) as address:
        client = openai.OpenAI(base_url=f"{address}/v1", api_key=provider.token(), max_retries=0)
        assert list(client.models.list())
        past = int(time.time()) - 3600
        expired = client.with_options(api_key=provider.token(iat=past, exp=past + 1))
        with pytest.raises(openai.AuthenticationError, match="has expired"):
            expired.models.list()


def test_mcp_clients_send_tokens_as_keys(services, provider):
    [status] = services.sources.list(LOCAL_USER)
    services.permissions.set_readers(LOCAL_USER, status.source.id, ["group:hr"])
    with serving_mcp(services) as url:
        for group, names in (("hr", ["handbook"]), ("it", [])):
            with connected(over_http(url, provider.token(groups=[group]))) as client:
                sources = client.call("list_sources").structured_content["sources"]
                assert [one["name"] for one in sources] == names
        headers = authorization(provider.token(aud="other"))
        refused = httpx2.post(url, headers=headers, json={}, timeout=30)
        assert (refused.status_code, "another program" in refused.json()["detail"]) == (401, True)


def test_without_an_audience_tokens_are_unknown_keys(provider, build_services):
    services = build_services(**settings_of(provider) | {"oidc_api_audience": ""})
    answer = get(TestClient(make_app(services)), provider.token())
    assert answer.status_code == 401
    assert "API key is unknown" in answer.json()["detail"]
    assert provider.requests == []
