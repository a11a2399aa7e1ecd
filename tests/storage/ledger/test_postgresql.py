"""What only the ledger on PostgreSQL does; the tests of the stores run on it, too."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, inspect, make_url, select, text

from domain import ImportKind, ImportState, Principal
from domain.errors import (
    BusyError,
    ConfigError,
    DamagedLedgerError,
    StorageError,
    StorageUnavailableError,
)
from storage.ledger import postgresql
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import HEAD, check_ledger, ledger_location, open_database
from storage.ledger.import_leases import ImportLeases, Workers
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.ledger_tables import ImportRow, SourceRow
from storage.ledger.source_store import Sources
from tests.fakes import clock
from tests.postgresql.ledgers import LEDGERS, open_ledger
from tests.postgresql.server import PASSWORD, server
from tests.storage.test_migrations import differences

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("on_postgresql")]

ROOT = Path(__file__).parents[3]
ANNA = Principal("anna")


@pytest.fixture
def url(tmp_path):
    return LEDGERS.url(tmp_path)


@pytest.fixture
def engine(url):
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    yield engine
    engine.dispose()


@pytest.fixture
def empty(postgresql_server):
    """The address of a new, empty database."""
    postgresql_server.execute("CREATE DATABASE empty")
    yield postgresql_server.url("empty")
    postgresql_server.execute("DROP DATABASE empty WITH (FORCE)")


def message_of(tmp_path, url, error=StorageError):
    """The message with which a ledger can't be opened."""
    with pytest.raises(error) as caught:
        open_database(tmp_path / "data", url)
    message = str(caught.value)
    assert PASSWORD not in message
    assert "\n" not in message
    return message


def test_a_new_database_gets_the_tables_of_the_code(tmp_path, empty):
    open_database(tmp_path, empty).close()
    engine = create_engine(make_url(empty).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        assert differences(connection) == []
    engine.dispose()


def test_texts_have_the_order_of_sqlite_and_integers_its_size(engine):
    inspector = inspect(engine)
    columns = [
        (table, column["name"], column["type"])
        for table in inspector.get_table_names()
        if table != "alembic_version"
        for column in inspector.get_columns(table)
    ]
    texts = [one for one in columns if str(one[2]).startswith(("VARCHAR", "TEXT"))]
    assert len(texts) > 100
    assert [one for one in texts if one[2].collation != "C"] == []
    assert [one for one in columns if str(one[2]) == "INTEGER"] == []


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_both_forms_of_the_address_are_accepted(tmp_path, url, scheme):
    address = make_url(url).set(drivername=scheme).render_as_string(hide_password=False)
    sources = Sources(open_database(tmp_path, address))
    source = sources.ensure("directory", "/docs", name="docs")
    assert Sources(open_ledger(tmp_path)).list() == [source]


def test_another_driver_is_refused(tmp_path):
    message = message_of(tmp_path, "postgresql+psycopg2://footnote@localhost/x", ConfigError)
    assert "FOOTNOTE_DATABASE_URL must be a URL of PostgreSQL (postgresql://" in message


def test_the_default_ledger_does_not_load_the_driver(tmp_path):
    code = (
        "import sys; from pathlib import Path; from storage.ledger.database import open_database;"
        f"open_database(Path({str(tmp_path / 'new')!r})); print('psycopg' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout.strip() == "False", result.stderr


def test_a_missing_driver_is_named(tmp_path, url, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install psycopg[binary]" in message_of(tmp_path, url, ConfigError)


def test_an_unreachable_server_is_reported_and_may_be_back_later(tmp_path):
    url = "postgresql://footnote:secret@127.0.0.1:9/footnote"
    message = message_of(tmp_path, url, StorageUnavailableError)
    assert "postgresql://footnote:***@127.0.0.1:9/footnote can't be used" in message
    assert "check that the PostgreSQL server is running" in message
    assert "FOOTNOTE_DATABASE_URL" in message
    assert "secret" not in message


def test_a_wrong_password_is_reported(tmp_path, postgresql_server):
    message = message_of(tmp_path, postgresql_server.url("postgres", password="wrong"))
    assert "correct the user and the password in FOOTNOTE_DATABASE_URL" in message
    assert "wrong" not in message


def test_a_missing_database_is_reported(tmp_path, postgresql_server):
    message = message_of(tmp_path, postgresql_server.url("nothing"))
    assert "create the database, or correct its name in FOOTNOTE_DATABASE_URL" in message


def test_a_database_of_another_encoding_is_refused(tmp_path, postgresql_server):
    postgresql_server.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    )
    message = message_of(tmp_path, postgresql_server.url("latin"))
    assert "encoding LATIN1" in message
    assert "encoding UTF8" in message
    postgresql_server.execute("DROP DATABASE latin WITH (FORCE)")


def test_a_database_that_accepts_no_writes_is_refused(tmp_path, empty, postgresql_server):
    postgresql_server.execute("ALTER DATABASE empty SET default_transaction_read_only = on")
    assert "a server that accepts writes" in message_of(tmp_path, empty)


def test_an_older_server_is_refused(tmp_path, url, monkeypatch):
    monkeypatch.setattr(postgresql, "_OLDEST", 99)
    assert "upgrade the server to PostgreSQL 99 or newer" in message_of(tmp_path, url)


def test_a_ledger_of_a_newer_version_is_refused(tmp_path, url, engine):
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999', oldest = '9999'"))
    assert "was written by a newer Footnote (version 9999)" in message_of(tmp_path, url)


def test_missing_privileges_are_reported(tmp_path, empty, postgresql_server):
    postgresql_server.execute("CREATE ROLE reader LOGIN PASSWORD 'reader'")
    address = postgresql_server.url("empty", "reader", "reader")
    message = message_of(tmp_path, address)
    assert "permission denied for schema public" in message
    assert "the owner of the database" in message


def test_a_server_without_free_connections_is_reported(tmp_path, empty, postgresql_server):
    postgresql_server.execute("ALTER DATABASE empty CONNECTION LIMIT 0")
    postgresql_server.execute("CREATE ROLE anyone LOGIN PASSWORD 'anyone'")
    address = postgresql_server.url("empty", "anyone", "anyone")
    message = message_of(tmp_path, address, StorageUnavailableError)
    assert "raise max_connections of the server" in message


def test_an_index_of_a_lost_ledger_is_refused(tmp_path, empty):
    (tmp_path / "data" / "indexes" / "x").mkdir(parents=True)
    (tmp_path / "data" / "indexes" / "x" / "file").touch()
    assert "does not contain Footnote's tables" in message_of(tmp_path, empty)


def test_writers_on_several_machines_take_turns(tmp_path, url):
    def machine(name):
        return open_database(tmp_path / name, url)

    with machine("a").write() as session:
        session.execute(text("CREATE TABLE counter (n INTEGER)"))
        session.execute(text("INSERT INTO counter VALUES (0)"))

    def count(database):
        for _ in range(20):
            with database.write() as session:
                n = session.scalar(text("SELECT n FROM counter"))
                session.execute(text("UPDATE counter SET n = :n"), {"n": n + 1})

    threads = [threading.Thread(target=count, args=[machine(name)]) for name in "aabc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with machine("a").read() as session:
        assert session.scalar(text("SELECT n FROM counter")) == 80


def test_a_writer_that_waits_too_long_gets_a_busy_error(tmp_path, url):
    impatient = Sources(open_database(tmp_path, f"{url}?options=-c%20lock_timeout=50ms"))
    with open_ledger(tmp_path).write() as session:
        session.execute(text("SELECT 1"))
        with pytest.raises(BusyError, match="another process"):
            impatient.ensure("directory", "/docs", name="docs")


def test_reads_show_one_moment_and_change_nothing(tmp_path):
    database = open_ledger(tmp_path)
    with database.read() as session:
        before = session.scalar(text("SELECT count(*) FROM sources"))
        Sources(open_ledger(tmp_path)).ensure("directory", "/docs", name="docs")
        assert session.scalar(text("SELECT count(*) FROM sources")) == before
    with pytest.raises(StorageError, match="read-only"), database.read() as session:
        session.execute(text("DELETE FROM sources"))
    assert len(Sources(database).list()) == 1


@pytest.mark.parametrize(("synced", "level"), [(True, "on"), (False, "off")])
def test_writes_wait_for_the_disk_unless_turned_off(tmp_path, synced, level):
    database = open_ledger(tmp_path)
    for _ in range(2):  # the connection is reused
        with database.write(synced=not synced) as session:
            session.execute(text("SELECT 1"))
        with database.write(synced=synced) as session:
            assert session.scalar(text("SHOW synchronous_commit")) == level


def test_connections_have_a_name_and_limits(tmp_path):
    with open_ledger(tmp_path).write() as session:
        values = [
            session.scalar(text(f"SHOW {name}"))
            for name in ("application_name", "statement_timeout", "lock_timeout")
        ]
    assert values == ["footnote", "5min", "30s"]


def test_a_statement_that_takes_too_long_is_ended(tmp_path, url):
    database = open_database(tmp_path, f"{url}?options=-c%20statement_timeout=50ms")
    message = "statement timeout.*less busy"
    with pytest.raises(StorageError, match=message), database.read() as session:
        session.execute(text("SELECT pg_sleep(9)"))


def test_a_reader_in_a_deadlock_with_a_migration_may_try_again(tmp_path, url, engine):
    sources = select(func.count()).select_from(SourceRow)
    imports = select(func.count()).select_from(ImportRow)
    ledger, migrating = open_database(tmp_path, url), engine.connect()
    migrating.execute(text("SET deadlock_timeout = '1min'"))  # so the reader is the victim
    migrating.execute(text("LOCK TABLE imports"))

    def read():
        with ledger.read() as session:
            session.scalar(sources)
            lock.start()
            session.scalar(imports)

    lock = threading.Thread(target=migrating.execute, args=[text("LOCK TABLE sources")])
    with pytest.raises(StorageUnavailableError, match=r"deadlock.*try again"):
        read()
    lock.join()
    migrating.close()
    ledger.close()


def test_a_lost_connection_is_replaced_at_the_next_call(tmp_path, postgresql_server):
    database = open_ledger(tmp_path)
    sources = Sources(database)
    sources.ensure("directory", "/docs", name="docs")
    others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname LIKE 'ledger_%'"
    postgresql_server.execute(f"SELECT pg_terminate_backend(pid) {others}")
    assert len(sources.list()) == 1

    def lose():
        with database.read() as session:
            session.execute(text("SELECT 1"))
            postgresql_server.execute(f"SELECT pg_terminate_backend(pid) {others}")
            session.execute(text("SELECT 1"))

    with pytest.raises(StorageUnavailableError, match="try again"):
        lose()
    assert len(sources.list()) == 1


def test_the_check_finds_nothing_in_an_intact_ledger(tmp_path, url, empty):
    conversation = Conversations(open_ledger(tmp_path)).create(ANNA, "휴가")
    assert conversation.title == "휴가"
    check_ledger(tmp_path, url)
    check_ledger(tmp_path, empty)


def test_the_check_finds_missing_columns(tmp_path, url, engine):
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE sources DROP COLUMN paused"))
    with pytest.raises(DamagedLedgerError) as caught:
        check_ledger(tmp_path, url)
    assert caught.value.findings == ("the table sources has no column paused",)
    with pytest.raises(DamagedLedgerError, match="restore the database from a backup"):
        Sources(open_ledger(tmp_path)).list()


def test_the_check_of_an_unreachable_server_is_not_damage(tmp_path):
    with pytest.raises(StorageUnavailableError):
        check_ledger(tmp_path, "postgresql://footnote@127.0.0.1:9/footnote")


def test_errors_do_not_quote_stored_values(tmp_path):
    database = open_ledger(tmp_path)
    rows = "INSERT INTO counters VALUES ('a private name', 1), ('a private name', 1)"
    with pytest.raises(StorageError) as caught, database.write() as session:
        session.execute(text(rows))
    assert "duplicate key" in str(caught.value)
    assert "private" not in str(caught.value)


def test_the_password_is_not_part_of_the_location(tmp_path, url):
    location = ledger_location(tmp_path, f"{url}?sslpassword=hidden")
    assert location.is_on_server
    assert PASSWORD not in location.name
    assert "hidden" not in location.name


def test_a_migration_happens_once_if_several_machines_start_together(
    tmp_path, empty, postgresql_server
):
    problems = []

    def start(number):
        try:
            Sources(open_database(tmp_path / str(number), empty)).list()
        except StorageError as error:
            problems.append(error)

    threads = [threading.Thread(target=start, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    [version] = postgresql_server.execute("SELECT version_num FROM alembic_version", "empty")
    assert version == (HEAD,)


def test_a_server_that_was_stopped_is_used_again_when_it_is_back(tmp_path):
    with server() as own:
        database = open_database(tmp_path, own.url("postgres"))
        sources = Sources(database)
        own.stop()
        with pytest.raises(StorageUnavailableError, match="PostgreSQL server is running"):
            sources.list()
        own.start()
        assert sources.list() == []
        database.close()


def test_a_server_that_is_in_recovery_since_it_was_stopped_is_reported(tmp_path):
    with server() as own:
        sources = Sources(open_database(tmp_path, own.url("postgres")))
        own.stop()
        (own.folder / "data" / "standby.signal").touch()
        own.start()
        assert sources.list() == []
        with pytest.raises(StorageError, match=r"recovery.*must name a server that accepts writes"):
            sources.ensure("directory", "/docs", name="docs")


@pytest.mark.parametrize("ahead", [timedelta(days=365), timedelta(days=-1)])
def test_leases_are_compared_by_the_time_of_the_server(tmp_path, monkeypatch, ahead):
    database = open_ledger(tmp_path)
    source = Sources(database).ensure("directory", "/docs", name="docs")
    run = ImportRuns(database).enqueue(source.id, "anna", ImportKind.IMPORT, {})
    Workers(database).renew("elsewhere/1/a")
    ImportLeases(database).claim("elsewhere/1/a")
    clock.set_forward(monkeypatch, ahead)
    assert Workers(database).any_alive()
    assert ImportLeases(database).interrupt_dead() == 0
    assert ImportRuns(database).get(run.id).state is ImportState.RUNNING

    ImportLeases(database).renew(run.id, "elsewhere/1/a")
    clock.set_forward(monkeypatch, timedelta(0))
    with database.read() as session:
        row = session.get(ImportRow, run.id)
        assert timedelta(0) < row.lease_until - datetime.now(UTC) < timedelta(minutes=1)
