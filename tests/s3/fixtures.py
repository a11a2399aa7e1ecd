"""Fixtures with a real S3-compatible server; tests that start it are marked with `s3`."""

from itertools import count

import pytest

_numbers = count(1)


@pytest.fixture(scope="session")
def s3_server():
    """One server for the tests of a process: use buckets of your own."""
    from tests.s3.server import program, server

    if program() is None:
        pytest.skip("the S3 server is missing (make s3, with Go 1.25)")
    with server() as running:
        yield running


@pytest.fixture
def bucket_url(s3_server):
    """The address of a folder in a new bucket."""
    name = f"bucket-{next(_numbers)}"
    s3_server.client().create_bucket(Bucket=name)
    return f"s3://{name}/footnote/main"


@pytest.fixture
def s3_proxy(s3_server):
    """A proxy before the server, whose requests can fail."""
    from tests.s3.proxy import proxy

    with proxy(s3_server) as running:
        yield running
