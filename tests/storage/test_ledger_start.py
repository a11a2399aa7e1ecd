"""A missing ledger is created only if the data folder contains no traces of a library."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from domain.errors import DamagedLedgerError, StorageError
from storage.ledger.database import open_database
from storage.ledger.ledger_check import has_foreign_log
from storage.ledger.source_store import Sources
from tests.fakes.library import DictLoader, Library, filled_library
from tests.storage.damage import checkpoint, contents

RECOVERY = r"cli\.py restore FILE.*restore footnote\.db from that copy.*FOOTNOTE_DATA_DIR"


@pytest.fixture
def folder(tmp_path):
    """The data folder of a library with an index."""
    library = filled_library(
        tmp_path / "data", {"a.txt": "one word after another. " * 40, "b.txt": "short"}
    )
    library.database.close()
    checkpoint(tmp_path / "data" / "footnote.db")
    return tmp_path / "data"


def delete(ledger):
    ledger.unlink()


def empty(ledger):
    ledger.write_bytes(b"")


def remove_tables(ledger):
    """The main file is empty because all data was in a log that was lost."""
    ledger.unlink()
    with sqlite3.connect(ledger) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def replace_with_empty_ledger(ledger):
    """Older versions created an empty ledger if the old one was lost."""
    new = ledger.parent.parent / "new"
    open_database(new).close()
    shutil.copyfile(new / "footnote.db", ledger)


def replace_with_other_tables(ledger):
    ledger.unlink()
    with sqlite3.connect(ledger) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()


LOSSES = [delete, empty, remove_tables, replace_with_empty_ledger, replace_with_other_tables]


def assert_rejected(folder, error, match, url=None):
    before = contents(folder)
    with pytest.raises(error, match=match) as caught:
        open_database(folder, url)
    assert contents(folder) == before
    return str(caught.value)


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_lost_ledger_next_to_an_index_is_reported_without_changing_files(folder, lose):
    lose(folder / "footnote.db")
    message = assert_rejected(folder, StorageError, RECOVERY)
    assert str(folder) in message
    assert "index folders: 1 (passages: 7)" in message


@pytest.mark.parametrize("name", ["uploads/box/notes.md", "encryption.key"])
def test_uploads_or_a_key_without_a_ledger_are_reported(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("text")
    message = "uploaded files: 1" if "uploads" in name else name
    assert message in assert_rejected(tmp_path, StorageError, RECOVERY)


@pytest.mark.parametrize("ledger", [None, b""], ids=["missing", "empty"])
def test_a_log_without_its_ledger_is_reported_and_stays(tmp_path, ledger):
    log = tmp_path / "footnote.db-wal"
    log.write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))
    if ledger is not None:
        (tmp_path / "footnote.db").write_bytes(ledger)
    assert str(log) in assert_rejected(tmp_path, StorageError, RECOVERY)


def test_databases_of_other_programs_are_never_migrated(tmp_path):
    (tmp_path / "footnote.db").touch()
    replace_with_other_tables(tmp_path / "footnote.db")
    assert_rejected(tmp_path, StorageError, r"not a Footnote ledger.*\(notes\).*FOOTNOTE_DATA_DIR")


def test_indexes_whose_passages_cannot_be_counted_are_reported_too(folder):
    (folder / "footnote.db").unlink()
    for metadata in folder.glob("indexes/*/keywords/index/meta.json"):
        metadata.write_text("{}")
    assert_rejected(folder, StorageError, r"index folders: 1 \(passages: 0\)")


@pytest.mark.parametrize("lose", LOSSES[:4], ids=lambda lose: lose.__name__)
def test_a_lost_ledger_outside_the_data_folder_is_reported_with_its_path(folder, tmp_path, lose):
    ledger = tmp_path / "elsewhere.db"
    (folder / "footnote.db").rename(ledger)
    url = f"sqlite:///{ledger}"
    open_database(folder, url).close()
    lose(ledger)
    message = assert_rejected(folder, StorageError, r"correct FOOTNOTE_DATABASE_URL", url)
    assert str(ledger) in message
    assert lose is delete or ledger.exists()


@pytest.mark.parametrize(
    "names",
    [[], ["cache/model.bin", "writer.lock", "logs/a.log", ".env", "notes.txt"], ["indexes/i/"]],
    ids=["empty folder", "unrelated files", "empty index folder"],
)
def test_folders_without_a_library_get_a_new_ledger(tmp_path, names):
    for name in names:
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("x")
    assert Sources(open_database(tmp_path)).list() == []


def create_empty_file(ledger):
    ledger.touch()


def create_header_only(ledger):
    ledger.touch()
    remove_tables(ledger)


def create_journal(ledger):
    """The process was killed in its first transaction, which SQLite rolls back."""
    create_header_only(ledger)
    ledger.with_name("footnote.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" * 64)


@pytest.mark.parametrize(
    "create_leftovers", [create_empty_file, create_header_only, create_journal]
)
def test_an_interrupted_first_start_is_repeated(tmp_path, create_leftovers):
    create_leftovers(tmp_path / "footnote.db")
    assert Sources(open_database(tmp_path)).list() == []


def test_an_interrupted_creation_of_the_first_index_is_repeated(tmp_path):
    library = Library(tmp_path)
    (tmp_path / "indexes" / "started").mkdir(parents=True)
    library.database.close()
    reopened = Library(tmp_path)
    reopened.load(DictLoader({"a.txt": "one word after another."}))
    assert reopened.check().agrees


def test_a_library_without_documents_opens(folder):
    library = Library(folder)
    library.load(DictLoader({}), confirm_removals=True)
    library.sources.remove(library.source.id)
    library.database.close()
    assert Sources(open_database(folder)).list() == []


def test_a_backup_of_only_the_ledger_and_its_log_opens_with_all_commits(tmp_path):
    data = tmp_path / "whole"
    database = open_database(data)
    source = Sources(database).ensure("directory", "/docs", name="docs")
    backup = tmp_path / "backup"
    backup.mkdir()
    for name in ("footnote.db", "footnote.db-wal"):
        shutil.copyfile(data / name, backup / name)
    database.close()
    assert Sources(open_database(backup)).list() == [source]


def test_a_ledger_deleted_while_in_use_is_not_recreated(folder):
    database = open_database(folder)
    database.close()  # the next session opens a new connection
    for name in ("footnote.db", "footnote.db-wal", "footnote.db-shm"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(StorageError, match=rf"missing.*{RECOVERY}"):
        Sources(database).list()
    assert not (folder / "footnote.db").exists()


def test_an_invalid_log_is_reported_and_not_overwritten(folder):
    (folder / "footnote.db-wal").write_bytes(b"a text, not a log. " * 300)
    assert_rejected(folder, DamagedLedgerError, r"footnote\.db-wal is not the log")


def test_a_log_that_another_process_deletes_concurrently_is_not_damage(folder, monkeypatch):
    """The last process to close the ledger deletes the log between two checks."""
    ledger = folder / "footnote.db"
    ledger.with_name("footnote.db-wal").write_bytes(b"\x37\x7f\x06\x82")
    original_exists = Path.exists

    def exists(path, **options):
        result = original_exists(path, **options)
        if path.name.endswith("-wal"):
            path.unlink(missing_ok=True)
        return result

    monkeypatch.setattr(Path, "exists", exists)
    assert not has_foreign_log(ledger)


def test_opening_an_intact_ledger_changes_no_files(folder):
    before = contents(folder)
    open_database(folder).close()
    assert contents(folder) == before
