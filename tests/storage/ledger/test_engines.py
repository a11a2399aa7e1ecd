"""The engine of a ledger."""

from contextlib import ExitStack

import pytest

from domain.errors import ConfigError
from storage.ledger.engines import engine_of


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
        "sqlite:///file:x?mode=memory&mode=memory&uri=true",
        "sqlite:///file::memory:?cache=shared&uri=true",
        "sqlite:///file:?uri=true",
    ],
)
def test_temporary_databases_are_refused(url):
    with pytest.raises(ConfigError, match="FOOTNOTE_DATABASE_URL must be a URL of PostgreSQL"):
        engine_of(url)


def test_few_connections_stay_open_because_each_has_a_cache(tmp_path):
    engine = engine_of(f"sqlite:///{tmp_path / 'ledger.db'}")
    with ExitStack() as stack:
        for _ in range(15):
            stack.enter_context(engine.connect())
    assert engine.pool.checkedin() == 2


def test_the_connection_returned_last_is_reused_so_that_the_others_cache_little(tmp_path):
    engine = engine_of(f"sqlite:///{tmp_path / 'ledger.db'}")
    with engine.connect() as connection, engine.connect():
        latest = connection.connection.dbapi_connection  # closed last
    for _ in range(3):
        with engine.connect() as connection:
            assert connection.connection.dbapi_connection is latest
