"""Lists of documents fused by reciprocal rank, checked against LangChain's classic ensemble."""

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
    found: list[Document]
    asked_for: list[Any] = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager, k=None):
        self.asked_for.append(k)
        return self.found[:k]


def fixed(*documents, **options):
    return Fixed(found=list(documents), **options)


def texts(*contents, prefix="p"):
    """Passages with ids of their own for each prefix."""
    return [Document(text, id=f"{prefix}{n}") for n, text in enumerate(contents)]


def fuse(*lists, **options):
    retrievers = [fixed(*found) for found in lists]
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


async def test_k_is_taken_asynchronously_too():
    retriever = EnsembleRetriever(retrievers=[fixed(*texts(APPLE, TALL, DOG))])
    assert len(await retriever.ainvoke("dog", k=2)) == 2
    assert await retriever.ainvoke("dog") == retriever.invoke("dog")


def test_three_texts_in_two_retrievers_give_three_by_their_content():
    lists = texts(APPLE, TALL, DOG), texts(DOG, APPLE, TALL, prefix="q")
    found = fuse(*lists, id_key="page_content")
    assert sorted(document.page_content for document in found) == [APPLE, DOG, TALL]


def test_they_give_four_when_one_text_differs():
    lists = texts(APPLE, TALL, DOG), texts(APPLE, TALL, CAT, prefix="q")
    found = fuse(*lists, id_key="page_content")
    assert sorted(document.page_content for document in found) == [APPLE, CAT, DOG, TALL]


def test_the_same_text_under_two_ids_stays_two_by_default():
    found = fuse([Document(DOG, id="a")], [Document(DOG, id="b")])
    assert [document.id for document in found] == ["a", "b"]


def test_a_key_of_the_metadata_can_be_the_identity():
    a, b = (Document(text, metadata={"document_id": 7}) for text in (DOG, CAT))
    assert [document.page_content for document in fuse([a], [b], id_key="document_id")] == [DOG]


@pytest.mark.parametrize(
    ("id_key", "document", "lacking"),
    [
        (None, Document(DOG), "no id"),
        ("key", Document(DOG, id="a"), "no 'key' in its metadata"),
        ("key", Document(DOG, metadata={"key": None}), "no 'key' in its metadata"),
    ],
)
def test_a_document_without_its_identity_is_an_error_that_says_what_to_do(
    id_key, document, lacking
):
    with pytest.raises(ValueError, match=f"{lacking}.*There is a dog.*set id_key"):
        fuse([document], id_key=id_key)


def test_a_document_that_stands_in_a_list_twice_counts_where_it_comes_first():
    a, b = texts(DOG, CAT)
    found = fuse([a, a, a, b])
    assert [document.metadata["score"] for document in found] == [1 / 61, 1 / 62]


def test_each_part_tells_rank_own_score_and_share():
    dense = fixed(Document(DOG, id="d", metadata={"score": 0.7}), name="dense")
    words = fixed(Document(CAT, id="c"), Document(DOG, id="d"), name="bm25")
    found = EnsembleRetriever(retrievers=[dense, words], weights=[1, 3], c=0).invoke("dog")
    assert found[1].metadata["parts"] == [
        {"ranker": "dense", "rank": 1, "score": 0.7, "share": 1.0},
        {"ranker": "bm25", "rank": 2, "score": None, "share": 1.5},
    ]
    assert found[1].metadata["score"] == 2.5
    assert found[0].metadata["parts"][0] == {
        "ranker": "dense",
        "rank": None,
        "score": None,
        "share": 0.0,
    }


def test_retrievers_without_a_name_of_their_own_are_told_apart():
    (document,) = fuse([Document(DOG, id="d")], [Document(DOG, id="d")])
    assert [part["ranker"] for part in document.metadata["parts"]] == ["Fixed", "Fixed 2"]


def test_each_retriever_is_asked_for_more_than_is_wanted_in_the_end():
    base = fixed(*texts(DOG, CAT))
    retriever = EnsembleRetriever(retrievers=[base], depth=50)
    retriever.invoke("dog", k=1)
    retriever.invoke("dog", k=80)
    assert base.asked_for == [50, 80]


def test_what_finds_nothing_takes_no_part():
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
def test_what_makes_no_sense_is_refused_when_it_is_built(options):
    with pytest.raises(ValueError):
        EnsembleRetriever(**{"retrievers": [fixed(), fixed()], **options})


def test_k_below_1_is_refused_when_asked():
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        EnsembleRetriever(retrievers=[fixed()]).invoke("dog", k=0)


# Of one identity there may be several texts, and of one text several identities.
documents = st.builds(
    lambda key, text: Document(text, id=key, metadata={"key": key}),
    st.sampled_from("abcdefgh"),
    st.sampled_from("ABCDEFGH"),
)


def lists_without_a_repeated(identity):
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
def test_it_agrees_with_the_classic_ensemble(id_key, classic_key, identity, data, c):
    lists = data.draw(lists_without_a_repeated(identity))
    weight = st.floats(0.01, 1)
    weights = data.draw(st.lists(weight, min_size=len(lists), max_size=len(lists)))
    before = deepcopy(lists)
    classic = ClassicEnsembleRetriever(
        retrievers=[fixed(*found) for found in lists], weights=weights, c=c, id_key=classic_key
    ).invoke("question")
    ours = fuse(*lists, weights=weights, c=c, id_key=id_key, k=100)

    assert [(d.id, d.page_content) for d in ours] == [(d.id, d.page_content) for d in classic]
    assert lists == before, "the documents given are not touched"
    for document in ours:
        shares = [part["share"] for part in document.metadata["parts"]]
        assert sum(shares) == pytest.approx(document.metadata["score"], abs=1e-12)
