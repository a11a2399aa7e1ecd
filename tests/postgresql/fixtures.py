"""Fixtures with a real PostgreSQL; tests that start it are marked with `postgresql`."""

import os

import pytest

from tests.postgresql.ledgers import LEDGERS

EVERYWHERE = os.environ.get("TEST_LEDGER") == "postgresql"
"""Whether all tests use PostgreSQL whose settings come from `make_settings`, or `open_ledger`."""


@pytest.fixture(scope="session")
def postgresql_server():
    """One server for the tests of a process: use databases of your own."""
    from tests.postgresql.server import missing_programs, server

    if problem := missing_programs():
        pytest.skip(problem)
    with server() as running:
        yield running


@pytest.fixture(scope="session")
def _template_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("template")


@pytest.fixture
def on_postgresql(postgresql_server, _template_folder):
    """Ledgers are databases of PostgreSQL in this test."""
    LEDGERS.use(postgresql_server, _template_folder)
    yield
    LEDGERS.leave()


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
)
def ledger_kind(request):
    """Repeats the tests of a module with each kind of ledger.

    Fixtures of modules that open a ledger must use it. Ledgers are opened with `open_ledger`,
    `Library`, or `make_settings`.
    """
    if request.param == "sqlite":
        yield request.param
        return
    server = request.getfixturevalue("postgresql_server")
    LEDGERS.use(server, request.getfixturevalue("_template_folder"))
    yield request.param
    LEDGERS.leave()


only_sqlite = pytest.mark.parametrize("ledger_kind", ["sqlite"], indirect=True)
"""For tests of such a module that take too long with new databases, or look into the file."""


@pytest.fixture(autouse=True)
def _own_ledgers():
    """Delete the databases of a test after it, with their connections."""
    before = LEDGERS.known()
    yield
    LEDGERS.keep(before)


if EVERYWHERE:

    @pytest.fixture(autouse=True)
    def _everywhere(on_postgresql):
        pass
