"""Fake sites, of both kinds."""

import pytest

from tests.fakes.confluence import FakeConfluence


@pytest.fixture(params=["cloud", "server"])
def fake(request):
    """An empty site, as Cloud and as Server below a context path."""
    with FakeConfluence(cloud=request.param == "cloud", context="/confluence") as running:
        yield running
        assert not running.refused


@pytest.fixture
def server():
    """An empty Server."""
    with FakeConfluence(cloud=False) as running:
        yield running
        assert not running.refused
