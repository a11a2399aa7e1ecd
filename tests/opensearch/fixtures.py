"""Fixtures with real OpenSearch; mark the tests that use them with `pytest.mark.opensearch`."""

from collections.abc import Iterator

import pytest

from tests.opensearch.cluster import Cluster, cluster
from tests.opensearch.programs import missing_programs


@pytest.fixture(scope="session")
def opensearch_programs() -> None:
    """Skips if a program is missing that fetches or runs OpenSearch."""
    if problem := missing_programs():
        pytest.skip(problem)


@pytest.fixture(scope="session")
def opensearch(opensearch_programs: None) -> Iterator[Cluster]:
    """One node without the security plugin, shared: use index names of your own."""
    with cluster() as running:
        yield running


@pytest.fixture(scope="session")
def secure_opensearch(opensearch_programs: None) -> Iterator[Cluster]:
    """One node with HTTPS and the users `admin` and `reader`, shared in the same way."""
    with cluster(security=True) as running:
        yield running
