"""Every store finds exactly what a filter describes, evaluated in plain Python."""

import random
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from langchain_core.vectorstores import InMemoryVectorStore

from services.search.opensearch_retrievers import OpenSearchHybridRetriever
from tests.quick import examples
from tests.storage.test_filters import filters, satisfies
from tests.storage.vectors.random_vectors import TextVectors, as_text

VALUES = [None, True, False, -1, 0, 1, 2.5, "", "a", "b", "1", [], ["a"], ["a", 1], [True], {}]
QUESTION = "1 1 | question"


def rows():
    rng = random.Random(5)
    names = ["page", "format", "lang"]
    return [{name: rng.choice(VALUES) for name in names if rng.random() < 0.8} for _ in range(120)]


def filled(store):
    metadata = rows()
    texts = [as_text([1, n], "text") for n in range(len(metadata))]
    store.add_texts(texts, metadata, ids=[str(n) for n in range(len(metadata))])
    return store


@pytest.fixture
def library(store):
    return filled(store)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(300))
@given(condition=filters)
def test_a_filter_finds_exactly_the_passages_that_satisfy_it(library, condition):
    expected = {str(n) for n, row in enumerate(rows()) if satisfies(row, condition)}
    found = library.similarity_search(QUESTION, 200, filter=condition)
    assert {one.id for one in found} == expected
    assert library.matching([str(n) for n in range(150)], condition) == expected


def test_a_filtered_search_equals_that_of_the_in_memory_store(library):
    oracle = filled(InMemoryVectorStore(TextVectors()))
    condition = {"$and": [{"page": {"$not": {"$gt": 0}}}, {"lang": {"$exists": True}}]}
    ours = library.similarity_search_with_score(QUESTION, 7, filter=condition)
    theirs = oracle.similarity_search_with_score(
        QUESTION, 7, filter=lambda document: satisfies(document.metadata, condition)
    )
    assert [one.id for one, _ in ours] == [one.id for one, _ in theirs]
    assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], abs=1e-5)


SEARCHES = ["similarity_search", "similarity_search_with_score", "max_marginal_relevance_search"]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("condition", "name"),
    [
        (lambda _document: True, "lambda"),
        ([{"page": 1}], "page"),
        ({"page": lambda value: value > 1}, "lambda"),
        ({"page": {"$regex": "a"}}, r"\$regex"),
        ({"$nor": [{"page": 1}]}, r"\$nor"),
        ({"page": {"$between": [1, 2]}}, r"\$between"),
    ],
)
def test_what_is_not_a_filter_is_rejected_by_name_even_by_an_empty_store(
    store, search, condition, name
):
    with pytest.raises(ValueError, match=f"Filter.*{name}"):
        getattr(store, search)(QUESTION, filter=condition)


def test_dates_and_values_of_numpy_are_stored_and_can_be_searched_for(store):
    moments = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3)]
    metadata = [
        {"at": moment, "page": np.int64(n), "share": np.float32(0.5), "new": np.bool_(n == 2)}
        for n, moment in enumerate(moments)
    ]
    store.add_texts(["1 0", "1 1", "0 1"], metadata, ids=["a", "b", "c"])
    [first] = store.get_by_ids(["a"])
    expected = {"at": "2026-01-01T00:00:00+00:00", "page": 0, "share": 0.5, "new": False}
    assert first.metadata == expected
    assert [type(value) for value in first.metadata.values()] == [str, int, float, bool]
    for condition in (
        {"at": {"$gt": moments[1]}},
        {"page": np.int64(2)},
        {"new": np.bool_(True)},
        {"page": {"$in": np.array([2, 5])}},
    ):
        assert [one.id for one in store.similarity_search("1 1", filter=condition)] == ["c"]


def test_the_hybrid_retriever_rejects_a_function_as_a_filter():
    with pytest.raises(ValueError, match="filter"):
        OpenSearchHybridRetriever(None, "any", embedding=TextVectors(), filter=lambda _row: True)
