import random
import time

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from domain.errors import StorageError
from storage.filters import checks_of, matches
from storage.opensearch.mapping import LANGCHAIN_FIELDS, Fields
from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows
from storage.vectors.new_rows import new_rows
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors, as_text

pytestmark = pytest.mark.opensearch


class TestLangChainsStandardSuite(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, os_client, index_name):
        return OpenSearchVectorStore(os_client, index_name, self.get_embeddings())


@pytest.fixture
def store(os_client, index_name):
    return OpenSearchVectorStore(os_client, index_name, TextVectors())


def ids_of(documents):
    return [document.id for document in documents]


def test_searches_equal_those_of_the_embedded_store(store, tmp_path):
    embedded = DeepLakePassages(tmp_path / "passages", TextVectors())
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((80, 6))
    texts = [as_text(vector, str(number)) for number, vector in enumerate(vectors)]
    metadata = [{"page": number % 5, "labels": ["a", "b"][: number % 3]} for number in range(80)]
    ids = [str(number) for number in range(80)]
    for one in (store, embedded):
        one.add_texts(texts, metadata, ids=ids)
        one.delete(["3", "4", "unknown"])
        one.add_texts([texts[9]], [{"page": 1}], ids=["9"])
    question = as_text(rng.standard_normal(6), "question")
    for condition in (None, {"page": 1}, {"labels": {"$contains": "a"}}, {"page": {"$gt": 2}}):
        ours = store.similarity_search_with_score(question, 7, filter=condition)
        theirs = embedded.similarity_search_with_score(question, 7, filter=condition)
        assert ids_of(one for one, _ in ours) == ids_of(one for one, _ in theirs)
        assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], abs=1e-5)
        assert [one.metadata for one, _ in ours] == [one.metadata for one, _ in theirs]
        assert ids_of(
            store.max_marginal_relevance_search(question, 5, 20, filter=condition)
        ) == ids_of(embedded.max_marginal_relevance_search(question, 5, 20, filter=condition))


def test_1000_random_filters_let_only_matching_passages_through(os_client, index_name):
    rng = random.Random(11)
    values = ["a", "b", "", 1, 2.5, -3, True, False, None, ["a"], ["a", 1], {"x": 1}]
    names = ["format", "page", "labels"]
    metadata = [
        {name: rng.choice(values) for name in names if rng.random() < 0.8} for _ in range(200)
    ]
    rows = VectorRows(PassageIndex(os_client, index_name))
    vectors = np.random.default_rng(11).standard_normal((200, 4))
    ids = [str(number) for number in range(200)]
    rows.upsert(new_rows(ids, ids, vectors, metadata))
    operators = {
        "$in": lambda: rng.sample(values, 2),
        "$nin": lambda: rng.sample(values, 2),
        "$contains": lambda: rng.choice(["a", 1, "b"]),
        "$contains_any": lambda: ["b", rng.choice([1, "a"])],
        "$gte": lambda: rng.choice(["a", 1, -5]),
        "$lt": lambda: rng.choice(["b", 2, 0]),
    }
    for _ in range(1000):
        name, operator = rng.choice(names), rng.choice([*operators, None])
        condition = {name: {operator: operators[operator]()} if operator else rng.choice(values)}
        expected = {
            id_
            for id_, row in zip(ids, metadata, strict=True)
            if matches(checks_of(condition), row)
        }
        hits = rows.nearest_ids(np.ones(4), 200, condition)
        assert {id_ for id_, _ in hits} == expected, condition


def test_nothing_is_created_before_the_first_passage(store, os_client, index_name):
    assert store.similarity_search(as_text([1, 0], "question")) == []
    assert store.get_by_ids(["1"]) == []
    assert store.ids() == []
    store.delete(["1"])
    assert not os_client.indices.exists(index=index_name)


def test_a_passage_without_direction_is_stored_but_never_found(store):
    store.add_vectors(["zero", "one"], ["a", "b"], np.array([[0, 0], [1, 0]]), [{}, {}])
    assert ids_of(store.similarity_search(as_text([1, 0], "question"))) == ["one"]
    assert store.get_by_ids(["zero"]) == [Document(id="zero", page_content="a", metadata={})]
    assert store.vectors_of(["zero"])["zero"].tolist() == [0, 0]


def test_a_question_without_direction_finds_nothing(store):
    store.add_vectors(["one"], ["b"], np.array([[1, 0]]), [{}])
    assert store.similarity_search(as_text([0, 0], "question")) == []


def test_vectors_of_another_length_are_rejected(store):
    store.add_vectors(["one"], ["b"], np.array([[1, 0]]), [{}])
    with pytest.raises(StorageError, match="Vectors of length 3 can't be compared"):
        store.add_vectors(["two"], ["b"], np.array([[1, 0, 0]]), [{}])
    with pytest.raises(StorageError, match="A vector of length 3 can't be compared"):
        store.similarity_search(as_text([1, 0, 0], "question"))


def test_a_misspelled_keyword_is_rejected(store):
    with pytest.raises(TypeError, match="OpenSearchVectorStore doesn't know the keyword filtre"):
        store.similarity_search("question", filtre={"page": 1})


def test_an_index_of_another_program_is_never_written_to(store, os_client, index_name):
    os_client.index(index=index_name, id="x", body={"title": "a"}, refresh=True)
    for change in (
        lambda: store.add_texts([as_text([1, 0], "text")]),
        lambda: store.delete(["x"]),
        lambda: store.delete(),
    ):
        with pytest.raises(StorageError, match="was not created by Footnote"):
            change()
    assert os_client.get(index=index_name, id="x")["_source"] == {"title": "a"}
    assert os_client.count(index=index_name)["count"] == 1


def test_an_index_without_vectors_is_an_error(store, os_client, index_name):
    os_client.indices.create(index=index_name)
    with pytest.raises(StorageError, match="has no vectors in the field vector"):
        store.similarity_search(as_text([1, 0], "question"))


def test_an_alias_of_one_index_can_be_read(store, os_client, index_name):
    store.add_vectors(["one"], ["b"], np.array([[1, 0]]), [{}])
    os_client.indices.put_alias(index=index_name, name=f"{index_name}-alias")
    alias = OpenSearchVectorStore(os_client, f"{index_name}-alias", TextVectors())
    assert ids_of(alias.similarity_search(as_text([1, 0], "question"))) == ["one"]
    assert ids_of(alias.get_by_ids(["one"])) == ["one"]
    assert alias.ids() == ["one"]


def test_an_alias_of_two_indexes_is_an_error(store, os_client, index_name):
    store.add_vectors(["one"], ["b"], np.array([[1, 0]]), [{}])
    other = f"{index_name}-2"
    os_client.indices.create(index=other)
    try:
        os_client.indices.put_alias(index=f"{index_name},{other}", name=f"{index_name}-alias")
        alias = OpenSearchVectorStore(os_client, f"{index_name}-alias", TextVectors())
        with pytest.raises(StorageError, match="alias of several OpenSearch indexes"):
            alias.similarity_search(as_text([1, 0], "question"))
    finally:
        os_client.indices.delete(index=other)


def test_an_index_that_was_replaced_by_one_of_another_dimension_is_used(
    store, os_client, index_name
):
    store.add_vectors(["one"], ["b"], np.array([[1, 0]]), [{}])
    os_client.indices.delete(index=index_name)
    store.add_vectors(["two"], ["b"], np.array([[1, 0, 0]]), [{}])
    assert ids_of(store.similarity_search(as_text([1, 0, 0], "question"))) == ["two"]


def test_an_index_that_the_server_rejects_is_an_error(os_client):
    store = OpenSearchVectorStore(os_client, "Uppercase", TextVectors())
    with pytest.raises(StorageError, match="must be lowercase"):
        store.add_texts([as_text([1, 0], "text")])


def test_fields_of_other_programs_are_rejected(os_client, index_name):
    with pytest.raises(ValueError, match="only with OpenSearchLexicalSearchRetriever"):
        OpenSearchVectorStore(os_client, index_name, TextVectors(), fields=LANGCHAIN_FIELDS)
    store = OpenSearchVectorStore(os_client, index_name, TextVectors(), fields=Fields(tokens=""))
    with pytest.raises(ValueError, match="can be read but not written"):
        store.add_texts([as_text([1, 0], "text")])
    assert not os_client.indices.exists(index=index_name)


def test_what_was_written_before_a_failure_is_visible(os_client, index_name, monkeypatch):
    rows = VectorRows(PassageIndex(os_client, index_name))
    rows.upsert(new_rows(["a"], ["text"], np.ones((1, 2)), [{}]))
    monkeypatch.setattr(time, "time_ns", lambda: 1)  # too late for the first passage only
    with pytest.raises(StorageError, match="newer version of a passage"):
        rows.upsert(new_rows(["a", "b"], ["late", "new"], np.ones((2, 2)), [{}, {}]))
    assert sorted(rows.ids()) == ["a", "b"]


def test_deleting_all_deletes_also_what_is_not_refreshed(os_client, index_name):
    rows = VectorRows(PassageIndex(os_client, index_name))
    new = new_rows(["a"], ["text"], np.ones((1, 2)), [{}])
    rows.write(new, ["text"])
    rows.delete(None)
    assert (rows.ids(), rows.get(["a"])) == ([], [])


def test_a_filter_is_checked_for_more_ids_than_one_search_returns(store):
    ids = [str(number) for number in range(10_050)]
    metadata = [{"even": number % 2 == 0} for number in range(10_050)]
    store.add_vectors(ids, ids, np.ones((10_050, 2)), metadata)
    assert store.matching([*ids, "unknown"], {"even": True}) == set(ids[::2])
