"""Settings and mistakes with which programs use LangChain's vector stores."""

import copy
import math
import pickle

import faiss
import numpy as np
import pytest
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.vectorstores import FAISS
from langchain_community.vectorstores.utils import DistanceStrategy

from services.search.opensearch_retrievers import OpenSearchHybridRetriever
from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors, as_text

METRICS = ["cosine", "euclidean", "inner_product"]


def ids_of(scored):
    return [one.id for one, _ in scored]


def distance(metric, query, vector):
    """The score by its definition."""
    query, vector = np.array(query, float), np.array(vector, float)
    if metric == "euclidean":
        return math.sqrt(((query - vector) ** 2).sum())
    product = float(query @ vector)
    return (
        product if metric == "inner_product" else product / math.hypot(*query) / math.hypot(*vector)
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_distance_metric_best_first(open_store, metric, seed):
    store = open_store(distance_metric=metric)
    rng = np.random.default_rng(seed)
    vectors = {str(n): rng.standard_normal(4) * rng.uniform(0.2, 3) for n in range(40)}
    texts = [as_text(vector) for vector in vectors.values()]
    store.add_texts(texts, [{"n": n % 3} for n in range(40)], ids=list(vectors))
    query = rng.standard_normal(4)
    for step in range(2):
        if step:
            store.delete(["3", "9"])
            store.add_texts([texts[0], texts[1]], [{"n": 1}] * 2, ids=["5", "50"])
            vectors = {i: v for i, v in vectors.items() if i not in ("3", "9")}
            vectors |= {"5": vectors["0"], "50": vectors["1"]}
        scores = {id_: distance(metric, query, vector) for id_, vector in vectors.items()}
        best = sorted(scores, key=scores.get, reverse=metric != "euclidean")
        found = store.similarity_search_with_score(as_text(query), 12)
        assert [s for _, s in found] == pytest.approx([scores[i] for i in best[:12]], abs=2e-3)
        assert [s for _, s in found] == pytest.approx([scores[i] for i in ids_of(found)], abs=2e-3)
        assert [pair[0] for pair in store.similar_ids(as_text(query), 12)] == ids_of(found)
        some = store.similarity_search_with_score(as_text(query), 50, filter={"n": 1})
        assert [s for _, s in some] == sorted([s for _, s in some], reverse=metric != "euclidean")
        assert {one.metadata["n"] for one, _ in some} == {1}


@pytest.mark.parametrize(
    ("metric", "strategy", "flat"),
    [
        ("euclidean", DistanceStrategy.EUCLIDEAN_DISTANCE, faiss.IndexFlatL2),
        ("inner_product", DistanceStrategy.MAX_INNER_PRODUCT, faiss.IndexFlatIP),
    ],
)
def test_rankings_equal_those_of_langchains_faiss_store(tmp_path, metric, strategy, flat):
    rng = np.random.default_rng(8)
    texts = [as_text(rng.standard_normal(6) * rng.uniform(0.2, 3), str(n)) for n in range(60)]
    ids = [str(n) for n in range(60)]
    store = DeepLakePassages(tmp_path / "passages", TextVectors(), distance_metric=metric)
    oracle = FAISS(TextVectors(), flat(6), InMemoryDocstore(), {}, distance_strategy=strategy)
    for one in (store, oracle):
        one.add_texts(texts, [{"n": n} for n in range(60)], ids=ids)
    query = as_text(rng.standard_normal(6))
    ours = store.similarity_search_with_score(query, 20)
    theirs = oracle.similarity_search_with_score(query, 20)
    assert ids_of(ours) == ids_of(theirs)
    expected = [math.sqrt(s) if metric == "euclidean" else s for _, s in theirs]
    assert [s for _, s in ours] == pytest.approx(expected, abs=1e-4)
    unlike = {"k": 6, "fetch_k": 20, "lambda_mult": 0.3}
    assert {one.id for one in store.max_marginal_relevance_search(query, **unlike)} <= {
        one.id for one, _ in theirs
    }


def test_a_zero_vector_has_a_distance_and_an_inner_product(open_store):
    for metric, expected in (("euclidean", 2.0), ("inner_product", 0.0)):
        store = open_store(distance_metric=metric)
        if metric == "inner_product" and not isinstance(store, DeepLakePassages):
            continue  # the metric of an index on OpenSearch can't be changed
        store.add_texts(["0 0"], ids=["zero"])
        [(found, score)] = store.similarity_search_with_score("0 2")
        assert (found.id, score) == ("zero", pytest.approx(expected, abs=1e-3))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("cosine", {"same": 1, "near": 0.6, "opposite": 0}),
        ("euclidean", {"same": 1, "near": 1 - math.sqrt(0.8) / math.sqrt(2), "opposite": 0}),
        ("inner_product", {"same": 1, "near": 0.6, "opposite": 0}),
    ],
)
def test_relevance_is_between_0_and_1_and_larger_if_nearer(open_store, metric, expected):
    store = open_store(distance_metric=metric)
    store.add_texts(["1 0", "0.6 0.8", "-1 0"], ids=list(expected))
    scored = store.similarity_search_with_relevance_scores("1 0")
    assert {one.id: score for one, score in scored} == pytest.approx(expected, abs=1e-3)
    options = {"score_threshold": 0.3}
    retriever = store.as_retriever(search_type="similarity_score_threshold", search_kwargs=options)
    assert [one.id for one in retriever.invoke("1 0")] == ["same", "near"]


def test_a_relevance_function_replaces_the_default(open_store):
    store = open_store(
        distance_metric="euclidean", relevance_score_fn=lambda distance: 1 / (1 + distance)
    )
    store.add_texts(["3 0", "0 4"], ids=["three", "four"])
    scored = store.similarity_search_with_relevance_scores("0 0")
    assert {one.id: score for one, score in scored} == pytest.approx(
        {"three": 1 / 4, "four": 1 / 5}, abs=1e-3
    )


def test_an_unknown_metric_is_rejected_with_the_known_ones(open_store):
    with pytest.raises(ValueError, match="cosine, euclidean, inner_product, got 'l2'"):
        open_store(distance_metric="l2")


@pytest.mark.opensearch
def test_an_index_of_another_metric_is_rejected(open_store):
    if isinstance(open_store(), DeepLakePassages):
        pytest.skip("a folder can be opened with any metric")
    open_store(distance_metric="euclidean").add_texts(["1 0"])
    with pytest.raises(ValueError, match="l2, not by cosinesimil: set the distance_metric"):
        open_store().similarity_search("1 0")
    with pytest.raises(ValueError, match="l2, not by cosinesimil"):
        open_store().add_texts(["1 0"])


@pytest.mark.opensearch
def test_the_hybrid_retriever_rejects_an_index_of_another_metric(os_client, index_name):
    embedding = TextVectors()
    store = OpenSearchVectorStore(os_client, index_name, embedding, distance_metric="euclidean")
    store.add_texts(["1 0"])
    retriever = OpenSearchHybridRetriever(os_client, index_name, embedding=embedding)
    with pytest.raises(ValueError, match="l2, not by cosinesimil"):
        retriever.invoke("1 0")


@pytest.mark.parametrize("id_", [0, 7, b"a", 1.5])
def test_an_id_that_is_not_a_string_is_rejected(store, id_):
    store.add_texts(["1 0"], ids=["7"])
    for action in (
        lambda: store.add_texts(["1 0"], ids=[id_]),
        lambda: store.add_vectors([id_], ["a"], np.ones((1, 2)), [{}]),
        lambda: store.delete([id_]),
        lambda: store.get_by_ids([id_]),
    ):
        with pytest.raises(TypeError, match=f"id must be a string, got {id_!r}"):
            action()
    assert store.ids() == ["7"]


def test_a_single_string_is_not_taken_for_a_list_of_ids(store):
    with pytest.raises(TypeError):
        store.add_texts(["1 0", "0 1"], ids="ab")
    store.add_texts(["1 0", "0 1"], ids=["a", "b"])
    for action in (store.delete, store.get_by_ids):
        with pytest.raises(TypeError, match="a list of strings, got 'ab'"):
            action("ab")
    assert sorted(store.ids()) == ["a", "b"]


@pytest.mark.parametrize("action", [pickle.dumps, copy.copy, copy.deepcopy])
def test_pickling_or_copying_a_store_is_rejected_with_a_remedy(store, action):
    with pytest.raises(TypeError, match="can't be pickled or copied.*create it again"):
        action(store)
