"""Reciprocal rank fusion of documents, compared with LangChain's classic ensemble."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers import EnsembleRetriever as ClassicEnsembleRetriever
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import Field

from retrievers.ensemble import EnsembleRetriever

APPLE, TALL, DOG, CAT = "I have an apple", "You are tall", "There is a dog", "There is a cat"


class Fixed(BaseRetriever):
    results: list[Document]
    requested_k: list[Any] = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager, k=None):
        self.requested_k.append(k)
        return self.results[:k]


def fixed(*documents, **options):
    return Fixed(results=list(documents), **options)


def texts(*contents, prefix="p"):
    """Passages whose ids begin with the prefix."""
    return [Document(text, id=f"{prefix}{n}") for n, text in enumerate(contents)]


def fuse(*lists, **options):
    retrievers = [fixed(*documents) for documents in lists]
    return EnsembleRetriever(retrievers=retrievers, **options).invoke("question")


class TestEnsembleRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return EnsembleRetriever

    @property
    def retriever_constructor_params(self):
        return {"retrievers": [fixed(*texts(APPLE, TALL)), fixed(*texts(DOG, CAT, prefix="q"))]}

    @property
    def retriever_query_example(self):
        return "dog"


async def test_async_calls_accept_k():
    retriever = EnsembleRetriever(retrievers=[fixed(*texts(APPLE, TALL, DOG))])
    assert len(await retriever.ainvoke("dog", k=2)) == 2
    assert await retriever.ainvoke("dog") == retriever.invoke("dog")


def test_documents_with_the_same_content_are_merged():
    lists = texts(APPLE, TALL, DOG), texts(DOG, APPLE, TALL, prefix="q")
    fused = fuse(*lists, id_key="page_content")
    assert sorted(document.page_content for document in fused) == [APPLE, DOG, TALL]


def test_documents_with_different_content_are_not_merged():
    lists = texts(APPLE, TALL, DOG), texts(APPLE, TALL, CAT, prefix="q")
    fused = fuse(*lists, id_key="page_content")
    assert sorted(document.page_content for document in fused) == [APPLE, CAT, DOG, TALL]


def test_documents_with_different_ids_are_not_merged_by_default():
    fused = fuse([Document(DOG, id="a")], [Document(DOG, id="b")])
    assert [document.id for document in fused] == ["a", "b"]


def test_a_metadata_key_can_identify_documents():
    a, b = (Document(text, metadata={"document_id": 7}) for text in (DOG, CAT))
    assert [document.page_content for document in fuse([a], [b], id_key="document_id")] == [DOG]


def test_documents_are_compared_by_text_if_one_of_them_has_no_id():
    fused = fuse([Document(DOG, id="a"), Document(CAT, id="b")], [Document(DOG)])
    assert [(document.id, document.page_content) for document in fused] == [("a", DOG), ("b", CAT)]


def test_without_k_all_documents_of_all_children_are_returned():
    lists = [texts(*map(str, range(9)), prefix=prefix) for prefix in "pq"]
    children = [fixed(*one) for one in lists]
    assert len(EnsembleRetriever(retrievers=children).invoke("question")) == 18
    assert [child.requested_k for child in children] == [[None], [None]]


@pytest.mark.parametrize(
    ("id_key", "document", "missing"),
    [
        ("key", Document(DOG, id="a"), "no 'key' in its metadata"),
        ("key", Document(DOG, metadata={"key": None}), "no 'key' in its metadata"),
    ],
)
def test_a_document_without_an_identity_is_an_error_with_a_remedy(id_key, document, missing):
    with pytest.raises(ValueError, match=f"{missing}.*There is a dog.*set id_key"):
        fuse([document], id_key=id_key)


def test_a_repeated_document_counts_at_its_first_rank():
    a, b = texts(DOG, CAT)
    fused = fuse([a, a, a, b])
    assert [document.metadata["score"] for document in fused] == [1 / 61, 1 / 62]


def test_each_part_has_rank_original_score_and_share():
    dense = fixed(Document(DOG, id="d", metadata={"score": 0.7}), name="dense")
    words = fixed(Document(CAT, id="c"), Document(DOG, id="d"), name="bm25")
    fused = EnsembleRetriever(retrievers=[dense, words], weights=[1, 3], c=0).invoke("dog")
    assert fused[1].metadata["parts"] == [
        {"ranker": "dense", "rank": 1, "score": 0.7, "share": 1.0},
        {"ranker": "bm25", "rank": 2, "score": None, "share": 1.5},
    ]
    assert fused[1].metadata["score"] == 2.5
    assert fused[0].metadata["parts"][0] == {
        "ranker": "dense",
        "rank": None,
        "score": None,
        "share": 0.0,
    }


def test_retrievers_of_the_same_class_get_distinct_names():
    (document,) = fuse([Document(DOG, id="d")], [Document(DOG, id="d")])
    assert [part["ranker"] for part in document.metadata["parts"]] == ["Fixed", "Fixed 2"]


def test_each_retriever_returns_at_least_depth_documents():
    base = fixed(*texts(DOG, CAT))
    retriever = EnsembleRetriever(retrievers=[base], depth=50)
    retriever.invoke("dog", k=1)
    retriever.invoke("dog", k=80)
    assert base.requested_k == [50, 80]


def test_empty_lists_do_not_affect_the_others():
    assert fuse([], []) == []
    assert [document.id for document in fuse([], texts(DOG, CAT))] == ["p0", "p1"]


@pytest.mark.parametrize(
    "options",
    [
        {"weights": [1.0]},
        {"weights": [1.0, 1.0, 1.0]},
        {"weights": []},
        {"weights": [1.0, -1.0]},
        {"weights": [1.0, float("nan")]},
        {"c": -1},
        {"k": 0},
        {"depth": 0},
        {"retrievers": []},
    ],
)
def test_invalid_options_are_rejected_at_construction(options):
    with pytest.raises(ValueError):
        EnsembleRetriever(**{"retrievers": [fixed(), fixed()], **options})


def test_k_below_1_is_rejected_when_called():
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        EnsembleRetriever(retrievers=[fixed()]).invoke("dog", k=0)


# An identity may have several texts, and a text several identities.
documents = st.builds(
    lambda key, text: Document(text, id=key, metadata={"key": key}),
    st.sampled_from("abcdefgh"),
    st.sampled_from("ABCDEFGH"),
)


def lists_without_repeated(identity):
    return st.lists(st.lists(documents, max_size=8, unique_by=identity), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("id_key", "classic_key", "identity"),
    [
        ("page_content", None, lambda document: document.page_content),
        ("key", "key", lambda document: document.metadata["key"]),
        (None, "key", lambda document: document.id),
    ],
)
@given(data=st.data(), c=st.integers(0, 100))
def test_the_results_agree_with_the_classic_ensemble(id_key, classic_key, identity, data, c):
    lists = data.draw(lists_without_repeated(identity))
    weight = st.floats(0.01, 1)
    weights = data.draw(st.lists(weight, min_size=len(lists), max_size=len(lists)))
    before = deepcopy(lists)
    classic = ClassicEnsembleRetriever(
        retrievers=[fixed(*documents) for documents in lists],
        weights=weights,
        c=c,
        id_key=classic_key,
    ).invoke("question")
    ours = fuse(*lists, weights=weights, c=c, id_key=id_key, k=100)

    assert [(d.id, d.page_content) for d in ours] == [(d.id, d.page_content) for d in classic]
    assert lists == before, "the input documents are unchanged"
    for document in ours:
        shares = [part["share"] for part in document.metadata["parts"]]
        assert sum(shares) == pytest.approx(document.metadata["score"], abs=1e-12)
