import logging
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain import LOCAL_USER, ImportState, Stage, TurnState
from domain.errors import BusyError, StorageError, StorageUnavailableError
from storage.index_stores import EmbeddedStore, IndexStores
from storage.ledger.conversation_store import Conversations
from storage.ledger.index_store import Indexes
from storage.processes import process_name
from storage.safe_writes import writer_lock
from tests.fakes.library import DEAD, DictLoader, Library, filled_library


def documents(count):
    return {f"{n:03}.txt": f"document number {n}. " * 40 for n in range(count)}


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path, documents(60))


def status(library):
    return library.maintenance.status(LOCAL_USER)


def folders(library):
    return [path.name for path in (library.data_dir / "indexes").iterdir()]


class TestStatus:
    def test_before_the_first_import_no_reindex_is_needed(self, tmp_path):
        result = status(Library(tmp_path))
        assert (result.active, result.passages, result.message) == (None, 0, "")

    def test_with_unchanged_settings_no_reindex_is_needed(self, library):
        assert not status(Library(library.data_dir)).needs_reindex

    @pytest.mark.parametrize("change", [{"model": "another"}, {"size": 150}, {"overlap": 0}])
    def test_with_changed_settings_the_status_has_the_number_of_passages_to_embed(
        self, library, change
    ):
        result = status(Library(library.data_dir, **change))
        assert result.needs_reindex
        assert f"embed {result.passages} passages again" in result.message
        assert result.passages == len(library.active.passages)


class TestReindex:
    def test_the_old_index_is_searched_until_the_new_one_is_active(self, library):
        changed = Library(library.data_dir, model="another", size=150)
        old = changed.indexes.active()
        answers = []

        def search(progress):
            assert progress.stage is Stage.INDEXING
            store = changed.stores.open(changed.indexes.active())
            best = store.passages.similarity_search("number 7", k=3)
            answers.append((store.index.id, len(changed.documents.hydrate([b.id for b in best]))))

        report = changed.reindex(on_progress=search)
        assert len(answers) > 1
        assert set(answers) == {(old.id, 3)}
        assert report.passages_embedded == status(changed).passages
        assert not status(changed).needs_reindex
        assert changed.check().agrees
        assert folders(changed) == [changed.indexes.active().id] != [old.id]

    def test_an_interrupted_reindex_resumes_where_it_stopped(self, library):
        changed = Library(library.data_dir, model="another")
        reports = []
        stopped = changed.reindex(on_progress=reports.append, interrupted=lambda: len(reports) > 0)
        assert stopped is None
        assert status(changed).needs_reindex
        assert changed.check().agrees, "the active index is untouched"

        rest = Library(library.data_dir, model="another").reindex()
        total = reports[-1].passages + rest.passages_embedded
        assert 0 < rest.passages_embedded < total == status(changed).passages
        assert changed.check().agrees

    def test_a_resumed_reindex_includes_an_import_in_between(self, library):
        changed = Library(library.data_dir, model="another")
        reports = []
        changed.reindex(on_progress=reports.append, interrupted=lambda: len(reports) > 1)
        texts = documents(58) | {"000.txt": "changed in between", "new.txt": "and a new one"}
        changed.load(DictLoader(texts))
        assert changed.check().agrees

        changed.reindex()
        assert changed.texts() == texts
        report = changed.check()
        assert report.agrees, report.disagreements

    def test_a_resumed_reindex_deletes_documents_removed_in_between(self, library):
        changed = Library(library.data_dir, model="another")
        reports = []
        changed.reindex(on_progress=reports.append, interrupted=lambda: len(reports) > 0)
        missing = set(changed.documents.ids(missing_in=changed.indexes.building().id))
        versions = changed.documents.versions(changed.source.id)
        indexed = sorted(
            key for key, version in versions.items() if version.document_id not in missing
        )
        changed.load(DictLoader({key: documents(60)[key] for key in indexed[5:]}))

        assert changed.reindex().passages_embedded == 0
        report = changed.check()
        assert report.agrees, report.disagreements

    def test_a_reindex_for_other_settings_restarts(self, library):
        for model in ("second", "third"):
            reports = []
            changed = Library(library.data_dir, model=model)
            changed.reindex(
                on_progress=reports.append, interrupted=lambda reports=reports: len(reports) > 0
            )
        assert len(folders(library)) == 2, "the active index and the one for `third`"
        changed.reindex()
        assert changed.requested_models == ["third"]
        assert changed.check().agrees
        assert len(folders(library)) == 1

    def test_a_damaged_unfinished_index_is_rebuilt(self, library):
        changed = Library(library.data_dir, model="another")
        reports = []
        changed.reindex(on_progress=reports.append, interrupted=lambda: len(reports) > 0)
        shutil.rmtree(changed.stores.folder(changed.indexes.building().id))

        again = Library(library.data_dir, model="another")
        again.reindex()
        assert again.check().agrees

    def test_an_empty_library_has_nothing_to_embed(self, tmp_path):
        library = Library(tmp_path)
        assert library.reindex().passages_embedded == 0
        library.load(DictLoader({"a": "now there is one"}))
        assert library.check().agrees


class TestAnUnreachableCluster:
    """The cluster fails after the new index has become active."""

    @staticmethod
    def fail(*_arguments):
        raise StorageUnavailableError("off")

    @pytest.mark.parametrize(
        ("owner", "call"), [(EmbeddedStore, "publish"), (IndexStores, "delete")]
    )
    def test_the_reindex_is_complete_and_the_next_start_does_the_rest(
        self, library, monkeypatch, owner, call
    ):
        changed = Library(library.data_dir, model="another")
        with monkeypatch.context() as patch:
            patch.setattr(owner, call, self.fail)
            changed.reindex()
        assert len(changed.indexes.retired_indexes()) == 1
        assert changed.check().agrees

        again = Library(library.data_dir, model="another")
        again.maintenance.recover()
        assert status(again).problem == ""
        assert again.indexes.retired_indexes() == []
        assert folders(again) == [again.indexes.active().id]

    def test_an_index_that_cannot_be_deleted_does_not_keep_garbage(self, library):
        changed = Library(library.data_dir, model="another")
        changed.stores.delete = self.fail
        changed.reindex()
        ledger, index_id = changed.imports._active.ledger, changed.indexes.active().id
        ledger.stage(index_id, ["waiting"])
        changed.maintenance.recover()
        assert list(ledger.discards(index_id)) == []
        assert status(changed).problem == ""
        assert len(changed.indexes.retired_indexes()) == 1


class TestRecover:
    def test_recovering_a_sound_library_changes_nothing(self, library):
        texts = library.texts()
        library.maintenance.recover()
        assert library.texts() == texts
        assert library.check().agrees
        assert status(library).problem == ""

    def test_recovering_a_busy_library_is_postponed_and_logged(self, library, caplog):
        with (
            caplog.at_level(logging.INFO, "footnote"),
            writer_lock(library.data_dir),
            ThreadPoolExecutor(1) as threads,
        ):
            threads.submit(library.maintenance.recover).result()
        assert status(library).problem == ""
        assert "recovery postponed" in caplog.text

    def test_an_import_left_in_the_running_state_is_marked(self, library):
        import_id = library.leases.start(library.source.id, "anna", DEAD)
        library.maintenance.recover()
        assert library.import_store.get(import_id).state is ImportState.INTERRUPTED

    def test_a_turn_left_in_the_running_state_is_marked(self, library):
        conversations = Conversations(library.database)
        conversation = conversations.create(LOCAL_USER, "x")
        conversations.start_turn(LOCAL_USER, conversation.id, "?")
        library.maintenance.recover()
        [turn] = conversations.turns(LOCAL_USER, conversation.id)
        assert turn.state is TurnState.INCOMPLETE

    def test_an_import_of_a_living_process_is_unchanged(self, library):
        running = library.leases.start(library.source.id, "anna", process_name())
        with writer_lock(library.data_dir), ThreadPoolExecutor(1) as threads:
            threads.submit(library.maintenance.recover).result()
        assert library.import_store.get(running).state is ImportState.RUNNING

    def test_a_damaged_index_is_reported_and_does_not_prevent_the_start(self, library):
        library.imports._active.ledger.stage(library.indexes.active().id, ["waiting"])
        shutil.rmtree(library.stores.folder(library.indexes.active().id))
        again = Library(library.data_dir)

        again.maintenance.recover()
        assert "reindex" in status(again).problem
        again.reindex()
        assert again.check().agrees

    def test_a_missing_index_is_reported_by_the_status_until_a_reindex(self, library):
        shutil.rmtree(library.stores.folder(library.indexes.active().id))
        started, elsewhere = Library(library.data_dir), Library(library.data_dir)
        started.maintenance.recover()
        assert "is missing: rebuild it" in status(started).problem

        elsewhere.reindex()
        assert status(started).problem == ""

    def test_a_retired_index_is_deleted_after_an_interrupted_deletion(self, library):
        old = library.indexes.active().id
        changed = Library(library.data_dir, model="another")
        changed.stores.delete = lambda index: False
        changed.reindex()
        assert sorted(folders(library)) == sorted([old, changed.indexes.active().id])

        again = Library(library.data_dir, model="another")
        again.maintenance.recover()
        assert folders(again) == [again.indexes.active().id]
        assert again.indexes.retired_indexes() == []
        assert again.check().agrees


def test_an_index_that_cannot_be_recorded_leaves_no_folder(library, monkeypatch):
    def fail(_indexes, _index):
        raise StorageError("the disk is full")

    other, before = Library(library.data_dir, size=100), folders(library)
    with monkeypatch.context() as full:
        full.setattr(Indexes, "add", fail)
        with pytest.raises(StorageError, match="full"):
            other.reindex()
    assert folders(library) == before
    other.reindex()
    assert len(folders(library)) == 1


def test_check_and_reindex_fail_while_another_process_writes(library, monkeypatch):
    monkeypatch.setattr("services.imports.maintenance._LOCK_TIMEOUT_S", 0.1)
    rejected = []

    def attempt():
        for call in (library.check, library.reindex):
            with pytest.raises(BusyError):
                call()
            rejected.append(call)

    with writer_lock(library.data_dir):
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert len(rejected) == 2
