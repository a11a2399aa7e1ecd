"""A client of the API, over the true app and the true services."""

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ApiScope


def bearer(services, *scopes, principal=LOCAL_USER):
    """The headers of a new key with these scopes, all where none is named."""
    made = services.api_keys.create(principal, "test", scopes or tuple(ApiScope))
    return {"Authorization": f"Bearer {made.secret}"}


@pytest.fixture
def call(imported):
    """Builds a client with a key of every scope over a library that holds the handbook."""

    def build(*, headers=None, **settings):
        services = imported(**settings)
        client = TestClient(make_app(services), headers=headers or bearer(services))
        client.services = services
        return client

    return build
