import numpy as np
import pytest
from langchain_core.vectorstores.utils import maximal_marginal_relevance

from storage.vectors.passage_dataset import PassageDataset
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors, as_text


@pytest.fixture
def store(tmp_path):
    return DeepLakePassages(tmp_path / "passages", TextVectors())


def test_id_searches_do_not_read_texts_and_metadata(store, monkeypatch):
    store.add_texts(["1 0", "0 1"], [{"p": 1}, {"p": 2}], ids=["a", "b"])
    monkeypatch.setattr(PassageDataset, "texts_and_metadata", None)
    assert store.similar_ids("1 0", 1) == [("a", 1.0)]
    assert store.diverse_ids("1 0", 1, filter={"p": 2}) == [("b", 0.0)]


def test_a_compiled_filter_does_not_see_later_changes(store):
    store.add_texts(["1 0", "0 1"], [{"p": 1}, {"p": 2}], ids=["a", "b"])
    allow_all, allow_some = store.allowed(None), store.allowed({"p": 2})
    store.add_texts(["1 1"], [{"p": 2}], ids=["c"])
    for allowed in (allow_all, allow_some):
        assert (allowed("b"), allowed("c"), allowed("nobody")) == (True, False, False)
    assert store.allowed({"p": 2})("c")
    store.delete()
    assert allow_some("b")
    assert not store.allowed(None)("b")


@pytest.mark.parametrize("lambda_mult", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_diverse_ids_are_those_of_langchain(store, k, lambda_mult):
    vectors = np.random.default_rng(k).standard_normal((30, 6))
    store.add_texts([as_text(vector) for vector in vectors[1:]], ids=list(map(str, range(1, 30))))
    near = [int(id_) for id_, _ in store.similar_ids(as_text(vectors[0]), 20)]
    chosen = maximal_marginal_relevance(vectors[0], list(vectors[near]), lambda_mult, k)
    results = store.diverse_ids(as_text(vectors[0]), k, 20, lambda_mult)
    assert [int(id_) for id_, _ in results] == [near[position] for position in chosen]
