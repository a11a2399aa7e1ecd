import shutil

import pytest

from domain.errors import StorageError
from storage.index_stores import IndexStores
from storage.ledger.index_store import IndexSpec, IndexState, new_index
from tests.fakes.models import HashingEmbeddings

SPEC = IndexSpec({"name": "a model"}, "a model", "1", 100, 10)


@pytest.fixture
def loaded_models():
    return []


@pytest.fixture
def stores(tmp_path, loaded_models):
    def load(embedding):
        loaded_models.append(embedding)
        return HashingEmbeddings()

    return IndexStores(tmp_path, load)


def make_index():
    return new_index(SPEC, IndexState.BUILDING)


def test_the_model_of_an_index_is_loaded_once_when_a_text_is_embedded(stores, loaded_models):
    store = stores.create(make_index())
    store.keywords.add([("a", "some words")])
    assert store.passages.ids() == []
    assert loaded_models == []

    store.passages.add_texts(["some words"], ids=["a"])
    [passage] = store.passages.similarity_search("some words", k=1)
    assert passage.id == "a"
    assert loaded_models == [{"name": "a model"}]


def test_an_open_index_is_the_same_object_until_it_is_deleted(stores):
    index = make_index()
    store = stores.create(index)
    assert stores.open(index) is store
    assert stores.delete(index)
    assert not stores.folder(index.id).exists()
    assert stores.open(index) is not store


def test_only_the_two_latest_indexes_stay_open(stores):
    indexes = [make_index() for _ in range(3)]
    opened = [stores.create(index) for index in indexes]
    assert stores.open(indexes[2]) is opened[2]
    assert stores.open(indexes[1]) is opened[1]
    assert stores.open(indexes[0]) is not opened[0]


def test_a_missing_folder_is_never_mistaken_for_an_empty_index(stores):
    index = make_index()
    stores.create(index)
    shutil.rmtree(stores.folder(index.id))
    for part in ("passages", "keywords"):
        with pytest.raises(StorageError, match=r"reindex"):
            getattr(stores.open(index), part)
    assert not stores.folder(index.id).exists()


def test_the_error_for_a_folder_that_cannot_be_created_names_it(tmp_path):
    (tmp_path / "indexes").write_text("")
    with pytest.raises(StorageError, match=str(tmp_path / "indexes")):
        IndexStores(tmp_path, lambda _: HashingEmbeddings()).create(make_index())


def test_an_index_that_another_process_has_deleted_is_closed(stores, tmp_path):
    old, new = make_index(), make_index()
    opened = stores.create(old)
    stores.create(new)
    elsewhere = IndexStores(tmp_path, lambda _: HashingEmbeddings())
    assert elsewhere.delete(old)
    stores.open(new)
    assert opened not in stores._open.values()
