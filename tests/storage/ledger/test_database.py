import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from domain.errors import BusyError, ConfigError, StorageError
from storage.ledger import database
from storage.ledger.database import open_database
from storage.ledger.ledger_tables import Base
from storage.ledger.source_store import Sources
from storage.safe_writes import writer_lock
from tests import shared_work

ROOT = Path(__file__).parents[3]


def test_a_ledger_of_the_current_version_reopens_with_its_data(tmp_path):
    first = open_database(tmp_path / "data")
    source = Sources(first).ensure("directory", "/docs", name="docs", options={"include": ["*"]})
    first.close()

    assert Sources(open_database(tmp_path / "data")).list() == [source]


def test_alembic_is_not_imported_if_there_is_nothing_to_migrate(tmp_path):
    open_database(tmp_path).close()
    code = (
        "import sys; from pathlib import Path; from storage.ledger.database import open_database;"
        f"open_database(Path({str(tmp_path)!r})); print('alembic' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout.strip() == "False", result.stderr


def test_ledgers_of_newer_versions_are_rejected_and_stay_unchanged(tmp_path):
    open_database(tmp_path).close()
    with sqlite3.connect(tmp_path / "footnote.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999', oldest = '9998'")

    with pytest.raises(StorageError, match=r"newer Footnote .*9999.*stop all .*start only the"):
        open_database(tmp_path)
    with sqlite3.connect(tmp_path / "footnote.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)


def test_data_folders_may_have_any_name(tmp_path):
    folder = tmp_path / "what? 100%20 #휴가"
    open_database(folder).close()
    assert (folder / "footnote.db").exists()
    assert list(tmp_path.iterdir()) == [folder]


def test_migrations_wait_for_the_writer_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_MIGRATION_TIMEOUT_S", 0.1)
    with writer_lock(tmp_path), pytest.raises(BusyError, match="is writing to"):
        open_database(tmp_path)
    open_database(tmp_path).close()


def test_the_error_for_a_file_that_is_not_a_database_names_it(tmp_path):
    (tmp_path / "footnote.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StorageError, match=str(tmp_path)):
        open_database(tmp_path)


def test_a_file_in_place_of_the_data_folder_is_reported(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageError, match=r"can't be created .*FOOTNOTE_DATA_DIR"):
        open_database(tmp_path / "data")


READ_ONLY = """
import os, sys
from pathlib import Path
from domain.errors import StorageError
from storage.ledger.database import open_database
from storage.safe_writes import writer_lock
open_database(Path(sys.argv[2]))  # imports modules that another user may be unable to read
if os.geteuid() == 0:  # root may write everywhere
    os.seteuid(65534)
try:
    open_database(Path(sys.argv[1]))
except StorageError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.parametrize("is_initialized", [False, True])
def test_the_error_for_a_read_only_folder_names_it_and_the_setting(tmp_path, is_initialized):
    with tempfile.TemporaryDirectory() as folder:
        if is_initialized:
            open_database(Path(folder)).close()
        for path in [*Path(folder).iterdir(), Path(folder)]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        command = [sys.executable, "-c", READ_ONLY, folder, str(tmp_path)]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        Path(folder).chmod(0o755)
    assert folder in result.stdout, result.stderr
    assert "FOOTNOTE_DATA_DIR" in result.stdout


def test_invalid_database_urls_and_missing_drivers_raise_config_errors(tmp_path):
    with pytest.raises(ConfigError, match="FOOTNOTE_DATABASE_URL"):
        open_database(tmp_path, "nonsense")
    with pytest.raises(ConfigError, match="FOOTNOTE_DATABASE_URL"):
        open_database(tmp_path, "postgresql+nosuchdriver://localhost/footnote")
    with pytest.raises(ConfigError, match="FOOTNOTE_DATABASE_URL"):
        open_database(tmp_path, "oracle://localhost/footnote")


@pytest.mark.filterwarnings("ignore:Query string")
def test_error_messages_do_not_contain_the_password_of_the_url(tmp_path):
    url = f"sqlite:////{tmp_path}/missing/x.db?sslpassword=secret"
    with pytest.raises(StorageError) as caught:
        open_database(tmp_path, url)
    assert "secret" not in str(caught.value)


def test_a_write_block_that_raises_is_rolled_back(tmp_path):
    database = open_database(tmp_path)

    def fail():
        with database.write() as session:
            session.execute(text("INSERT INTO alembic_version (version_num) VALUES ('x')"))
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM alembic_version")) == 1


def test_concurrent_read_modify_writes_are_serialized(tmp_path):
    database = open_database(tmp_path)
    with database.write() as session:
        session.execute(text("CREATE TABLE counter (n INTEGER)"))
        session.execute(text("INSERT INTO counter VALUES (0)"))

    def count():
        for _ in range(20):
            with database.write() as session:
                n = session.scalar(text("SELECT n FROM counter"))
                session.execute(text("UPDATE counter SET n = :n"), {"n": n + 1})

    threads = [threading.Thread(target=count) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert session.scalar(text("SELECT n FROM counter")) == 100


def test_a_database_locked_by_another_process_raises_a_busy_error(tmp_path, monkeypatch):
    monkeypatch.setattr("storage.ledger.engines._BUSY_TIMEOUT_MS", 50)
    database = open_database(tmp_path)
    other = sqlite3.connect(tmp_path / "footnote.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="another process"), database.write() as session:
        session.execute(text("SELECT 1"))
    other.execute("ROLLBACK")
    other.close()


def test_all_tables_compile_for_postgresql():
    statements = [
        str(CreateTable(table).compile(dialect=postgresql.dialect()))
        for table in Base.metadata.sorted_tables
    ]
    assert len(statements) == len(Base.metadata.tables)


@pytest.mark.parametrize(("synced", "level"), [(True, 2), (False, 1)])
def test_writes_are_synced_to_disk_unless_turned_off(tmp_path, monkeypatch, synced, level):
    monkeypatch.setattr(shared_work, "waits_for_disk", True)
    database = open_database(tmp_path)
    for _ in range(2):  # the connection is reused
        with database.write(synced=not synced) as session:
            session.execute(text("SELECT 1"))
        with database.write(synced=synced) as session:
            assert session.execute(text("PRAGMA synchronous")).scalar() == level
