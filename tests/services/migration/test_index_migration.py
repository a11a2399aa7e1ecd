import uuid
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import update

from domain import LOCAL_USER, Principal, Role
from domain.errors import BusyError, ConflictError, ForbiddenError, StorageError
from services.imports import index_copy
from services.migration import index_migration
from services.migration.index_migration import IndexMigration
from storage.ledger.index_store import Engine, IndexState, new_index
from storage.ledger.ledger_tables import IndexRow
from storage.opensearch.connection import SearchServer
from storage.opensearch.search_cluster import SearchCluster
from storage.safe_writes import writer_lock
from tests.fakes.library import DictLoader, Library, filled_library

TEXTS = {f"{n:02}.txt": f"Rule {n}: the door of room {n} stays shut. " * 12 for n in range(9)} | {
    "휴가.txt": "신규 입사자는 연차 휴가 15일을 받습니다. " * 12,
    "empty.txt": " ",
}


class Stopped(Exception):
    pass


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(index_copy, "_DOCUMENTS_PER_STEP", 3)
    monkeypatch.setattr(index_migration, "_PASSAGES_PER_STEP", 4)


def migrate(library, engine, **options):
    return IndexMigration(library.database, library.stores).run(LOCAL_USER, engine, **options)


def contents(library):
    """The vectors and texts of the active index, and the ids of all passages with a word."""
    passages = library.active.passages
    vectors = passages.vectors_of(sorted(passages.ids()))
    texts = {one.id: (one.page_content, one.metadata) for one in passages.get_by_ids(list(vectors))}
    words = {id_ for id_, _ in library.active.words().search("door", 100)}
    return vectors, texts, words


def equal(one, other):
    return (
        one[0].keys() == other[0].keys()
        and all(np.allclose(one[0][id_], other[0][id_], atol=1e-6) for id_ in one[0])
        and one[1:] == other[1:]
    )


@pytest.mark.opensearch
class TestOnACluster:
    @pytest.fixture
    def cluster(self, opensearch, os_client):
        alias = f"library-{uuid.uuid4().hex[:12]}"
        yield SearchCluster(SearchServer((opensearch.url,)), alias)
        os_client.indices.delete(index=f"{alias}-*", ignore_unavailable=True)

    @pytest.fixture
    def library(self, tmp_path, cluster):
        filled_library(tmp_path, TEXTS).database.close()
        return Library(tmp_path, cluster=cluster)

    def test_the_index_moves_there_and_back_without_embedding(self, library, cluster, os_client):
        before, index = contents(library), library.indexes.active()
        move = migrate(library, "opensearch")
        assert move.passages == move.copied == len(before[0]) > 10
        assert library.indexes.active().spec == replace(index.spec, engine=Engine.OPENSEARCH)
        assert equal(contents(library), before)
        assert library.check().agrees
        assert not library.stores.folder(index.id).exists()
        there = library.indexes.active()
        assert set(os_client.indices.get_alias(name=cluster.alias)) == {
            f"{cluster.alias}-{there.id}"
        }
        assert migrate(library, "opensearch") is None

        assert migrate(library, "embedded").copied == move.copied
        assert library.indexes.active().spec == index.spec
        assert equal(contents(library), before)
        assert library.check().agrees
        assert [one.id for one in library.indexes.all()] == [library.indexes.active().id]
        assert not os_client.indices.exists(index=f"{cluster.alias}-{there.id}")
        assert library.embeddings.texts == 0

    def test_an_interrupted_move_is_resumed(self, library):
        before, index = contents(library), library.indexes.active()
        reports = []

        def stop(progress):
            reports.append(progress)
            if len(reports) % 2 == 0:
                raise Stopped

        for _call in range(2):
            with pytest.raises(Stopped):
                migrate(library, "opensearch", on_progress=stop)
            assert library.indexes.active() == index
            assert equal(contents(library), before)
        library.load(DictLoader(TEXTS | {"00.txt": "The door of room 0 is open. " * 12}))
        before = contents(library)
        move = migrate(library, "opensearch")
        assert 0 < move.copied < move.passages
        assert equal(contents(library), before)
        assert library.check().agrees

    def test_a_copy_that_differs_is_not_used_and_not_resumed(self, library, monkeypatch):
        index = library.indexes.active()
        with monkeypatch.context() as patched:
            patched.setattr(index_migration, "_are_equal", lambda *_: False)
            with pytest.raises(StorageError, match=r"differs from the original \(vectors:"):
                migrate(library, "opensearch")
        assert library.indexes.all() == [index]
        move = migrate(library, "opensearch")
        assert move.copied == move.passages


def test_without_an_index_or_on_its_own_engine_nothing_happens(tmp_path):
    assert migrate(Library(tmp_path / "new"), "embedded") is None
    library = filled_library(tmp_path / "data", TEXTS)
    index = library.indexes.active()
    assert migrate(library, "embedded") is None
    assert library.indexes.all() == [index]


def test_without_a_cluster_the_index_stays_and_the_setting_is_named(tmp_path):
    library = filled_library(tmp_path, TEXTS)
    index = library.indexes.active()
    with pytest.raises(StorageError, match="set FOOTNOTE_SEARCH_URL"):
        migrate(library, "opensearch")
    assert library.indexes.all() == [index]


def test_an_index_of_an_earlier_version_must_be_rebuilt(tmp_path):
    library = filled_library(tmp_path, TEXTS)
    with library.database.write() as session:
        session.execute(update(IndexRow).values(fingerprint="an earlier one"))
    with pytest.raises(ConflictError, match="reindex` instead"):
        migrate(library, "opensearch")


def test_an_unfinished_reindex_is_not_deleted(tmp_path):
    library = filled_library(tmp_path, TEXTS)
    index = library.indexes.active()
    started = new_index(replace(index.spec, size=77), IndexState.BUILDING)
    library.indexes.add(started)
    with pytest.raises(ConflictError, match="finish `python cli.py reindex` first"):
        migrate(library, "opensearch")
    assert library.indexes.building() == started
    assert library.indexes.active() == index


def test_a_running_import_is_not_disturbed(tmp_path, monkeypatch):
    monkeypatch.setattr(index_migration, "_LOCK_TIMEOUT_S", 0)
    library = filled_library(tmp_path, TEXTS)
    with writer_lock(tmp_path), pytest.raises(BusyError):
        migrate(library, "opensearch")


def test_only_administrators_move_an_index(tmp_path):
    library = Library(tmp_path)
    with pytest.raises(ForbiddenError):
        IndexMigration(library.database, library.stores).run(
            Principal("ada", role=Role.EDITOR), "opensearch"
        )
