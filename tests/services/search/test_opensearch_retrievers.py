import asyncio

import numpy as np
import pytest
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.vectorstores import OpenSearchVectorSearch
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from domain import Normalization
from domain.errors import StorageError
from retrievers.rankers import combine_convex, fuse_reciprocal_ranks
from services.search.opensearch_retrievers import (
    OpenSearchHybridRetriever,
    OpenSearchLexicalSearchRetriever,
)
from storage.keywords.keyword_index import KeywordIndex
from storage.opensearch.mapping import LANGCHAIN_FIELDS
from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors, as_text

pytestmark = pytest.mark.opensearch

EMBEDDING = DeterministicFakeEmbedding(size=6)
TEXTS = [
    "annual leave is 25 days",
    "sick leave needs a note",
    "연차 휴가는 15일입니다",
    "the office is open all days",
]
METADATA = [{"page": number, "lang": "ko" if number == 2 else "en"} for number in range(4)]


@pytest.fixture
def written(os_client, index_name):
    """The name of an index with four passages."""
    store = OpenSearchVectorStore(os_client, index_name, EMBEDDING)
    store.add_texts(TEXTS, METADATA, ids=list("abcd"))
    return index_name


@pytest.fixture
def retriever(os_client, written):
    return OpenSearchLexicalSearchRetriever(os_client, written)


class TestLangChainsStandardSuite(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _index(self, os_client, written):
        type(self).constructed_with = (os_client, written)

    @property
    def retriever_constructor(self):
        return lambda **options: OpenSearchLexicalSearchRetriever(*self.constructed_with, **options)

    @property
    def retriever_constructor_params(self):
        return {"k": 3}

    @property
    def retriever_query_example(self):
        return "leave days office"


def ids_of(documents):
    return [document.id for document in documents]


def test_passages_are_found_by_their_words_in_any_language(retriever):
    assert ids_of(retriever.invoke("days of annual leave")) == ["a", "d", "b"]
    assert ids_of(retriever.invoke("휴가")) == ["c"]
    assert retriever.invoke("!?") == []


def test_search_parameters_can_be_updated(retriever):
    retriever.update_search_params(k=1)
    assert ids_of(retriever.invoke("leave days")) == ["a"]
    retriever.update_search_params(k=4, minimum_should_match=2)
    assert ids_of(retriever.invoke("leave days")) == ["a"]
    retriever.update_search_params(minimum_should_match=1, filter={"page": {"$gte": 1}})
    assert ids_of(retriever.invoke("leave days")) == ["d", "b"]


def test_invalid_search_parameters_are_rejected_and_change_nothing(retriever):
    with pytest.raises(ValidationError):
        retriever.update_search_params(k=0, minimum_should_match=2)
    with pytest.raises(ValueError, match="unknown search parameters: size"):
        retriever.update_search_params(size=3)
    for wrong in (
        {"filter": {"page": {"$near": 1}}},
        {"minimum_should_match": "most"},
        {"minimum_should_match": "%"},
    ):
        with pytest.raises(ValidationError):
            retriever.update_search_params(k=2, **wrong)
        with pytest.raises(ValidationError):
            OpenSearchLexicalSearchRetriever(retriever.os_client, "any", **wrong)
    assert (retriever.k, retriever.minimum_should_match, retriever.filter) == (5, 1, None)


@pytest.mark.parametrize("minimum", [2, -1, "75%", "2<75%", "2<-25% 9<-3"])
def test_the_minimum_may_be_anything_that_the_server_accepts(retriever, minimum):
    retriever.update_search_params(minimum_should_match=minimum)
    assert ids_of(retriever.invoke("annual leave days"))[0] == "a"


def test_the_hybrid_retriever_rejects_fields_of_other_programs_and_an_invalid_k(os_client):
    with pytest.raises(ValidationError, match="only with OpenSearchLexicalSearchRetriever"):
        OpenSearchHybridRetriever(os_client, "any", embedding=EMBEDDING, fields=LANGCHAIN_FIELDS)
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        OpenSearchHybridRetriever(os_client, "any", embedding=EMBEDDING).hits("leave", 0)


def test_async_results_equal_sync_results(retriever):
    assert asyncio.run(retriever.ainvoke("leave")) == retriever.invoke("leave")


def test_a_missing_index_is_an_error(os_client):
    retriever = OpenSearchLexicalSearchRetriever(os_client, "missing-index")
    with pytest.raises(StorageError, match="index is missing.*missing-index"):
        retriever.invoke("leave")


def test_an_index_that_langchain_wrote_is_searched_by_its_own_analyzer(opensearch, index_name):
    OpenSearchVectorSearch.from_texts(
        TEXTS,
        EMBEDDING,
        METADATA,
        ids=list("abcd"),
        opensearch_url=opensearch.url,
        index_name=index_name,
        engine="lucene",
        space_type="cosinesimil",
    )
    client = OpenSearchVectorSearch(opensearch.url, index_name, EMBEDDING).client
    retriever = OpenSearchLexicalSearchRetriever(client, index_name, fields=LANGCHAIN_FIELDS)
    assert set(ids_of(retriever.invoke("leave"))) == {"a", "b"}
    for condition, expected in [
        ({"lang": "ko"}, {"c"}),
        ({"page": {"$lt": 2}}, {"a", "b"}),
        ({"lang": {"$nin": ["en"]}}, {"c"}),
        ({"$or": [{"page": 3}, {"lang": {"$in": ["ko"]}}]}, {"c", "d"}),
    ]:
        retriever.update_search_params(filter=condition)
        assert set(ids_of(retriever.invoke("leave days office 휴가는"))) == expected, condition
    retriever.update_search_params(filter={"lang": None})
    with pytest.raises(ValueError, match="can't compare with None"):
        retriever.invoke("leave")


WORDS = ["leave", "days", "office", "note", "휴가", "vpn", "gateway"]


@pytest.fixture
def passages():
    rng = np.random.default_rng(5)
    return {
        str(number): as_text(rng.standard_normal(4), " ".join(rng.choice(WORDS, 5)))
        for number in range(60)
    }


@pytest.fixture
def stored(os_client, index_name, passages, tmp_path):
    """The passages in OpenSearch, and in the embedded stores."""
    metadata = [{"page": int(id_) % 3} for id_ in passages]
    embedded = DeepLakePassages(tmp_path / "passages", TextVectors())
    for store in (OpenSearchVectorStore(os_client, index_name, TextVectors()), embedded):
        store.add_texts(list(passages.values()), metadata, ids=list(passages))
    keywords = KeywordIndex(tmp_path / "keywords")
    keywords.add(list(passages.items()))
    return index_name, embedded, keywords


QUESTION = as_text([0.3, -1, 0.5, 0.1], "leave office vpn")


def shares(hits):
    return [(hit.id, [part.rank for part in hit.parts]) for hit in hits]


@pytest.mark.parametrize("condition", [None, {"page": 1}])
@pytest.mark.parametrize("normalization", list(Normalization))
def test_hits_are_those_of_the_embedded_stores(os_client, stored, condition, normalization):
    index_name, embedded, keywords = stored
    retriever = OpenSearchHybridRetriever(
        os_client,
        index_name,
        embedding=TextVectors(),
        filter=condition,
        normalization=normalization,
    )
    dense = embedded.similar_ids(QUESTION, 100, filter=condition)
    sparse = keywords.search(QUESTION, 100, embedded.allowed(condition))
    expected = combine_convex(dense, sparse, dense_weight=0.5, normalization=normalization, limit=9)
    hits = retriever.hits(QUESTION, 9)
    assert [hit.id for hit in hits] == [hit.id for hit in expected]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-4)


def test_reciprocal_ranks_are_fused_with_weights(os_client, stored):
    index_name, embedded, keywords = stored
    retriever = OpenSearchHybridRetriever(
        os_client, index_name, embedding=TextVectors(), fusion="rrf", dense_weight=0.7
    )
    lists = {
        "dense": embedded.similar_ids(QUESTION, 100),
        "bm25": keywords.search(QUESTION, 100),
    }
    expected = fuse_reciprocal_ranks(lists, weights=(0.7, 0.3), limit=9)
    assert shares(retriever.hits(QUESTION, 9)) == shares(expected)


def test_documents_come_in_the_order_of_the_hits_also_asynchronously(os_client, stored, passages):
    retriever = OpenSearchHybridRetriever(os_client, stored[0], embedding=TextVectors(), k=5)
    documents = retriever.invoke(QUESTION)
    assert [one.id for one in documents] == [hit.id for hit in retriever.hits(QUESTION)]
    assert [one.page_content for one in documents] == [passages[one.id] for one in documents]
    assert asyncio.run(retriever.ainvoke(QUESTION)) == documents


def test_a_question_without_words_or_without_direction_is_searched_by_the_other(os_client, stored):
    retriever = OpenSearchHybridRetriever(os_client, stored[0], embedding=TextVectors())
    assert retriever.hits(as_text([0, 0, 0, 0], "leave"))
    assert retriever.hits(as_text([1, 0, 0, 0], "!"))


def test_retrievers_combine_in_an_ensemble(os_client, stored):
    index_name = stored[0]
    store = OpenSearchVectorStore(os_client, index_name, TextVectors())
    ensemble = EnsembleRetriever(
        retrievers=[
            store.as_retriever(search_kwargs={"k": 5}),
            OpenSearchLexicalSearchRetriever(os_client, index_name, k=5),
        ],
        weights=[0.5, 0.5],
        id_key=None,
    )
    assert 5 <= len(ensemble.invoke(QUESTION)) <= 10
