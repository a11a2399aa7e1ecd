import shutil
import threading

import pytest

from domain import LOCAL_USER, ImportState, TurnState
from errors import BusyError
from services.long_work import Stage
from storage.ledger.conversation_store import Conversations
from storage.lock import writer_lock
from storage.processes import process_name
from tests.fakes.library import DEAD, DictLoader, Library


def documents(count):
    return {f"{n:03}.txt": f"document number {n}. " * 40 for n in range(count)}


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader(documents(60)))
    return library


def status(library):
    return library.maintenance.status(LOCAL_USER)


def folders(library):
    return [path.name for path in (library.data_dir / "indexes").iterdir()]


class TestStatus:
    def test_before_the_first_import_there_is_nothing_to_rebuild(self, tmp_path):
        found = status(Library(tmp_path))
        assert (found.active, found.passages, found.message) == (None, 0, "")

    def test_with_the_settings_it_was_made_with_nothing_is_needed(self, library):
        assert not status(Library(library.data_dir)).reindex_needed

    @pytest.mark.parametrize("change", [{"model": "another"}, {"size": 150}, {"overlap": 0}])
    def test_other_settings_are_answered_with_how_much_there_is_to_embed(self, library, change):
        found = status(Library(library.data_dir, **change))
        assert found.reindex_needed
        assert f"embed {found.passages} passages again" in found.message
        assert found.passages == len(library.active.passages)


class TestReindex:
    def test_the_old_index_answers_until_the_new_one_takes_over(self, library):
        changed = Library(library.data_dir, model="another", size=150)
        old = changed.indexes.active()
        answers = []

        def ask(progress):
            assert progress.stage is Stage.INDEXING
            store = changed.stores.open(changed.indexes.active())
            best = store.passages.similarity_search("number 7", k=3)
            answers.append((store.index.id, len(changed.documents.hydrate([b.id for b in best]))))

        report = changed.reindex(on_progress=ask)
        assert len(answers) > 1
        assert set(answers) == {(old.id, 3)}
        assert report.completed
        assert report.passages_embedded == status(changed).passages
        assert not status(changed).reindex_needed
        assert changed.check().agrees
        assert folders(changed) == [changed.indexes.active().id] != [old.id]

    def test_a_canceled_reindex_resumes_where_it_stopped(self, library):
        changed = Library(library.data_dir, model="another")
        seen = []
        stopped = changed.reindex(on_progress=seen.append, cancelled=lambda: len(seen) > 0)
        assert not stopped.completed
        assert status(changed).reindex_needed
        assert changed.check().agrees, "the index that answers is untouched"

        rest = Library(library.data_dir, model="another").reindex()
        total = stopped.passages_embedded + rest.passages_embedded
        assert 0 < rest.passages_embedded < total == status(changed).passages
        assert changed.check().agrees

    def test_an_import_in_between_is_not_missed(self, library):
        changed = Library(library.data_dir, model="another")
        seen = []
        changed.reindex(on_progress=seen.append, cancelled=lambda: len(seen) > 1)
        texts = documents(58) | {"000.txt": "changed in between", "new.txt": "and a new one"}
        changed.load(DictLoader(texts))
        assert changed.check().agrees

        changed.reindex()
        assert changed.texts() == texts
        report = changed.check()
        assert report.agrees, report.disagreements

    def test_removals_in_between_leave_nothing_of_them_where_nothing_is_missing(self, library):
        changed = Library(library.data_dir, model="another")
        seen = []
        changed.reindex(on_progress=seen.append, cancelled=lambda: len(seen) > 0)
        missing = set(changed.documents.ids(missing_in=changed.indexes.building().id))
        known = changed.documents.versions(changed.source.id)
        done = sorted(key for key, found in known.items() if found.document_id not in missing)
        changed.load(DictLoader({key: documents(60)[key] for key in done[5:]}))

        assert changed.reindex().passages_embedded == 0
        report = changed.check()
        assert report.agrees, report.disagreements

    def test_a_reindex_for_other_settings_restarts(self, library):
        for model in ("second", "third"):
            seen = []
            changed = Library(library.data_dir, model=model)
            changed.reindex(on_progress=seen.append, cancelled=lambda seen=seen: len(seen) > 0)
        assert len(folders(library)) == 2, "the one that answers and the one for `third`"
        changed.reindex()
        assert changed.requested_models == ["third"]
        assert changed.check().agrees
        assert len(folders(library)) == 1

    def test_a_damaged_unfinished_index_is_rebuilt(self, library):
        changed = Library(library.data_dir, model="another")
        seen = []
        changed.reindex(on_progress=seen.append, cancelled=lambda: len(seen) > 0)
        shutil.rmtree(changed.stores.folder(changed.indexes.building().id))

        again = Library(library.data_dir, model="another")
        assert again.reindex().completed
        assert again.check().agrees

    def test_an_empty_library_has_nothing_to_embed(self, tmp_path):
        library = Library(tmp_path)
        assert library.reindex().passages_embedded == 0
        library.load(DictLoader({"a": "now there is one"}))
        assert library.check().agrees


class TestRecover:
    def test_of_a_sound_library_changes_nothing(self, library):
        found = library.maintenance.recover()
        assert (found.imports, found.turns, found.passages, found.problem) == (0, 0, 0, "")

    def test_an_import_left_in_the_running_state_is_marked(self, library):
        left = library.leases.start(library.source.id, "anna", DEAD)
        assert library.maintenance.recover().imports == 1
        assert library.import_store.get(left).state is ImportState.INTERRUPTED

    def test_a_turn_left_in_the_running_state_is_marked(self, library):
        conversations = Conversations(library.database)
        conversation = conversations.create(LOCAL_USER, "x")
        conversations.start_turn(LOCAL_USER, conversation.id, "?")
        assert library.maintenance.recover().turns == 1
        [turn] = conversations.turns(LOCAL_USER, conversation.id)
        assert turn.state is TurnState.INCOMPLETE

    def test_an_import_of_a_living_process_is_unchanged(self, library):
        running = library.leases.start(library.source.id, "anna", process_name())
        found = []
        with writer_lock(library.data_dir):
            thread = threading.Thread(target=lambda: found.append(library.maintenance.recover()))
            thread.start()
            thread.join()
        assert found[0].imports == 0
        assert library.import_store.get(running).state is ImportState.RUNNING

    def test_a_damaged_index_is_reported_and_does_not_prevent_the_start(self, library):
        library.imports._active.ledger.stage(library.indexes.active().id, ["waiting"])
        shutil.rmtree(library.stores.folder(library.indexes.active().id))
        again = Library(library.data_dir)

        assert "reindex" in again.maintenance.recover().problem
        again.reindex()
        assert again.check().agrees

    def test_a_missing_index_is_told_by_the_status_until_a_reindex_has_made_another(self, library):
        shutil.rmtree(library.stores.folder(library.indexes.active().id))
        started, elsewhere = Library(library.data_dir), Library(library.data_dir)
        started.maintenance.recover()
        assert "is missing: rebuild it" in status(started).problem

        elsewhere.reindex()
        assert status(started).problem == ""

    def test_a_retired_index_whose_deletion_was_broken_off_is_deleted(self, library):
        old = library.indexes.active().id
        changed = Library(library.data_dir, model="another")
        changed.stores.delete = lambda index_id: False
        changed.reindex()
        assert sorted(folders(library)) == sorted([old, changed.indexes.active().id])

        again = Library(library.data_dir, model="another")
        again.maintenance.recover()
        assert folders(again) == [again.indexes.active().id]
        assert again.indexes.retired() == []
        assert again.check().agrees


def test_check_and_reindex_wait_for_no_import(library, monkeypatch):
    monkeypatch.setattr("services.imports.maintenance._LOCK_TIMEOUT_S", 0.1)
    caught = []

    def attempt():
        for call in (library.check, library.reindex):
            with pytest.raises(BusyError):
                call()
            caught.append(call)

    with writer_lock(library.data_dir):
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert len(caught) == 2
