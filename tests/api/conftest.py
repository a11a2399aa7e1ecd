"""A client of the API, with the real app and the real services."""

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ApiScope


def bearer(services, *scopes, principal=LOCAL_USER):
    """The headers with a new key that has these scopes, or all scopes if none are passed."""
    created = services.api_keys.create(LOCAL_USER, principal, "test", scopes or tuple(ApiScope))
    return {"Authorization": f"Bearer {created.secret}"}


@pytest.fixture
def build_client(imported):
    """Builds a client, with a key that has all scopes, for a library that contains the handbook."""

    def build(*, headers=None, **settings):
        services = imported(**settings)
        client = TestClient(make_app(services), headers=headers or bearer(services))
        client.services = services
        return client

    return build
