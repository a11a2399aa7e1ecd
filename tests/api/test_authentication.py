from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ApiScope, Principal
from tests.api.conftest import bearer

LIBRARY = "/api/v1/library"


@pytest.fixture
def services(build_services):
    return build_services()


@pytest.fixture
def client(services):
    return TestClient(make_app(services))


@pytest.mark.parametrize("name", ["health", "ready", "openapi.json"])
def test_health_checks_and_the_description_require_no_key(client, name):
    assert client.get(f"/api/v1/{name}").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer fn-wrong", b"Bearer \xff\xfe"],
)
def test_a_request_without_a_valid_key_returns_401(client, authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = client.get(LIBRARY, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["retryable"] is False


def test_a_key_with_the_required_scope_is_accepted(client, services):
    answer = client.get(LIBRARY, headers=bearer(services, ApiScope.READ))
    assert answer.json()["documents"] == 0


def test_the_authentication_scheme_is_case_insensitive(client, services):
    secret = bearer(services)["Authorization"].removeprefix("Bearer ")
    assert client.get(LIBRARY, headers={"Authorization": f"bearer {secret}"}).status_code == 200


def test_the_error_for_a_missing_scope_names_the_scope(client, services):
    answer = client.get(LIBRARY, headers=bearer(services, ApiScope.ASK, ApiScope.MANAGE))
    assert answer.status_code == 403
    assert "`read`" in answer.json()["detail"]


def test_a_revoked_key_is_rejected(client, services):
    headers = bearer(services)
    assert client.get(LIBRARY, headers=headers).status_code == 200
    [key] = services.api_keys.list(LOCAL_USER)
    services.api_keys.revoke(LOCAL_USER, key.id)
    assert client.get(LIBRARY, headers=headers).status_code == 401


def test_an_expired_key_is_rejected_with_its_own_reason(client, services):
    lifetime = timedelta(microseconds=1)
    secret = services.api_keys.create(
        LOCAL_USER, LOCAL_USER, "test", [ApiScope.READ], lifetime
    ).secret
    answer = client.get(LIBRARY, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert answer.json()["detail"].startswith("This API key expired on ")


def test_the_groups_of_a_key_decide_what_it_may_read(build_client):
    client = build_client()
    [status] = client.services.sources.list(LOCAL_USER)
    client.services.permissions.set_readers(LOCAL_USER, status.source.id, ["group:hr"])
    for groups, is_readable in ((["hr", "it"], True), (["it"], False), ([], False)):
        headers = bearer(client.services, principal=Principal("anna", frozenset(groups)))
        library = client.get(LIBRARY, headers=headers).json()
        assert bool(library["documents"]) == is_readable, groups


def test_keys_in_cookies_and_parameters_are_ignored(client, services):
    secret = bearer(services)["Authorization"].removeprefix("Bearer ")
    client.cookies.set("Authorization", f"Bearer {secret}")
    assert client.get(LIBRARY, params={"key": secret}).status_code == 401


def test_the_time_of_the_last_use_of_a_key_is_stored(client, services):
    headers = bearer(services)
    assert services.api_keys.list(LOCAL_USER)[0].used_at is None
    client.get(LIBRARY, headers=headers)
    assert services.api_keys.list(LOCAL_USER)[0].used_at is not None
