"""Messages about the target of a move name its option, and those about the ledger in use do not."""

import sqlite3
import sys
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from domain.errors import AppError
from storage.ledger import postgresql
from storage.ledger.database import open_database
from storage.ledger.ledger_location import DATABASE_URL
from storage.ledger.ledger_move import TARGET, LedgerMove
from tests.fakes.full_ledger import create_full_ledger, engine_for
from tests.postgresql.server import PASSWORD, server

UNREACHABLE = "postgresql://footnote:secret@127.0.0.1:9/footnote"
on_postgresql = pytest.mark.postgresql


@pytest.fixture
def empty(postgresql_server):
    postgresql_server.execute("CREATE DATABASE target")
    yield postgresql_server.url("target")
    postgresql_server.execute("DROP DATABASE target WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=on_postgresql)])
def old(request, tmp_path):
    """The URL of the ledger in use."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'old.db'}"
        create_full_ledger(tmp_path, url, 2)
        yield url
        return
    running = request.getfixturevalue("postgresql_server")
    running.execute("CREATE DATABASE in_use")
    create_full_ledger(tmp_path, running.url("in_use"), 2)
    yield running.url("in_use")
    running.execute("DROP DATABASE in_use WITH (FORCE)")


def begin(folder, old, new):
    with closing(LedgerMove(folder, "a" * 32, old, new)) as move:
        assert not move.is_complete()
        move.prepare()


def problem(folder, old, new):
    """The message with which a move fails."""
    with pytest.raises(AppError) as caught:
        begin(folder, old, new)
    message = str(caught.value)
    assert PASSWORD not in message
    assert "secret" not in message
    return message


def assert_names_option(message, part):
    assert part in message
    assert TARGET in message
    assert DATABASE_URL not in message
    assert "FOOTNOTE_DATA_DIR" not in message


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("mysql://db/footnote", f"{TARGET} must be a URL of PostgreSQL"),
        ("postgresql+psycopg2://db/footnote", f"{TARGET} must be a URL of PostgreSQL"),
        ("nonsense", f"{TARGET} must be a URL of PostgreSQL"),
        (UNREACHABLE, f"server is running, and that {TARGET} names it"),
    ],
)
def test_a_url_without_a_database(tmp_path, old, url, part):
    assert_names_option(problem(tmp_path, old, url), part)


def test_a_missing_driver(tmp_path, monkeypatch):
    old = f"sqlite:///{tmp_path / 'old.db'}"
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert_names_option(problem(tmp_path, old, UNREACHABLE), f"{TARGET} needs the package psycopg")


def test_a_file_that_can_not_be_created(tmp_path, old):
    message = problem(tmp_path, old, f"sqlite:///{tmp_path / 'missing' / 'new.db'}")
    assert_names_option(message, f"name another place with {TARGET}")


def test_a_file_of_another_program(tmp_path, old):
    (tmp_path / "new.db").write_text("no database " * 100)
    message = problem(tmp_path, old, f"sqlite:///{tmp_path / 'new.db'}")
    assert_names_option(message, f"move it away, or name another database with {TARGET}")


def test_a_damaged_file_in_the_data_folder(tmp_path, old):
    (tmp_path / "footnote.db").write_text("no database " * 100)
    message = problem(tmp_path, old, None)
    assert_names_option(message, f"move it away, or name another database with {TARGET}")


def test_a_file_of_a_newer_version(tmp_path, old):
    new = f"sqlite:///{tmp_path / 'new.db'}"
    open_database(tmp_path, new).close()
    with closing(sqlite3.connect(make_url(new).database)) as ledger, ledger:
        ledger.execute("UPDATE alembic_version SET version_num = '9999'")
    message = problem(tmp_path, old, new)
    assert "newer Footnote (version 9999), and this version does not" in message
    assert_names_option(message, f"name another place with {TARGET}")


@on_postgresql
class TestOnAServer:
    def test_a_wrong_password(self, tmp_path, old, postgresql_server):
        new = postgresql_server.url("postgres", password="wrong")
        message = problem(tmp_path, old, new)
        assert_names_option(message, f"correct the user and the password in {TARGET}")

    def test_a_missing_database(self, tmp_path, old, postgresql_server):
        message = problem(tmp_path, old, postgresql_server.url("nowhere"))
        assert_names_option(message, f"create the database, or correct its name in {TARGET}")

    def test_another_encoding(self, tmp_path, old, postgresql_server):
        postgresql_server.execute(
            "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        )
        message = problem(tmp_path, old, postgresql_server.url("latin"))
        postgresql_server.execute("DROP DATABASE latin WITH (FORCE)")
        assert_names_option(message, f"with the encoding UTF8, and name it in {TARGET}")

    def test_a_server_that_accepts_no_writes(self, tmp_path, old, empty, postgresql_server):
        postgresql_server.execute("ALTER DATABASE target SET default_transaction_read_only = on")
        message = problem(tmp_path, old, empty)
        assert_names_option(message, f"{TARGET} must name a server that accepts writes")

    def test_a_server_in_recovery(self, tmp_path, old):
        with server() as standby:
            standby.stop()
            (standby.folder / "data" / "standby.signal").touch()
            standby.start()
            message = problem(tmp_path, old, standby.url("postgres"))
        assert_names_option(message, f"{TARGET} must name a server that accepts writes")

    def test_missing_privileges(self, tmp_path, old, empty, guest):
        message = problem(tmp_path, old, guest)
        assert_names_option(message, f"make the user in {TARGET} the owner of the database")

    def test_a_newer_version(self, tmp_path, old, empty):
        open_database(tmp_path, empty).close()
        engine = engine_for(tmp_path, empty)
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        engine.dispose()
        assert_names_option(problem(tmp_path, old, empty), f"name another place with {TARGET}")

    def test_damaged_tables(self, tmp_path, old, empty):
        open_database(tmp_path, empty).close()
        engine = engine_for(tmp_path, empty)
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE alembic_version"))
            connection.execute(text("CREATE TABLE alembic_version (other TEXT)"))
        engine.dispose()
        message = problem(tmp_path, old, empty)
        assert_names_option(message, f"move it away, or name another database with {TARGET}")

    def test_problems_of_the_server_name_neither(
        self, tmp_path, old, empty, guest, postgresql_server, monkeypatch
    ):
        with monkeypatch.context() as patched:
            patched.setattr(postgresql, "_OLDEST", 99)
            message = problem(tmp_path, old, empty)
        assert "upgrade the server to PostgreSQL 99 or newer" in message
        assert DATABASE_URL not in message
        postgresql_server.execute("ALTER DATABASE target CONNECTION LIMIT 0")
        message = problem(tmp_path, old, guest)
        assert "raise max_connections of the server" in message
        assert DATABASE_URL not in message

    @pytest.fixture
    def guest(self, empty, postgresql_server):
        """The URL with a user without privileges."""
        postgresql_server.execute(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
        yield make_url(empty).set(username="guest").render_as_string(hide_password=False)
        postgresql_server.execute("DROP ROLE guest")


def test_problems_of_the_ledger_in_use_name_its_setting(tmp_path):
    new = f"sqlite:///{tmp_path / 'new.db'}"
    for url in ("nonsense", UNREACHABLE):
        message = problem(tmp_path, url, new)
        assert DATABASE_URL in message
        assert TARGET not in message
