import os
import shutil
import stat
from datetime import UTC, datetime

import pytest

from domain import CancelledError
from domain.errors import InputError, StorageError
from services.long_work import ignore
from storage.backups import restoration as module
from storage.backups.backup_file import entries_of, write_backup
from storage.backups.library_copy import ledger_facts, library_copy
from storage.backups.manifest import Manifest
from storage.backups.restoration import check_backup, restore_backup
from tests.fakes.library import Library, filled_library

TEXTS = {"leave.md": "New employees get 25 days of annual leave a year."}


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path / "data", TEXTS)


@pytest.fixture
def write(library, tmp_path):
    """Writes a backup, with other values in its manifest if specified."""

    def write(**values):
        target = tmp_path / "backup.tar.gz"
        with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore) as copy:
            schema, counts = ledger_facts(copy)
            facts = {"schema": schema, "counts": counts, "files": entries_of(copy)}
            same = {"library": "/data", "is_scheduled": False, "version": "0.1.0"}
            manifest = Manifest(created_at=datetime.now(UTC), **{**same, **facts, **values})
            write_backup(copy, manifest, target, ignore)
        return target

    return write


def modes(folder):
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}, {
        stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*")) if path.is_dir()
    }


def test_a_restored_library_has_the_same_documents_and_index(write, library, tmp_path):
    manifest = restore_backup(write(), tmp_path / "new" / "data", ignore)
    assert manifest.counts == {
        "sources": 1,
        "documents": 1,
        "passages": library.check().passages,
        "conversations": 0,
    }
    restored = Library(tmp_path / "new" / "data")
    assert restored.texts() == TEXTS
    assert restored.check().agrees
    assert restored.embeddings.texts == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_restored_files_are_private(write, tmp_path):
    backup = write()
    os.umask(0o022)
    restore_backup(backup, tmp_path / "new", ignore)
    assert modes(tmp_path / "new") == ({0o600}, {0o700})


def test_a_backup_is_restored_into_an_empty_folder_of_a_new_volume(write, tmp_path):
    (tmp_path / "volume" / "lost+found").mkdir(parents=True)
    restore_backup(write(), tmp_path / "volume", ignore)
    assert Library(tmp_path / "volume").texts() == TEXTS


@pytest.mark.parametrize("name", ["footnote.db", "notes.txt", ".hidden"])
def test_a_folder_with_files_is_not_changed(write, tmp_path, name):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / name).write_text("mine")
    with pytest.raises(InputError, match=f"is not empty .it contains {name}"):
        restore_backup(write(), tmp_path / "full", ignore)
    assert [path.read_text() for path in (tmp_path / "full").iterdir()] == ["mine"]


def test_a_damaged_backup_leaves_the_folder_empty(write, tmp_path):
    backup = write()
    data = bytearray(backup.read_bytes())
    middle = len(data) // 2
    for place in range(middle, middle + 64):  # one byte may be decompressed to the same text
        data[place] ^= 0x55
    backup.write_bytes(data)
    with pytest.raises(InputError, match="is damaged"):
        restore_backup(backup, tmp_path / "new", ignore)
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(InputError, match="is damaged"):
        check_backup(backup, ignore)


def test_an_interrupted_restoration_leaves_the_folder_empty(write, tmp_path):
    def stop(progress):
        if progress.done == 3:
            assert (tmp_path / "new" / ".restoring").is_dir()
            raise CancelledError

    with pytest.raises(CancelledError):
        restore_backup(write(), tmp_path / "new", stop)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_killed_restoration_can_be_repeated(write, tmp_path):
    left = tmp_path / "new" / ".restoring" / "uploads"
    left.mkdir(parents=True)
    (left / "half.md").write_text("half")
    restore_backup(write(), tmp_path / "new", ignore)
    assert Library(tmp_path / "new").texts() == TEXTS
    assert {path.name for path in (tmp_path / "new").iterdir()} >= {"footnote.db", "indexes"}
    assert not (tmp_path / "new" / ".restoring").exists()


def test_the_ledger_appears_last(write, tmp_path, monkeypatch):
    """Without the ledger, Footnote refuses to start, so nobody uses half of a library."""
    moved = []
    rename = module.Path.rename
    monkeypatch.setattr(module.Path, "rename", lambda a, b: (moved.append(b.name), rename(a, b)))
    restore_backup(write(), tmp_path / "new", ignore)
    assert moved == ["indexes", "footnote.db"]


def test_a_newer_ledger_names_the_version_that_wrote_it(write, tmp_path):
    backup = write(schema="9999", version="3.1.0")
    for attempt in (check_backup, lambda file, on: restore_backup(file, tmp_path / "new", on)):
        with pytest.raises(InputError, match=r"newer Footnote \(3.1.0, ledger version 9999\)"):
            attempt(backup, ignore)
    assert not (tmp_path / "new").exists()


def test_a_check_stores_nothing(write, tmp_path):
    backup = write()
    before = set(tmp_path.iterdir())
    assert check_backup(backup, ignore).counts["documents"] == 1
    assert set(tmp_path.iterdir()) == before


def test_a_full_disk_is_reported_before_anything_is_written(write, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    backup = write()
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1000))
    with pytest.raises(StorageError, match="Free some space"):
        restore_backup(backup, tmp_path / "new", ignore)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.fixture
def backup_bytes(write):
    """The contents of a backup, for a test that runs as another user."""
    return write().read_bytes()


def test_a_folder_without_write_permission_is_named(backup_bytes, unprivileged_folder):
    (unprivileged_folder / "backup").write_bytes(backup_bytes)
    locked = unprivileged_folder / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(StorageError, match=r"locked/data can't be written to .Permission denied"):
        restore_backup(unprivileged_folder / "backup", locked / "data", ignore)
