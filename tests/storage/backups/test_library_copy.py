"""The copy of a library is consistent, whatever happens to the library meanwhile."""

import os
import shutil
import sqlite3
import threading
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from domain import LOCAL_USER
from domain.errors import BusyError, StorageError
from services.long_work import ignore
from storage.backups import library_copy as module
from storage.backups.library_copy import library_copy
from storage.index_reader import READABLE
from storage.ledger.index_store import Engine, IndexState, new_index
from storage.safe_writes import SPARE_BYTES, writer_lock
from tests.fakes.library import DictLoader, Library, filled_library

LEAVE = "# Leave\n\nNew employees get 25 days of annual leave a year."


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path / "data", {"leave.md": LEAVE, "vpn.md": "Install WireGuard."})


@contextmanager
def copy_of(library, target):
    """A library on a copy of this one, as if it had been restored."""
    with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore) as copy:
        shutil.copytree(copy, target)
    yield Library(target)


@pytest.fixture
def during_copy(monkeypatch):
    """Registers a function that runs while the index is copied, after its stores were locked."""

    def register(function):
        link_store = module._link_store

        def link(*arguments):
            if pending:
                pending.pop()()
            link_store(*arguments)

        pending = [function]
        monkeypatch.setattr(module, "_link_store", link)

    return register


def test_a_copy_contains_the_same_library(library, tmp_path):
    with copy_of(library, tmp_path / "copy") as copy:
        assert copy.texts() == library.texts()
        report = copy.check()
    assert (report.agrees, report.passages) == (True, library.check().passages)
    assert copy.embeddings.texts == 0


def test_a_copy_contains_neither_locks_nor_keys_nor_caches(library):
    for name in ("encryption.key", "cache/model.onnx", "settings.json", "settings.json.lock"):
        path = library.data_dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore) as copy:
        assert {path.name for path in copy.iterdir()} == {"footnote.db", "settings.json", "indexes"}
        names = {path.name for path in copy.rglob("*")}
    assert not [name for name in names if name.endswith((".lock", ".new"))]
    assert names.isdisjoint({"writer.json", READABLE})
    assert list(library.data_dir.rglob(READABLE))
    assert not (library.data_dir / ".backup" / "copy").exists()


def test_a_batch_that_is_being_written_is_completely_missing_or_completely_there(
    library, tmp_path, during_copy
):
    changed = DictLoader({"leave.md": "All employees get 30 days.", "new.md": "A new document."})
    started = threading.Event()

    def write():
        started.set()
        library.load(changed, confirm_removals=True)

    writer = threading.Thread(target=write)
    during_copy(lambda: (writer.start(), started.wait()))
    with copy_of(library, tmp_path / "copy") as copy:
        assert copy.texts() == {"leave.md": LEAVE, "vpn.md": "Install WireGuard."}
        copy.maintenance.recover()
        assert copy.check().agrees
    writer.join()
    assert set(library.texts()) == {"leave.md", "new.md"}
    assert library.check().agrees


def test_a_copy_during_a_crash_recovers(library, tmp_path, monkeypatch):
    """The ledger has staged the passages, and only one of the two stores has them."""
    store = library.active

    def die(_entries):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.keywords, "add", die)
    with pytest.raises(KeyboardInterrupt):
        library.load(DictLoader({"leave.md": LEAVE, "new.md": "A new document."}))
    with copy_of(library, tmp_path / "copy") as copy:
        copy.maintenance.recover()
        assert copy.check().agrees
        assert copy.texts()["leave.md"] == LEAVE


def test_a_reindex_during_the_copy_does_not_matter(library, tmp_path, during_copy):
    other = Library(library.data_dir, size=150)

    during_copy(lambda: other.maintenance.reindex(LOCAL_USER))
    with copy_of(library, tmp_path / "copy") as copy:
        copy.maintenance.recover()
        assert copy.indexes.active() == other.indexes.active()
        assert copy.check().agrees
        assert copy.check().passages == other.check().passages


def test_an_unfinished_reindex_is_not_continued_from_a_copy(library, tmp_path):
    building = new_index(Library(library.data_dir, size=150).index_spec, IndexState.BUILDING)
    library.stores.create(building)
    library.indexes.add(building)
    with copy_of(library, tmp_path / "copy") as copy:
        assert copy.indexes.building() is None
        copy.maintenance.recover()
        assert [index.id for index in copy.indexes.all()] == [library.indexes.active().id]
    assert library.indexes.building() is not None


def test_an_empty_library_can_be_copied(tmp_path):
    with copy_of(Library(tmp_path / "data"), tmp_path / "copy") as copy:
        assert copy.texts() == {}


def test_files_are_copied_where_links_are_not_possible(library, tmp_path, monkeypatch):
    def no_links(*_arguments):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    with copy_of(library, tmp_path / "copy") as copy:
        assert copy.check().agrees


def test_the_library_does_not_change_if_the_copy_is_changed(library):
    before = {
        path: path.read_bytes() for path in library.data_dir.rglob("rows/**/*") if path.is_file()
    }
    with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore):
        library.load(DictLoader({"leave.md": "Changed.", "vpn.md": "Install WireGuard."}))
    after = {path: path.read_bytes() for path in before}
    assert {p for p in before if before[p] != after[p]} == {
        p for p in before if p.name == "next_base" and p.parent.name != "_meta"
    }
    assert library.check().agrees


def test_only_one_backup_runs_at_a_time(library):
    with writer_lock(library.data_dir / ".backup"):
        with pytest.raises(BusyError, match="is writing to"):
            with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore):
                pytest.fail("two backups at a time")


def test_what_a_killed_backup_left_is_deleted(library):
    left = library.data_dir / ".backup" / "copy" / "uploads" / "box" / "old.md"
    left.parent.mkdir(parents=True)
    left.write_text("old")
    with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore) as copy:
        assert not (copy / "uploads").exists()
    assert not left.exists()


def test_a_copy_shares_no_index_on_a_cluster_with_the_original(library):
    """Otherwise, a reindex of a restored copy would delete the index of the original."""
    spec = replace(library.index_spec, engine=Engine.OPENSEARCH)
    remote = [new_index(spec, state) for state in (IndexState.BUILDING, IndexState.RETIRED)]
    for index in remote:
        library.indexes.add(index)
    active = library.indexes.active()
    with closing(sqlite3.connect(library.data_dir / "footnote.db")) as ledger, ledger:
        ledger.execute("UPDATE indexes SET spec = json_set(spec, '$.engine', 'opensearch')")
    shutil.rmtree(library.data_dir / "indexes")
    passages = library.indexes.passages(active.id)
    with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore) as copy:
        with closing(sqlite3.connect(copy / "footnote.db")) as ledger:
            states = dict(ledger.execute("SELECT id, state FROM indexes"))
            counts = dict(ledger.execute("SELECT index_id, count(*) FROM passages GROUP BY 1"))
            assert ledger.execute("PRAGMA foreign_key_check").fetchall() == []
    assert not states.keys() & {active.id, *(index.id for index in remote)}
    assert sorted(states.values()) == ["active", "retired", "retired"]
    assert {states[id_]: count for id_, count in counts.items()} == {"active": passages}
    assert passages > 0


def test_a_copy_keeps_the_id_of_an_index_in_the_data_folder(library, tmp_path):
    with copy_of(library, tmp_path / "copy") as copy:
        assert copy.indexes.active() == library.indexes.active()


def test_a_left_copy_that_cannot_be_deleted_is_named(library, monkeypatch):
    (library.data_dir / ".backup" / "copy").mkdir(parents=True)

    def refuse(path, **options):
        if not options:
            raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(StorageError, match=r"backup/copy can't be copied .* \(Permission denied"):
        with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore):
            pytest.fail("a copy into an existing folder")


@pytest.fixture
def no_links(monkeypatch):
    def refuse(path, _copy):
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(os, "link", refuse)


def test_a_disk_that_fills_during_the_copy_is_reported(library, monkeypatch, no_links):
    def fill(path, _copy):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(shutil, "copy2", fill)
    with pytest.raises(StorageError, match=r"indexes/.* \(No space left on device\)"):
        with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore):
            pytest.fail("a copy on a full disk")


def test_files_that_are_copied_need_free_space_and_links_need_none(library, monkeypatch, request):
    (library.data_dir / "uploads").mkdir()
    (library.data_dir / "uploads" / "a.md").write_bytes(b"x" * 5_000_000)
    usage = shutil.disk_usage(library.data_dir)
    free = SPARE_BYTES + 4_000_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=free))
    with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore) as copy:
        assert (copy / "uploads" / "a.md").exists()
    request.getfixturevalue("no_links")
    with pytest.raises(StorageError, match="Free some space"):
        with library_copy(library.data_dir, library.data_dir / "footnote.db", ignore):
            pytest.fail("a copy on a full disk")


def test_the_log_of_the_ledger_counts_as_part_of_it(library, monkeypatch):
    needed = []
    monkeypatch.setattr(
        module, "require_free_space", lambda _folder, size, growth: needed.append(size)
    )
    ledger = library.data_dir / "footnote.db"
    log = ledger.with_name("footnote.db-wal")
    library.load(DictLoader({"leave.md": LEAVE}), confirm_removals=True)
    assert log.stat().st_size > 0
    expected = ledger.stat().st_size + log.stat().st_size
    with library_copy(library.data_dir, ledger, ignore):
        assert needed == [expected]


def test_a_ledger_that_is_no_database_is_reported(library):
    (library.data_dir / "other.db").write_bytes(b"x" * 5000)
    with pytest.raises(StorageError, match="The ledger can't be copied .*not a database"):
        with library_copy(library.data_dir, library.data_dir / "other.db", ignore):
            pytest.fail("a copy of a damaged ledger")


class Uploads:
    """An upload box of real services."""

    def __init__(self, services):
        self.services = services
        self.data_dir = services.parts.settings.data_dir
        self.box = self.write("leave.md", b"# Leave\n\n25 days.").source_id
        self.write("vpn.md", b"# VPN\n\nWireGuard.")
        self.import_all()

    def write(self, name, content):
        return self.services.uploads.add(LOCAL_USER, [(name, content)])

    def delete_once(self):
        if "vpn.md" in self.services.uploads.keys(LOCAL_USER, self.box):
            self.services.uploads.delete(LOCAL_USER, self.box, "vpn.md")
            self.import_all()

    def import_all(self):
        self.services.sources.refresh(LOCAL_USER, self.box)
        assert self.services.worker.run_next()

    def copied(self):
        with library_copy(self.data_dir, self.data_dir / "footnote.db", ignore) as copy:
            return {path.name: path.read_bytes() for path in (copy / "uploads").rglob("*.md")}


@pytest.fixture
def uploads(build_services):
    return Uploads(build_services(embed=True))


@pytest.fixture
def before_snapshot(monkeypatch):
    """Registers a function that runs between the first look at uploads and the snapshot."""

    def register(function):
        copy_index = module._copy_index
        monkeypatch.setattr(module, "_copy_index", lambda *a: (function(), copy_index(*a)))

    return register


@pytest.fixture
def after_snapshot(monkeypatch):
    """Registers a function that runs between the snapshot and the second look at uploads."""

    def register(function):
        copy_index = module._copy_index
        monkeypatch.setattr(module, "_copy_index", lambda *a: (copy_index(*a), function()))

    return register


def test_an_upload_that_is_deleted_after_the_snapshot_is_in_the_copy(uploads, after_snapshot):
    after_snapshot(uploads.delete_once)
    assert set(uploads.copied()) == {"leave.md", "vpn.md"}
    assert set(uploads.copied()) == {"leave.md"}


def test_an_upload_that_is_deleted_before_the_snapshot_does_not_come_back(uploads, before_snapshot):
    before_snapshot(uploads.delete_once)
    assert set(uploads.copied()) == {"leave.md"}


def test_the_newest_content_of_a_replaced_upload_is_in_the_copy(uploads, before_snapshot):
    def replace():
        uploads.write("vpn.md", b"# VPN\n\nOpenVPN, since today.")
        uploads.import_all()

    before_snapshot(replace)
    assert uploads.copied()["vpn.md"] == b"# VPN\n\nOpenVPN, since today."


def test_an_upload_is_not_overwritten_through_a_link_in_the_copy(tmp_path, request):
    """Without links, the contents of another file are copied, and must not follow the link."""
    upload, copy, newer = (tmp_path / name for name in ("upload.md", "copy.md", "newer.md"))
    upload.write_text("An upload.")
    newer.write_text("A newer version.")
    for link in (copy, tmp_path / ".part"):  # the second one as an earlier version left it
        os.link(upload, link)
    request.getfixturevalue("no_links")
    module._link(newer, copy)
    assert (copy.read_text(), upload.read_text()) == ("A newer version.", "An upload.")


def test_incomplete_uploads_and_links_are_not_copied(uploads, tmp_path):
    box = uploads.data_dir / "uploads"
    (box / ".tmp123.part").write_text("half")
    (box / "link.md").symlink_to(tmp_path)
    with library_copy(uploads.data_dir, uploads.data_dir / "footnote.db", ignore) as copy:
        names = {path.name for path in (copy / "uploads").rglob("*") if not path.is_dir()}
    assert names == {"leave.md", "vpn.md"}
