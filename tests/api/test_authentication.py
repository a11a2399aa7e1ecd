import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import ApiScope
from tests.api.conftest import bearer

LIBRARY = "/api/v1/library"


@pytest.fixture
def services(build_services):
    return build_services()


@pytest.fixture
def client(services):
    return TestClient(make_app(services))


@pytest.mark.parametrize("name", ["health", "ready", "openapi.json"])
def test_a_process_that_lives_needs_no_key_to_say_so(client, name):
    assert client.get(f"/api/v1/{name}").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer fn-wrong", b"Bearer \xff\xfe"],
)
def test_without_a_key_that_is_known_nothing_is_answered(client, authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = client.get(LIBRARY, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["retryable"] is False


def test_a_key_of_the_right_scope_opens(client, services):
    answer = client.get(LIBRARY, headers=bearer(services, ApiScope.READ))
    assert answer.json()["documents"] == 0


def test_the_scheme_is_read_in_any_case(client, services):
    secret = bearer(services)["Authorization"].removeprefix("Bearer ")
    assert client.get(LIBRARY, headers={"Authorization": f"bearer {secret}"}).status_code == 200


def test_a_key_of_another_scope_is_told_which_it_lacks(client, services):
    answer = client.get(LIBRARY, headers=bearer(services, ApiScope.ASK, ApiScope.MANAGE))
    assert answer.status_code == 403
    assert "`read`" in answer.json()["detail"]


def test_a_key_that_is_revoked_opens_nothing_more(client, services):
    headers = bearer(services)
    assert client.get(LIBRARY, headers=headers).status_code == 200
    [key] = services.api_keys.list()
    services.api_keys.revoke(key.id)
    assert client.get(LIBRARY, headers=headers).status_code == 401


def test_a_key_is_no_cookie_and_no_parameter(client, services):
    secret = bearer(services)["Authorization"].removeprefix("Bearer ")
    client.cookies.set("Authorization", f"Bearer {secret}")
    assert client.get(LIBRARY, params={"key": secret}).status_code == 401


def test_when_a_key_was_used_is_kept(client, services):
    headers = bearer(services)
    assert services.api_keys.list()[0].used_at is None
    client.get(LIBRARY, headers=headers)
    assert services.api_keys.list()[0].used_at is not None
