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


def test_the_connection_returned_last_is_reused_so_that_the_others_cache_little(tmp_path):
    engine = engine_of(f"sqlite:///{tmp_path / 'ledger.db'}")
    with ExitStack() as stack:
        connections = [stack.enter_context(engine.connect()) for _ in range(3)]
        latest = connections[0].connection.dbapi_connection  # closed last
    for _ in range(3):
        with engine.connect() as connection:
            assert connection.connection.dbapi_connection is latest
