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

from errors import BusyError, ConfigError, StorageError
from storage.ledger import database
from storage.ledger.database import open_database
from storage.ledger.ledger_tables import Base
from storage.ledger.source_store import Sources
from storage.lock import writer_lock

ROOT = Path(__file__).parents[3]


def test_a_folder_at_the_newest_version_opens_again_with_what_it_held(tmp_path):
    first = open_database(tmp_path / "data")
    source = Sources(first).ensure("directory", "/docs", name="docs", options={"include": ["*"]})
    first.close()

    assert Sources(open_database(tmp_path / "data")).list() == [source]


def test_a_second_start_does_not_load_alembic(tmp_path):
    open_database(tmp_path).close()
    code = (
        "import sys; from pathlib import Path; from storage.ledger.database import open_database;"
        f"open_database(Path({str(tmp_path)!r})); print('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_a_folder_of_a_newer_footnote_is_refused_and_left_as_it_is(tmp_path):
    open_database(tmp_path).close()
    with sqlite3.connect(tmp_path / "footnote.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(StorageError, match=r"newer Footnote .*9999.*update"):
        open_database(tmp_path)
    with sqlite3.connect(tmp_path / "footnote.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)


def test_a_folder_may_have_any_name(tmp_path):
    folder = tmp_path / "what? 100%20 #휴가"
    open_database(folder).close()
    assert (folder / "footnote.db").exists()
    assert list(tmp_path.iterdir()) == [folder]


def test_a_migration_does_not_begin_while_another_process_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_MIGRATION_TIMEOUT_S", 0.1)
    with writer_lock(tmp_path), pytest.raises(BusyError, match="is writing to"):
        open_database(tmp_path)
    open_database(tmp_path).close()


def test_a_file_that_is_no_database_is_named(tmp_path):
    (tmp_path / "footnote.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StorageError, match=str(tmp_path)):
        open_database(tmp_path)


def test_a_data_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageError, match=r"can't be created .*FOOTNOTE_DATA_DIR"):
        open_database(tmp_path / "data")


READ_ONLY = """
import os, sys
from pathlib import Path
from errors import StorageError
from storage.ledger.database import open_database
from storage.lock import writer_lock
open_database(Path(sys.argv[2]))  # loads what another user may not be able to load
if os.geteuid() == 0:  # who may write everywhere
    os.seteuid(65534)
try:
    open_database(Path(sys.argv[1]))
except StorageError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.parametrize("written_before", [False, True])
def test_a_read_only_folder_is_named_with_the_remedy(tmp_path, written_before):
    with tempfile.TemporaryDirectory() as folder:
        if written_before:
            open_database(Path(folder)).close()
        for path in [*Path(folder).iterdir(), Path(folder)]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        command = [sys.executable, "-c", READ_ONLY, folder, str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        Path(folder).chmod(0o755)
    assert folder in done.stdout, done.stderr
    assert "FOOTNOTE_DATA_DIR" in done.stdout


def test_an_address_that_is_none_or_needs_a_missing_driver_is_a_setting_to_correct(tmp_path):
    with pytest.raises(ConfigError, match="FOOTNOTE_DATABASE_URL"):
        open_database(tmp_path, "nonsense")
    with pytest.raises(ConfigError, match="FOOTNOTE_DATABASE_URL"):
        open_database(tmp_path, "postgresql+nosuchdriver://localhost/footnote")


@pytest.mark.filterwarnings("ignore:Query string")
def test_a_password_in_the_address_is_never_told(tmp_path):
    url = f"sqlite:////{tmp_path}/missing/x.db?sslpassword=secret"
    with pytest.raises(StorageError) as caught:
        open_database(tmp_path, url)
    assert "secret" not in str(caught.value)


def test_a_block_that_raises_changes_nothing(tmp_path):
    database = open_database(tmp_path)

    def fail():
        with database.write() as session:
            session.execute(text("INSERT INTO alembic_version VALUES ('x')"))
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM alembic_version")) == 1


def test_threads_that_read_and_then_write_wait_for_each_other(tmp_path):
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


def test_another_process_that_keeps_writing_is_told_as_busy(tmp_path, monkeypatch):
    monkeypatch.setattr("storage.ledger.database._BUSY_TIMEOUT_MS", 50)
    database = open_database(tmp_path)
    other = sqlite3.connect(tmp_path / "footnote.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="another process"), database.write() as session:
        session.execute(text("SELECT 1"))
    other.execute("ROLLBACK")
    other.close()


def test_the_tables_can_be_made_in_postgresql():
    made = [
        str(CreateTable(table).compile(dialect=postgresql.dialect()))
        for table in Base.metadata.sorted_tables
    ]
    assert len(made) == len(Base.metadata.tables)


@pytest.mark.parametrize(("synced", "level"), [(True, 2), (False, 1)])
def test_a_write_waits_for_the_disk_unless_it_says_it_need_not(tmp_path, synced, level):
    database = open_database(tmp_path)
    for _ in range(2):  # the connection is used again
        with database.write(synced=not synced) as session:
            session.execute(text("SELECT 1"))
        with database.write(synced=synced) as session:
            assert session.execute(text("PRAGMA synchronous")).scalar() == level
