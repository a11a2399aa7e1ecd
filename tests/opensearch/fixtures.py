"""Fixtures with real OpenSearch; mark the tests that use them with `pytest.mark.opensearch`."""

import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.opensearch.programs import missing_programs

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from tests.opensearch.cluster import Cluster


@pytest.fixture(scope="session")
def opensearch_programs() -> None:
    """Skips where OpenSearch cannot be fetched or started."""
    if os.name == "nt":
        pytest.skip("the OpenSearch of the tests needs file locks and process groups of POSIX")
    if problem := missing_programs():
        pytest.skip(problem)


@pytest.fixture(scope="session")
def opensearch(opensearch_programs: None) -> Iterator["Cluster"]:
    """One node without the security plugin, shared: use index names of your own."""
    from tests.opensearch.cluster import cluster

    with cluster() as running:
        yield running


@pytest.fixture(scope="session")
def secure_opensearch(opensearch_programs: None) -> Iterator["Cluster"]:
    """One node with HTTPS and the users `admin` and `reader`, shared in the same way."""
    from tests.opensearch.cluster import cluster

    with cluster(security=True) as running:
        yield running


@pytest.fixture(scope="session")
def os_client(opensearch: "Cluster") -> "OpenSearch":
    """The product's client of the shared node."""
    from storage.opensearch.connection import SearchServer, connect

    return connect(SearchServer((opensearch.url,)))


@pytest.fixture
def index_name(os_client: "OpenSearch") -> Iterator[str]:
    """The name of an index of this test only, which is deleted after it."""
    name = f"test-{uuid.uuid4().hex}"
    yield name
    os_client.indices.delete(index=name, ignore_unavailable=True)
