import itertools

import numpy as np
import pytest

from domain import LOCAL_USER, Principal, Role
from domain.errors import BusyError, ForbiddenError, StorageError
from services.imports import compaction, index_copy
from services.imports.compaction import Compaction
from storage.safe_writes import writer_lock
from tests.fakes.damage import damage
from tests.fakes.library import DictLoader, Library, filled_library


def documents(count):
    return {f"{n:04}.txt": f"document number {n}. " * 40 for n in range(count)} | {"e.txt": " "}


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(index_copy, "_DOCUMENTS_PER_STEP", 10)


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path, documents(30))


def edit(library, times):
    """Change one document after another, each in a commit of its own or two."""
    texts = documents(30)
    for n in range(times):
        texts["0000.txt"] = f"edition {n}"
        library.load(DictLoader(texts))


def compact(library, cancelled=lambda: False):
    return Compaction(library.database, library.stores).run_if_due(LOCAL_USER, cancelled)


def contents(library):
    passages = library.active.passages
    vectors = passages.vectors_of(sorted(passages.ids()))
    texts = {one.id: one.page_content for one in passages.get_by_ids(list(vectors))}
    return vectors, texts


def damage_passages(library, index):
    for file in list((library.stores.folder(index.id) / "passages" / "rows").rglob("*")):
        if file.is_file() and file.stat().st_size > 1000:
            damage(file, "cut")


class Killed(BaseException):
    pass


class TestALongHistory:
    @pytest.fixture(autouse=True)
    def _short_limit(self, monkeypatch):
        monkeypatch.setattr(compaction, "COMMITS", 5)

    def test_is_left_behind_without_embedding_anything(self, library):
        edit(library, 4)
        index, commits = library.indexes.active(), library.active.commits
        vectors, texts = contents(library)
        words = library.active.keywords.search("edition", 5)
        embedded = library.embeddings.texts

        assert compact(library)
        assert library.indexes.active().id != index.id
        assert [one.id for one in library.indexes.all()] == [library.indexes.active().id]
        assert library.active.commits < commits
        assert library.embeddings.texts == embedded
        new_vectors, new_texts = contents(library)
        assert new_texts == texts
        assert all(np.array_equal(vectors[id_], new_vectors[id_]) for id_ in vectors)
        assert [id_ for id_, _ in library.active.keywords.search("edition", 5)] == [
            id_ for id_, _ in words
        ]
        assert library.check().agrees

    def test_is_compacted_once(self, library):
        edit(library, 4)
        assert compact(library)
        assert not compact(library)

    def test_is_searched_by_another_process_before_and_after(self, library):
        edit(library, 4)
        other = Library(library.data_dir)
        assert other.active.passages.similarity_search("edition 3", k=1)
        compact(library)
        [best] = other.active.passages.similarity_search("edition 3", k=1)
        assert best.page_content == "edition 3"

    def test_is_resumed_after_a_cancellation_and_an_import(self, library):
        edit(library, 4)
        steps = itertools.count()
        assert not compact(library, cancelled=lambda: next(steps) > 2)
        unfinished = library.indexes.building()
        assert unfinished is not None

        texts = documents(20) | {"0001.txt": "changed in between", "new.txt": "a new one"}
        library.load(DictLoader(texts))
        assert compact(library)
        assert library.indexes.active().id == unfinished.id
        assert library.texts() == texts
        assert library.check().agrees

    @pytest.mark.slow
    @pytest.mark.parametrize("step", range(8))
    def test_is_resumed_after_the_process_was_killed_at(self, library, step):
        edit(library, 4)
        steps, expected = itertools.count(), library.texts()

        def kill():
            if next(steps) == step:
                raise Killed
            return False

        with pytest.raises(Killed):
            compact(library, cancelled=kill)
        restarted = Library(library.data_dir)
        restarted.maintenance.recover()
        assert restarted.check().agrees
        assert compact(restarted)
        assert restarted.check().agrees
        assert restarted.texts() == expected
        assert len(restarted.indexes.all()) == 1

    def test_is_copied_anew_if_an_unfinished_copy_is_damaged(self, library):
        edit(library, 4)
        steps = itertools.count()
        compact(library, cancelled=lambda: next(steps) > 2)
        unfinished = library.indexes.building()
        damage_passages(library, unfinished)

        assert compact(Library(library.data_dir))
        assert unfinished not in library.indexes.all()
        assert library.check().agrees

    def test_stays_if_a_reindex_with_other_settings_is_unfinished(self, library, monkeypatch):
        edit(library, 4)
        changed = Library(library.data_dir, model="another")
        changed.interrupt_reindex(monkeypatch)
        assert changed.indexes.building() is not None
        assert not compact(library)

    def test_stays_while_an_import_is_running(self, library, monkeypatch):
        monkeypatch.setattr(compaction, "_LOCK_TIMEOUT_S", 0)
        edit(library, 4)
        with writer_lock(library.data_dir, timeout_s=0), pytest.raises(BusyError):
            compact(library)

    def test_of_a_damaged_index_is_not_copied(self, library):
        edit(library, 4)
        index = library.indexes.active()
        damage_passages(library, index)
        restarted = Library(library.data_dir)
        with pytest.raises(StorageError, match="damaged"):
            compact(restarted)
        assert restarted.indexes.active() == index
        assert restarted.indexes.building() is None

    def test_with_a_passage_that_the_vectors_lack_is_not_copied(self, library):
        edit(library, 4)
        index = library.indexes.active()
        library.active.passages.delete([library.active.passages.ids()[0]])
        with pytest.raises(StorageError, match="lacks 1 passages"):
            compact(library)
        assert library.indexes.active() == index

    def test_is_compacted_by_administrators_only(self, library):
        with pytest.raises(ForbiddenError):
            Compaction(library.database, library.stores).run_if_due(
                Principal("anna", role=Role.EDITOR)
            )


def test_a_short_history_stays(library):
    edit(library, 4)
    assert not compact(library)


def test_a_large_library_may_have_a_longer_history(library, monkeypatch):
    edit(library, 4)
    monkeypatch.setattr(compaction, "COMMITS", 0)
    monkeypatch.setattr(compaction, "PASSAGES_PER_COMMIT", 1)
    assert not compact(library)


def test_an_empty_library_has_no_history(tmp_path):
    assert not compact(Library(tmp_path))
