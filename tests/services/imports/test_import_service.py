import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from domain import LOCAL_USER, ImportKind, ImportState, Outcome, Principal, Stage
from domain.errors import (
    BusyError,
    ModelUnavailableError,
    NotFoundError,
    SourceError,
    UnreadableError,
)
from loaders.directory_loader import DirectoryLoader
from services.imports.import_run import ImportTask
from services.imports.index_writer import IndexWriter
from storage.ledger.import_queue_store import ImportRuns
from storage.safe_writes import writer_lock
from tests.fakes.library import DictLoader, Library

ROOT = Path(__file__).parents[3]


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path / "data")


def outcomes(report):
    return {item.key: item.outcome for item in report.items}


def documents(count, words=3):
    return {f"{n:03}.txt": f"document {n}. " * words for n in range(count)}


def test_an_import_brings_the_library_up_to_date(library):
    loader = DictLoader({"same": "one", "edited": "two", "gone": "three"})
    first = library.load(loader)
    del loader.texts["gone"]
    loader.texts |= {"edited": "two and more", "new": "four"}
    second = library.load(loader)

    assert first.state is second.state is ImportState.COMPLETED
    assert set(outcomes(first).values()) == {Outcome.NEW}
    assert outcomes(second) == {
        "same": Outcome.UNCHANGED,
        "edited": Outcome.CHANGED,
        "gone": Outcome.REMOVED,
        "new": Outcome.NEW,
    }
    assert library.texts() == loader.texts
    assert library.check().agrees
    assert library.imports.report(LOCAL_USER, second.id) == second
    assert library.imports.latest(LOCAL_USER, library.source) == second


def test_unchanged_documents_are_neither_read_nor_embedded(library):
    loader = DictLoader(documents(100))
    library.load(loader)
    reads, texts = len(loader.reads), library.embeddings.texts
    loader.texts["007.txt"] = "another text"
    report = library.load(loader)

    assert loader.reads[reads:] == ["007.txt"]
    assert report.passages_embedded == library.embeddings.texts - texts == 1


UNCHANGED_RUN = """
import sys
from pathlib import Path
from domain import LOCAL_USER
from loaders.directory_loader import DirectoryLoader
from services.access import Access
from services.imports.import_service import ImportService
from storage.ledger.database import open_database
from storage.ledger.restriction_store import Restrictions
from storage.index_stores import IndexStores
from storage.ledger.index_store import IndexSpec
from storage.ledger.source_store import Sources
data, docs = map(Path, sys.argv[1:])
database = open_database(data)
access = Access(Sources(database), Restrictions(database))
spec = IndexSpec({}, "hashing", "1", 1, 0)
service = ImportService(database, access, IndexStores(data, None), spec, 1)
source = Sources(database).ensure("directory", str(docs), name="docs")
report = service.run(LOCAL_USER, source, DirectoryLoader(docs))
slow = {"deeplake", "tantivy", "onnxruntime", "numpy", "loaders.split", "pypdf", "docx"}
print(report.state, len(report.items), sorted(slow & sys.modules.keys()))
"""


def test_a_run_without_changes_loads_no_slow_libraries(library, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("hello")
    source = library.sources.ensure("directory", str(docs), name="docs")
    library.load(DirectoryLoader(docs), source=source)
    library.database.close()

    command = [sys.executable, "-c", UNCHANGED_RUN, str(library.data_dir), str(docs)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.stdout.strip() == "completed 1 []", process.stderr


def test_two_documents_with_the_same_text_are_imported_separately(library):
    library.load(DictLoader({"a": "the same words", "b": "the same words"}))
    passages = library.active.passages.similarity_search("the same words", k=5)
    assert sorted(passage.metadata["key"] for passage in passages) == ["a", "b"]


def test_headings_and_titles_are_searched_without_changing_the_passage(library):
    text = "# Holidays\n\n## Overtime\n\nAsk your manager first."
    library.load(DictLoader({"handbook.md": text, "x.md": "Ask your manager first."}))
    [(best, _), *_] = library.active.keywords.search("overtime handbook", k=1)
    [passage] = library.documents.hydrate([best])

    assert passage.metadata["key"] == "handbook.md"
    assert passage.page_content in text


def test_each_passage_has_metadata_for_filters(library):
    library.load(DictLoader({"ko": "회사 휴가는 15일입니다.", "en": "Fifteen days."}))
    passages = library.active.passages.similarity_search("days", filter={"script": "korean"})
    assert [passage.metadata["key"] for passage in passages] == ["ko"]
    assert passages[0].metadata["source_id"] == library.source.id


def test_an_unreadable_document_is_reported_and_the_others_are_imported(library):
    loader = DictLoader(documents(3), broken={"001.txt": "it is encrypted"})
    report = library.load(loader)

    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.message == "1 could not be read"
    [failed] = [item for item in report.items if item.outcome is Outcome.FAILED]
    assert (failed.key, failed.reason) == ("001.txt", "it is encrypted")
    assert set(library.texts()) == {"000.txt", "002.txt"}


def test_an_unreadable_document_is_read_once_and_reported_each_time(library):
    loader = DictLoader(documents(3), broken={"001.txt": "it is encrypted"})
    reports = [library.load(loader) for _ in range(3)]

    assert loader.reads.count("001.txt") == 1
    assert {report.state for report in reports} == {ImportState.COMPLETED_WITH_ERRORS}
    loader.texts["001.txt"] = "mended"
    loader.broken.clear()
    assert library.load(loader).state is ImportState.COMPLETED
    assert library.texts() == loader.texts


def test_a_document_without_read_permission_is_retried_by_each_import(library):
    class Refusing(DictLoader):
        def read(self, ref):
            self.reads.append(ref.key)
            raise UnreadableError("no permission") from PermissionError("denied")

    loader = Refusing({"a": "text"})
    library.load(loader)
    library.load(loader)
    assert loader.reads == ["a", "a"]


def test_an_unreadable_new_version_leaves_the_older_one_in_use(library):
    loader = DictLoader({"a": "the old words"})
    library.load(loader)
    loader.texts["a"] = "new words"
    loader.broken["a"] = "it is truncated"
    for _ in range(2):
        [item] = library.load(loader).items
        assert item.reason == "it is truncated (the version imported earlier stays in use)"
    assert library.texts() == {"a": "the old words"}

    loader.texts["a"] = "the old words"
    assert outcomes(library.load(loader)) == {"a": Outcome.UNCHANGED}
    assert library.import_store.failures(library.source.id) == {}


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 a pair"])
def test_a_text_that_cannot_be_stored_is_a_failed_item(library, text):
    class Odd(DictLoader):
        def read(self, ref):
            document = super().read(ref)
            document.page_content = text
            return document

    report = library.load(Odd({"a": "x"}))
    assert outcomes(report) == {"a": Outcome.FAILED}


def test_a_new_reader_version_reads_everything_again(library):
    loader = DictLoader(documents(5))
    library.load(loader)
    newer = Library(library.data_dir, formats=2)
    report = newer.load(loader)

    assert report.count(Outcome.CHANGED) == 5
    assert newer.load(loader).count(Outcome.UNCHANGED) == 5
    assert newer.check().agrees


def test_passages_of_a_new_reader_version_have_new_ids(library):
    library.load(DictLoader({"a": "the same bytes"}))
    newer = Library(library.data_dir, formats=2)
    before = newer.documents.passage_ids(newer.indexes.active().id)
    newer.load(DictLoader({"a": "the same bytes"}))
    assert not before & newer.documents.passage_ids(newer.indexes.active().id)


def test_an_import_deletes_leftovers_of_an_earlier_one(library):
    loader = DictLoader({"a": "text"})
    library.load(loader)
    library.imports._active.ledger.stage(library.indexes.active().id, ["left"])
    library.active.keywords.add([("left", "words")])
    assert not library.check().agrees
    library.load(loader)
    assert library.check().agrees


def test_documents_of_an_unlistable_folder_are_retained(library):
    loader = DictLoader({"open/a": "one", "closed/b": "two"})
    library.load(loader)
    loader.hidden["closed/"] = "permission denied"
    report = library.load(loader)

    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert outcomes(report)["closed/b"] is Outcome.RETAINED
    assert library.texts() == loader.texts


def test_documents_of_an_emptied_source_are_retained_until_confirmation(library):
    library.load(DictLoader(documents(12)))
    remaining = DictLoader({"000.txt": "document 0. " * 3, "new.txt": "added"})
    report = library.load(remaining)

    assert report.state is ImportState.NEEDS_CONFIRMATION
    assert "11 documents" in report.message
    assert "--confirm-removals" in report.message
    assert report.count(Outcome.RETAINED) == 11
    assert report.count(Outcome.NEW) == 1, "other changes are imported"
    assert len(library.texts()) == 13

    confirmed = library.load(remaining, confirm_removals=True)
    assert confirmed.state is ImportState.COMPLETED
    assert confirmed.count(Outcome.REMOVED) == 11
    assert library.texts() == remaining.texts
    assert library.check().agrees


def test_a_file_deleted_during_an_import_fails_now_and_is_ignored_next_time(library, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"the words of {name}")

    def disturb(progress):
        if progress.stage is Stage.READING and progress.key == "b.txt":
            (folder / "b.txt").unlink()

    first = library.load(DirectoryLoader(folder), on_progress=disturb)
    assert outcomes(first) == {"a.txt": Outcome.NEW, "b.txt": Outcome.FAILED}
    second = library.load(DirectoryLoader(folder))
    assert (second.state, len(second.items)) == (ImportState.COMPLETED, 1)
    assert library.import_store.failures(library.source.id) == {}


def test_a_file_edited_during_an_import_is_stored_as_it_was_read(library, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    file = folder / "a.txt"
    file.write_text("the first words")

    def disturb(progress):
        if progress.stage is Stage.READING and progress.key == "a.txt":
            file.write_text("the second words")

    library.load(DirectoryLoader(folder), on_progress=disturb)
    assert library.texts() == {"a.txt": "the second words"}
    report = library.load(DirectoryLoader(folder))
    assert outcomes(report) == {"a.txt": Outcome.UNCHANGED}


def test_two_sources_are_independent(library):
    other = library.sources.ensure("directory", "/other", name="other")
    library.load(DictLoader({"a": "one"}))
    library.load(DictLoader({"a": "another one", "b": "two"}), source=other)
    library.load(DictLoader({}))

    assert library.texts() == {}
    assert set(library.documents.versions(other.id)) == {"a", "b"}
    assert library.check().agrees


def test_an_unlistable_source_changes_nothing(library):
    class Unlisted(DictLoader):
        def list(self, before):
            yield from list(super().list(before))[:1]
            raise SourceError("/docs is not there")

    library.load(DictLoader(documents(3)))
    with pytest.raises(SourceError):
        library.load(Unlisted(documents(3)))
    report = library.import_store.latest(library.source.id)
    assert report.state is ImportState.FAILED
    assert "/docs is not there" in report.message
    assert len(library.texts()) == 3


def test_after_a_failing_model_the_next_import_resumes(library):
    class Failing:
        def embed_documents(self, texts):
            if library.texts():
                raise ModelUnavailableError("the endpoint is overloaded")
            return library.embeddings.embed_documents(texts)

    loader = DictLoader(documents(150))
    stores = library.stores
    failing = Failing()
    stores._embeddings_for = lambda _: failing
    with pytest.raises(ModelUnavailableError):
        library.load(loader)
    assert library.import_store.latest(library.source.id).state is ImportState.FAILED
    assert len(library.texts()) == 64, "the first batch is stored"
    assert library.check().agrees

    again = Library(library.data_dir)
    report = again.load(loader)
    assert (report.count(Outcome.UNCHANGED), report.count(Outcome.NEW)) == (64, 86)


def test_a_canceled_import_keeps_its_documents_and_the_next_resumes(library):
    loader = DictLoader(documents(200))
    stopped = library.load(loader, cancelled=lambda: len(loader.reads) >= 130)

    assert stopped.state is ImportState.CANCELLED
    assert stopped.count(Outcome.NEW) == len(library.texts()) == 128
    assert library.check().agrees
    assert library.load(loader).count(Outcome.NEW) == 72
    assert library.texts() == loader.texts


def test_a_removal_can_be_canceled_between_batches(library):
    library.load(DictLoader(documents(510, words=1)))
    reports = []
    stopped = library.load(
        DictLoader(),
        on_progress=reports.append,
        cancelled=lambda: bool(reports) and reports[-1].stage is Stage.REMOVING,
        confirm_removals=True,
    )
    assert stopped.state is ImportState.CANCELLED
    assert stopped.count(Outcome.REMOVED) == 500
    assert len(library.texts()) == 10
    assert library.check().agrees


def test_a_cancellation_while_the_stores_load_removes_nothing(library, monkeypatch):
    library.load(DictLoader({"a": "one", "b": "two"}))
    loaded = []
    monkeypatch.setattr(IndexWriter, "load", lambda self: loaded.append(self))
    stopped = library.load(DictLoader({"a": "one"}), cancelled=lambda: bool(loaded))
    assert stopped.state is ImportState.CANCELLED
    assert library.texts() == {"a": "one", "b": "two"}


def test_a_keyboard_interrupt_is_a_cancellation(library):
    def interrupt(progress):
        if progress.stage is Stage.READING and progress.done == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.load(DictLoader(documents(200)), on_progress=interrupt)
    report = library.import_store.latest(library.source.id)
    assert report.state is ImportState.CANCELLED
    assert len(library.texts()) == 64
    assert library.check().agrees


def test_progress_never_decreases_and_ends_complete(library):
    reports = []
    library.load(DictLoader(documents(100)), on_progress=reports.append)
    importing = [progress for progress in reports if progress.stage is Stage.READING]

    assert [progress.done for progress in importing] == list(range(101))
    assert {progress.total for progress in importing} == {100}
    assert importing[-1].passages == library.embeddings.texts
    assert importing[-1].passages == importing[-1].read == importing[-1].expected
    shares = [progress.share for progress in reports if progress.expected]
    assert shares[-1] == 1


def test_progress_moves_within_a_large_document(library):
    reports = []
    library.load(DictLoader({"book": "Some words. " * 20_000}), on_progress=reports.append)
    shares = [one.share for one in reports if one.stage is Stage.EMBEDDING]
    assert len(shares) > 5
    assert shares == sorted(set(shares))
    assert shares[-1] < 1


def test_a_dry_run_tells_the_next_import_how_many_passages_to_expect(library):
    loader, reports = DictLoader({**documents(10), "book": "Some words. " * 20_000}), []
    run = ImportRuns(library.database).enqueue(library.source.id, "anna", ImportKind.DRY_RUN, {})
    library.leases.claim("w")
    library.imports.dry_run(ImportTask(run.id, "w", library.source, loader))
    library.leases.settle(run.id, "w", ImportState.COMPLETED, message="", seconds=1)
    library.load(loader, on_progress=reports.append)
    reading = [one for one in reports if one.stage is Stage.READING]
    assert {one.expected for one in reading} == {library.embeddings.texts}


def test_a_concurrent_import_is_rejected(library, monkeypatch):
    monkeypatch.setattr("services.imports.import_service.FIRST_STEP_TIMEOUT_S", 0.1)
    locked, release = threading.Event(), threading.Event()

    def hold():
        with writer_lock(library.data_dir):
            locked.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(10)
    try:
        with pytest.raises(BusyError):
            library.load(DictLoader({"a": "x"}))
    finally:
        release.set()
        holder.join()
    assert library.load(DictLoader({"a": "x"})).state is ImportState.COMPLETED


def test_with_changed_settings_an_import_still_writes_to_the_active_index(library):
    library.load(DictLoader({"a": "one. " * 100}))
    changed = Library(library.data_dir, size=500, model="another")
    changed.load(DictLoader({"a": "one. " * 100, "b": "two. " * 200}))

    assert changed.requested_models == ["hashing"]
    index_id = changed.indexes.active().id
    passages = changed.documents.passages(
        changed.documents.versions(changed.source.id)["b"].document_id, index_id
    )
    assert max(len(passage.text) for passage in passages) <= 200
    assert changed.check().agrees


def test_an_unknown_import_is_not_found(library):
    with pytest.raises(NotFoundError):
        library.imports.report(LOCAL_USER, "nothing")


def test_the_report_of_the_source_of_another_user_is_not_found(library):
    berts = library.sources.ensure("upload", "/b", name="b", options={"user_id": "bert"})
    report = library.load(DictLoader({"a": "one"}), source=berts)
    assert library.imports.report(Principal("bert"), report.id).count(Outcome.NEW) == 1
    with pytest.raises(NotFoundError):
        library.imports.report(LOCAL_USER, report.id)


WORDS = "vacation server deploy expense 휴가 서버 배포 休暇 規定 invoice laptop".split()  # noqa: SIM905


def scramble(rng, folder):
    """Change the folder like users: write, edit, delete, rename, and move files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for _ in range(rng.randint(1, 8)):
        fresh = (
            folder
            / rng.choice(["", "a", "b/c"])
            / f"{rng.randrange(30)}.{rng.choice(['md', 'txt'])}"
        )
        action = rng.random()
        if action < 0.5 or not files:
            fresh.parent.mkdir(parents=True, exist_ok=True)
            words = " ".join(rng.choices(WORDS, k=rng.randint(1, 200)))
            fresh.write_text(f"# {rng.choice(WORDS)}\n\n{words}", encoding="utf-8")
        elif action < 0.75:
            rng.choice(files).unlink(missing_ok=True)
        elif (source := rng.choice(files)).exists():
            fresh.parent.mkdir(parents=True, exist_ok=True)
            source.replace(fresh)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_after_any_history_the_library_equals_the_folder(tmp_path, seed):
    rng = random.Random(seed)
    folder = tmp_path / "docs"
    folder.mkdir()
    library = Library(tmp_path / "data")
    for _ in range(8):
        scramble(rng, folder)
        loader = DirectoryLoader(folder)
        if rng.random() < 0.3:
            calls = iter(range(rng.randint(0, 40)))
            library.load(loader, cancelled=lambda calls=calls: next(calls, None) is None)
            assert library.check().agrees
            continue
        library.load(loader, confirm_removals=True)
        assert library.texts() == {ref.key: loader.read(ref).page_content for ref in loader.list()}
        report = library.check()
        assert report.agrees, report.disagreements
