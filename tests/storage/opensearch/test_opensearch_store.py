"""A library whose index is on OpenSearch behaves like one with embedded stores."""

import uuid
from dataclasses import replace
from unittest.mock import Mock

import pytest

from domain import LOCAL_USER, CancelledError, ImportState
from domain.errors import DamagedIndexError, StorageUnavailableError
from services.imports.import_run import ImportTask
from storage.opensearch.connection import SearchServer, SearchServerError
from storage.opensearch.mapping import IndexOptions
from storage.opensearch.search_cluster import SearchCluster
from tests.fakes.library import DictLoader, Library
from tests.servers import free_port

pytestmark = pytest.mark.opensearch

TEXTS = {
    "leave.txt": "Annual leave is twenty five days. " * 12,
    "vpn.txt": "Choose the Bristol gateway in WireGuard. " * 12,
    "휴가.txt": "신규 입사자는 연차 휴가 15일을 받습니다. " * 12,
}


@pytest.fixture
def cluster(opensearch, os_client):
    alias = f"library-{uuid.uuid4().hex[:12]}"
    yield SearchCluster(SearchServer((opensearch.url,)), alias)
    os_client.indices.delete(index=f"{alias}-*", ignore_unavailable=True)


@pytest.fixture
def library(tmp_path, cluster):
    library = Library(tmp_path, cluster=cluster)
    library.load(DictLoader(TEXTS))
    return library


def searched(library, query, k=3, **options):
    return [id_ for id_, _ in library.active.words().search(query, k, **options)]


def documents_with(library, query):
    passages = library.active.passages.get_by_ids(searched(library, query, k=100))
    return {library.documents.get(one.metadata["document_id"]).key for one in passages}


def names(os_client, cluster):
    return set(os_client.indices.get(index=f"{cluster.alias}-*"))


def alias_targets(os_client, cluster):
    return set(os_client.indices.get_alias(name=cluster.alias))


class TestImport:
    def test_an_import_is_found_by_words_and_by_meaning_in_each_language(self, library):
        assert documents_with(library, "annual leave") == {"leave.txt"}
        assert documents_with(library, "연차 휴가") == {"휴가.txt"}
        [(best, _), *_] = library.active.passages.similar_ids("Bristol gateway", k=1)
        [passage] = library.active.passages.get_by_ids([best])
        assert "Bristol" in passage.page_content
        assert library.check().agrees
        assert not (library.data_dir / "indexes").exists()

    def test_a_changed_document_replaces_its_passages(self, library):
        before = set(library.active.passages.ids())
        library.load(DictLoader(TEXTS | {"vpn.txt": "Choose the Leeds gateway instead. " * 12}))
        assert documents_with(library, "Bristol") == set()
        assert documents_with(library, "Leeds") == {"vpn.txt"}
        assert set(library.active.passages.ids()) != before
        assert library.check().agrees

    def test_removed_documents_disappear_at_once(self, library):
        rest = {key: text for key, text in TEXTS.items() if key != "vpn.txt"}
        library.load(DictLoader(rest))
        assert documents_with(library, "Bristol gateway") == set()
        assert library.check().agrees

    def test_changed_labels_are_filtered_by_without_embedding_again(self, library):
        library.sources.set_options(library.source.id, {"labels": ["policy"]})
        changed = library.sources.get(library.source.id)
        embedded = library.embeddings.calls
        library.load(DictLoader(TEXTS), source=changed)
        assert library.embeddings.calls == embedded
        condition = {"labels": {"$contains": "policy"}}
        assert searched(library, "annual leave", condition=condition)
        assert not searched(library, "annual leave", condition={"labels": {"$contains": "other"}})
        assert library.check().agrees

    def test_a_canceled_import_shows_nothing_half_written(self, library):
        store = library.active
        calls = iter([False] * 4)
        task = ImportTask(
            library.leases.start(library.source.id, LOCAL_USER.user_id, "test"),
            "test",
            library.source,
            DictLoader({f"{n}.txt": f"zebra {n}. " * 100 for n in range(200)}),
            cancelled=lambda: next(calls, True),
        )
        with pytest.raises(CancelledError):
            library.imports.perform(task)
        library.maintenance.recover()
        assert library.check().agrees
        assert store is library.active


class TestReindex:
    def test_the_alias_moves_to_the_new_index_and_the_old_one_is_deleted(
        self, library, cluster, os_client
    ):
        before = names(os_client, cluster)
        changed = Library(library.data_dir, size=120, cluster=cluster)
        changed.reindex()
        after = names(os_client, cluster)
        assert len(after) == 1
        assert after != before
        assert alias_targets(os_client, cluster) == after
        assert documents_with(changed, "Bristol") == {"vpn.txt"}
        assert changed.check().agrees

    def test_an_interrupted_reindex_resumes(self, library, cluster, monkeypatch):
        changed = Library(library.data_dir, size=120, cluster=cluster)
        changed.interrupt_reindex(monkeypatch)
        assert changed.indexes.building() is not None
        assert documents_with(library, "Bristol") == {"vpn.txt"}
        assert changed.reindex().passages_embedded
        assert changed.check().agrees

    def test_an_embedded_library_moves_to_the_cluster_and_back(self, tmp_path, cluster, os_client):
        embedded = Library(tmp_path)
        embedded.load(DictLoader(TEXTS))
        moved = Library(tmp_path, cluster=cluster)
        assert moved.maintenance.status(LOCAL_USER).needs_reindex
        assert documents_with(moved, "Bristol") == {"vpn.txt"}  # still in the folder
        moved.reindex()
        assert documents_with(moved, "Bristol") == {"vpn.txt"}
        assert list((tmp_path / "indexes").iterdir()) == []

        back = Library(tmp_path)
        assert back.stores.open(back.indexes.active()).damage()[0].count("FOOTNOTE_SEARCH_URL")
        back.reindex()
        assert documents_with(back, "Bristol") == {"vpn.txt"}
        assert names(os_client, cluster)  # without its address, it can't be deleted
        Library(tmp_path, cluster=cluster).maintenance.recover()
        assert not names(os_client, cluster)


class TestDamage:
    def test_a_missing_index_is_never_taken_for_an_empty_one(self, library, cluster, os_client):
        os_client.indices.delete(index=f"{cluster.alias}-*")
        again = Library(library.data_dir, cluster=cluster)
        report = again.check()
        assert any("rebuild it with `python cli.py reindex`" in one for one in report.disagreements)
        again.maintenance.recover()
        problem = again.maintenance.status(LOCAL_USER).problem
        assert "is missing on the OpenSearch server" in problem
        with pytest.raises(DamagedIndexError, match="reindex"):
            again.load(DictLoader(TEXTS | {"new.txt": "something new"}))

    def test_a_reindex_repairs_a_missing_index(self, library, cluster, os_client):
        os_client.indices.delete(index=f"{cluster.alias}-*")
        again = Library(library.data_dir, cluster=cluster)
        again.reindex()
        assert again.check().agrees

    def test_lost_passages_and_foreign_ones_are_reported(self, library):
        store = library.active
        lost, *_ = store.passages.ids()
        store.passages.delete([lost])
        store.passages.add_texts(["stray"], ids=["stray"])
        found = library.check().disagreements
        assert f"passage {lost} is missing in the OpenSearch index" in found
        assert "passage stray is in the OpenSearch index but not in the ledger" in found


class TestAlias:
    def test_the_alias_names_the_active_index_after_the_first_import(
        self, library, cluster, os_client
    ):
        assert alias_targets(os_client, cluster) == names(os_client, cluster)

    def test_a_removed_alias_returns_at_the_next_start(self, library, cluster, os_client):
        os_client.indices.delete_alias(index=f"{cluster.alias}-*", name=cluster.alias)
        Library(library.data_dir, cluster=cluster).maintenance.recover()
        assert alias_targets(os_client, cluster) == names(os_client, cluster)

    def test_an_index_is_deleted_only_after_the_alias_has_left_it(
        self, library, cluster, os_client, monkeypatch, caplog
    ):
        old = names(os_client, cluster)
        error = SearchServerError("no permission for aliases")
        refusal = Mock(side_effect=error)
        monkeypatch.setattr("storage.opensearch.search_cluster.point_alias", refusal)
        changed = Library(library.data_dir, size=120, cluster=cluster)
        assert changed.reindex().problem == error.public_message
        [failure] = [one for one in caplog.records if one.msg == "alias not moved"]
        assert failure.fields["reason"] == "no permission for aliases"
        assert documents_with(changed, "Bristol") == {"vpn.txt"}
        changed.maintenance.recover()
        assert changed.maintenance.status(LOCAL_USER).problem == error.public_message
        assert alias_targets(os_client, cluster) == old
        monkeypatch.undo()
        changed.maintenance.recover()
        assert not changed.maintenance.status(LOCAL_USER).problem
        assert alias_targets(os_client, cluster) == names(os_client, cluster) != old

    def test_another_library_with_the_same_alias_is_refused(self, library, cluster, tmp_path):
        other = Library(tmp_path / "other", cluster=replace(cluster))
        with pytest.raises(SearchServerError, match="FOOTNOTE_SEARCH_INDEX"):
            other.load(DictLoader(TEXTS))
        assert other.indexes.active() is None


def test_an_unreachable_server_fails_the_import_and_the_next_one_resumes(cluster, library):
    away = SearchCluster(SearchServer((f"http://127.0.0.1:{free_port()}",)), cluster.alias)
    cut_off = Library(library.data_dir, cluster=away)
    for use in (cut_off.check, cut_off.reindex):
        with pytest.raises(StorageUnavailableError, match="FOOTNOTE_SEARCH_URL"):
            use()
    texts = TEXTS | {"new.txt": "A new policy about zebras. " * 12}
    with pytest.raises(StorageUnavailableError, match="FOOTNOTE_SEARCH_URL"):
        cut_off.load(DictLoader(texts))
    report = Library(library.data_dir, cluster=cluster).load(DictLoader(texts))
    assert report.state is ImportState.COMPLETED
    assert documents_with(library, "zebras") == {"new.txt"}
    assert library.check().agrees


def test_other_programs_can_search_the_texts_with_an_analyzer_of_the_server(
    tmp_path, cluster, os_client
):
    cluster.options = IndexOptions(analyzer="cjk")
    library = Library(tmp_path, cluster=cluster)
    library.load(DictLoader(TEXTS))
    found = os_client.search(index=f"{cluster.alias}-*", q="text:휴가", _source=False)
    assert {hit["_id"] for hit in found["hits"]["hits"]} == set(searched(library, "휴가"))


def test_an_analyzer_that_the_server_lacks_is_named_with_its_setting(tmp_path, cluster):
    cluster.options = IndexOptions(analyzer="nori")
    with pytest.raises(SearchServerError, match=r"nori.*FOOTNOTE_SEARCH_ANALYZER"):
        Library(tmp_path, cluster=cluster).load(DictLoader(TEXTS))
