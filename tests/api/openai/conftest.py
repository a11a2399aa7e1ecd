"""OpenAI's own client of the true app behind a true server on loopback."""

from contextlib import ExitStack

import openai
import pytest

from tests.api.conftest import bearer
from tests.api.serving import serving

WAIT_S = 30


@pytest.fixture
def client(imported):
    """Builds OpenAI's client over a library that holds the handbook."""
    with ExitStack() as running:

        def build(*scopes, key="", retries=0, **settings):
            services = imported(**settings)
            address = running.enter_context(serving(services))
            secret = key or bearer(services, *scopes)["Authorization"].removeprefix("Bearer ")
            made = openai.OpenAI(
                base_url=f"{address}/v1", api_key=secret, max_retries=retries, timeout=WAIT_S
            )
            made.services = services
            return running.enter_context(made)

        yield build
