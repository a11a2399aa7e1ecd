import sqlite3
import threading
from pathlib import Path

import pytest

from domain import LOCAL_USER, CancelledError
from domain.errors import ConflictError, DamagedLedgerError, StorageError
from services.backups.backup_service import BackupService, restore_backup
from services.long_work import ignore
from storage.backups.backup_file import read_manifest
from storage.backups.library_id import library_id
from storage.ledger.database import HEAD
from tests.fakes.library import DictLoader, Library, filled_library

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path / "data", {"leave.md": "New employees get 25 days."})


def evidence(turn):
    return [(one.state, one.quote, one.start, one.end, one.n) for one in turn.citations]


def test_a_restored_library_gives_the_same_answer_with_the_same_citation(
    build_services, imported, tmp_path
):
    services = imported(embed=True)
    uploaded = services.uploads.add(LOCAL_USER, [("rules.md", b"# Lunch\n\nLunch is at noon.")])
    services.sources.refresh(LOCAL_USER, uploaded.source_id)
    assert services.worker.run_next()
    before = services.chat.ask(LOCAL_USER, QUESTION)
    assert "25 days" in before.citations[0].quote
    backup = services.backups.back_up(LOCAL_USER, tmp_path)

    restore_backup(backup.file, tmp_path / "restored", ignore)
    restored = build_services(data_dir=tmp_path / "restored", embed=True)
    assert restored.maintenance.check(LOCAL_USER).agrees
    after = restored.chat.ask(LOCAL_USER, QUESTION)
    assert (after.answer, evidence(after)) == (before.answer, evidence(before))
    assert restored.conversations.get(LOCAL_USER, before.conversation_id).title
    restored.sources.refresh(LOCAL_USER, uploaded.source_id)
    run = restored.queue.current(LOCAL_USER)[0]
    assert restored.worker.run_next()
    assert restored.queue.get(LOCAL_USER, run.id).counts == {"unchanged": 1}


def test_the_manifest_says_what_was_backed_up(library, tmp_path):
    backup = BackupService(library.data_dir, library.audit).back_up(LOCAL_USER, tmp_path)
    manifest = read_manifest(backup.file)
    assert manifest == backup.manifest
    assert (manifest.schema, manifest.library) == (HEAD, library_id(library.data_dir))
    assert manifest.counts["documents"] == 1
    name = f"footnote-{manifest.created_at:%Y-%m-%d-%H%M%S}-{manifest.library[:8]}.tar.gz"
    assert backup.file.name == name
    assert not manifest.is_scheduled


def test_an_upload_that_cannot_be_read_is_named(library, tmp_path, monkeypatch):
    (library.data_dir / "uploads").mkdir()
    (library.data_dir / "uploads" / "rules.md").write_text("Lunch is at noon.")
    path_open = Path.open

    def refuse(path, *arguments, **options):
        if path.name == "rules.md":
            raise PermissionError(13, "Permission denied", str(path))
        return path_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StorageError, match=r"uploads/rules.md in the .* \(Permission denied\)"):
        BackupService(library.data_dir, library.audit).back_up(LOCAL_USER, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_progress_is_reported_and_a_cancellation_leaves_nothing(library, tmp_path):
    seen = []
    service = BackupService(library.data_dir, library.audit)
    service.back_up(LOCAL_USER, tmp_path / "a", on_progress=seen.append)
    assert {one.stage.value for one in seen} == {"reading", "writing"}
    assert all(one.done <= one.total for one in seen)
    with pytest.raises(CancelledError):
        service.back_up(LOCAL_USER, tmp_path / "b", cancelled=lambda: True)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "data"}
    assert not (library.data_dir / ".backup" / "copy").exists()


def test_a_damaged_ledger_is_not_backed_up(library, tmp_path):
    library.database.close()
    file = library.data_dir / "footnote.db"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE indexes SET state = 'active', spec = 'no JSON'")
    with pytest.raises(DamagedLedgerError, match=f"The ledger {file} is damaged"):
        BackupService(library.data_dir, library.audit).back_up(LOCAL_USER, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_ledger_at_another_place_is_backed_up(build_services, imported, tmp_path):
    elsewhere = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    services = imported(embed=True, database_url=elsewhere)
    backup = services.backups.back_up(LOCAL_USER, tmp_path / "b")
    restore_backup(backup.file, tmp_path / "restored", ignore)
    restored = build_services(data_dir=tmp_path / "restored", embed=True)
    assert restored.maintenance.check(LOCAL_USER).documents == 4


def test_a_ledger_on_a_server_must_be_backed_up_with_its_own_tools(tmp_path):
    url = "postgresql://footnote@localhost/footnote"
    with pytest.raises(ConflictError, match="FOOTNOTE_DATABASE_URL is not an SQLite file.*pg_dump"):
        BackupService(tmp_path, None, url).back_up(LOCAL_USER, tmp_path / "b")


def test_the_key_file_is_named_if_there_is_one(library):
    service = BackupService(library.data_dir, library.audit)
    assert service.key_file is None
    (library.data_dir / "encryption.key").write_text("key")
    assert service.key_file == library.data_dir / "encryption.key"


def test_a_missing_folder_is_reported(library, tmp_path):
    with pytest.raises(StorageError, match="nowhere/b can't be written"):
        BackupService(library.data_dir, library.audit).back_up(
            LOCAL_USER, tmp_path / "nowhere" / "b"
        )


class Changes(threading.Thread):
    """Imports, edits, and deletes documents and uploads until it is stopped."""

    def __init__(self, data_dir):
        super().__init__()
        self.library = Library(data_dir)
        self.box = data_dir / "uploads" / "box"
        self.source = self.library.sources.ensure("upload", "uploads/box", name="Uploads")
        self.stopped, self.rounds = threading.Event(), 0

    def texts(self):
        """Three documents, one of which is new, one changed, and one removed in each round."""
        return {
            f"{number}.md": f"Document {number}, version {max(number, self.rounds - 1)}."
            for number in range(self.rounds, self.rounds + 3)
        }

    def change(self):
        texts = self.texts()
        self.box.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (self.box / f".{name}").write_text(text)
            (self.box / f".{name}").replace(self.box / name)
        loader = DictLoader(texts)
        self.library.load(loader, confirm_removals=True)
        self.library.load(loader, source=self.source, confirm_removals=True)
        for path in self.box.iterdir():
            if path.name not in texts:
                path.unlink()
        self.rounds += 1

    def run(self):
        while not self.stopped.is_set():
            self.change()


def require_consistent(file, folder):
    """Restore a backup and compare documents, index, and uploads."""
    restore_backup(file, folder, ignore)
    restored = Library(folder)
    restored.maintenance.recover()
    report = restored.check()
    assert report.agrees, report.disagreements
    box = restored.sources.find("upload", "uploads/box")
    known = restored.documents.versions(box.id)
    for key, version in known.items():
        text = (folder / "uploads" / "box" / key).read_text()
        assert text.split(",")[0] == restored.documents.text(version.document_id).split(",")[0]
    assert restored.embeddings.texts == 0
    return report.documents


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, pytest.param(12, marks=pytest.mark.timeout(900))])
def test_backups_during_imports_edits_and_deletions_are_consistent(tmp_path, rounds):
    changes = Changes(tmp_path / "data")
    changes.change()
    service = BackupService(changes.library.data_dir, changes.library.audit)
    files = {}
    changes.start()
    try:
        while len({began for began, _number in files}) <= rounds:
            name = (changes.rounds, len(files))
            files[name] = service.back_up(LOCAL_USER, tmp_path / f"{len(files)}.tar.gz").file
    finally:
        changes.stopped.set()
        changes.join()
    for (_began, number), file in files.items():
        assert require_consistent(file, tmp_path / f"restored{number}") >= 3
    assert changes.library.check().agrees
