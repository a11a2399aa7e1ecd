"""OpenAI's own client for the real app on a loopback server."""

from contextlib import ExitStack

import openai
import pytest

from tests.api.conftest import bearer
from tests.api.serving import serving

WAIT_S = 30


@pytest.fixture
def build_client(imported):
    """Builds OpenAI's client for a library that contains the handbook."""
    with ExitStack() as running:

        def build(*scopes, key="", retries=0, **settings):
            services = imported(**settings)
            address = running.enter_context(serving(services))
            secret = key or bearer(services, *scopes)["Authorization"].removeprefix("Bearer ")
            client = openai.OpenAI(
                base_url=f"{address}/v1", api_key=secret, max_retries=retries, timeout=WAIT_S
            )
            client.services = services
            return running.enter_context(client)

        yield build
