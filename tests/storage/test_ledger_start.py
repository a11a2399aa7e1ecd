"""What a data folder holds decides whether a missing ledger is a new one."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from errors import DamagedLedgerError, StorageError
from storage.ledger.database import open_database
from storage.ledger.ledger_check import has_foreign_log
from storage.ledger.source_store import Sources
from tests.fakes.library import DictLoader, Library
from tests.storage.damage import checkpointed_bytes, contents

RECOVERY = r"restore footnote\.db from a backup.*FOOTNOTE_DATA_DIR"


@pytest.fixture
def folder(tmp_path):
    """The data folder of a library with an index."""
    library = Library(tmp_path / "data")
    library.load(DictLoader({"a.txt": "one word after another. " * 40, "b.txt": "short"}))
    library.database.close()
    checkpointed_bytes(tmp_path / "data" / "footnote.db")
    return tmp_path / "data"


def delete(ledger):
    ledger.unlink()


def empty(ledger):
    ledger.write_bytes(b"")


def forget_tables(ledger):
    """As the main file is where all of the library was still in a log that got lost."""
    ledger.unlink()
    with sqlite3.connect(ledger) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def begin_anew(ledger):
    """As an older Footnote left it that took the folder for a new library."""
    new = ledger.parent.parent / "new"
    open_database(new).close()
    shutil.copyfile(new / "footnote.db", ledger)


def hold_other_tables(ledger):
    ledger.unlink()
    with sqlite3.connect(ledger) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()


LOSSES = [delete, empty, forget_tables, begin_anew, hold_other_tables]


def assert_refused(folder, error, match, url=None):
    before = contents(folder)
    with pytest.raises(error, match=match) as caught:
        open_database(folder, url)
    assert contents(folder) == before
    return str(caught.value)


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_lost_ledger_beside_an_index_is_told_and_nothing_is_changed(folder, lose):
    lose(folder / "footnote.db")
    message = assert_refused(folder, StorageError, RECOVERY)
    assert str(folder) in message
    assert "index folders: 1 (passages: 7)" in message


@pytest.mark.parametrize("remains", ["uploads/box/notes.md", "encryption.key"])
def test_uploads_or_a_key_without_a_ledger_are_no_new_library(tmp_path, remains):
    file = tmp_path / remains
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("kept")
    told = "uploaded files: 1" if "uploads" in remains else remains
    assert told in assert_refused(tmp_path, StorageError, RECOVERY)


@pytest.mark.parametrize("ledger", [None, b""], ids=["missing", "empty"])
def test_a_log_without_its_ledger_is_kept(tmp_path, ledger):
    log = tmp_path / "footnote.db-wal"
    log.write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))
    if ledger is not None:
        (tmp_path / "footnote.db").write_bytes(ledger)
    assert str(log) in assert_refused(tmp_path, StorageError, RECOVERY)


def test_a_file_with_the_tables_of_another_program_is_never_migrated(tmp_path):
    (tmp_path / "footnote.db").touch()
    hold_other_tables(tmp_path / "footnote.db")
    assert_refused(
        tmp_path, StorageError, r"not a ledger of Footnote.*\(notes\).*FOOTNOTE_DATA_DIR"
    )


def test_an_index_that_cannot_be_counted_is_still_found(folder):
    (folder / "footnote.db").unlink()
    for described in folder.glob("indexes/*/keywords/index/meta.json"):
        described.write_text("{}")
    assert_refused(folder, StorageError, r"index folders: 1 \(passages: 0\)")


@pytest.mark.parametrize("lose", LOSSES[:4], ids=lambda lose: lose.__name__)
def test_a_lost_ledger_elsewhere_is_told_with_its_address(folder, tmp_path, lose):
    ledger = tmp_path / "elsewhere.db"
    (folder / "footnote.db").rename(ledger)
    url = f"sqlite:///{ledger}"
    open_database(folder, url).close()
    lose(ledger)
    message = assert_refused(folder, StorageError, r"correct FOOTNOTE_DATABASE_URL", url)
    assert str(ledger) in message
    assert lose is delete or ledger.exists()


@pytest.mark.parametrize(
    "there",
    [[], ["cache/model.bin", "writer.lock", "logs/a.log", ".env", "notes.txt"], ["indexes/i/"]],
    ids=["nothing", "what is no library", "an index without a file"],
)
def test_a_new_folder_opens_at_once(tmp_path, there):
    for name in there:
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("x")
    assert Sources(open_database(tmp_path)).list() == []


def leave_an_empty_file(ledger):
    ledger.touch()


def leave_a_head(ledger):
    ledger.touch()
    forget_tables(ledger)


def leave_a_journal(ledger):
    """Killed in the very first transaction, which SQLite then undoes."""
    leave_a_head(ledger)
    ledger.with_name("footnote.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" * 64)


@pytest.mark.parametrize("leave", [leave_an_empty_file, leave_a_head, leave_a_journal])
def test_a_first_start_that_was_killed_begins_again(tmp_path, leave):
    leave(tmp_path / "footnote.db")
    assert Sources(open_database(tmp_path)).list() == []


def test_a_first_index_that_was_killed_before_its_row_begins_again(tmp_path):
    library = Library(tmp_path)
    (tmp_path / "indexes" / "begun").mkdir(parents=True)
    library.database.close()
    again = Library(tmp_path)
    again.load(DictLoader({"a.txt": "one word after another."}))
    assert again.check().agrees


def test_a_library_whose_documents_are_all_gone_opens(folder):
    library = Library(folder)
    library.load(DictLoader({}), confirm_removals=True)
    library.sources.remove(library.source.id)
    library.database.close()
    assert Sources(open_database(folder)).list() == []


def test_a_backup_with_its_log_alone_opens_with_every_commit(tmp_path):
    whole = tmp_path / "whole"
    database = open_database(whole)
    source = Sources(database).ensure("directory", "/docs", name="docs")
    backup = tmp_path / "backup"
    backup.mkdir()
    for name in ("footnote.db", "footnote.db-wal"):
        shutil.copyfile(whole / name, backup / name)
    database.close()
    assert Sources(open_database(backup)).list() == [source]


def test_a_ledger_deleted_under_a_running_program_is_not_begun_anew(folder):
    database = open_database(folder)
    database.close()  # the next session opens a new connection
    for name in ("footnote.db", "footnote.db-wal", "footnote.db-shm"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(StorageError, match=rf"missing.*{RECOVERY}"):
        Sources(database).list()
    assert not (folder / "footnote.db").exists()


def test_a_log_that_is_none_is_not_overwritten(folder):
    (folder / "footnote.db-wal").write_bytes(b"a text, not a log. " * 300)
    assert_refused(folder, DamagedLedgerError, r"footnote\.db-wal is not the log")


def test_a_log_that_another_process_deletes_meanwhile_is_an_empty_one(folder, monkeypatch):
    """The last process to end deletes the log between two looks at it."""
    ledger = folder / "footnote.db"
    ledger.with_name("footnote.db-wal").write_bytes(b"\x37\x7f\x06\x82")
    look = Path.exists

    def exists(path, **options):
        was_there = look(path, **options)
        if path.name.endswith("-wal"):
            path.unlink(missing_ok=True)
        return was_there

    monkeypatch.setattr(Path, "exists", exists)
    assert not has_foreign_log(ledger)


def test_looking_at_a_sound_ledger_leaves_nothing_behind(folder):
    before = contents(folder)
    open_database(folder).close()
    assert contents(folder) == before
