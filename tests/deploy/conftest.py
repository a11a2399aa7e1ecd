import pytest


@pytest.fixture
def database(postgresql_server, index_name):
    """The name of an empty PostgreSQL database."""
    name = index_name.replace("-", "_")
    postgresql_server.execute(f"CREATE DATABASE {name}")
    yield name
    postgresql_server.execute(f"DROP DATABASE {name} WITH (FORCE)")
