import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from storage.filters import checks_of, matches
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors, as_text

ROOT = Path(__file__).parents[3]


class TestLangChainStandardSuite(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        return DeepLakePassages(tmp_path / "passages", self.get_embeddings())


@pytest.fixture
def store(tmp_path):
    return DeepLakePassages(tmp_path / "passages", TextVectors())


def reopen(store, tmp_path):
    """Open the same folder again."""
    return DeepLakePassages(tmp_path / "passages", TextVectors())


def ids_of(documents):
    return [document.id for document in documents]


# --- the same as LangChain's InMemoryVectorStore -------------------------------------------


def random_history(seed, stores, steps=12, dimension=6):
    """Apply the same random changes to each store; some vectors occur twice."""
    rng = np.random.default_rng(seed)
    past = [rng.standard_normal(dimension)]
    for _ in range(steps):
        if rng.random() < 0.3:
            deleted = [str(n) for n in rng.integers(0, 60, rng.integers(1, 8))]
            for store in stores:
                store.delete(deleted)
            continue
        size = int(rng.integers(1, 12))
        vectors = [
            past[rng.integers(len(past))] if rng.random() < 0.1 else rng.standard_normal(dimension)
            for _ in range(size)
        ]
        past += vectors
        ids = [str(n) for n in rng.integers(0, 60, size)]
        texts = [as_text(vector, f"{rng.integers(1000)}") for vector in vectors]
        metadata = [
            {"page": int(rng.integers(5)), "lang": str(rng.choice(["en", "ko"]))} for _ in ids
        ]
        for store in stores:
            store.add_texts(texts, metadata, ids=ids)
    return rng


def groups(scored):
    """Ids and texts by score, because the order of equal scores is undefined."""
    ids_by_score = {}
    for document, score in scored:
        ids_by_score.setdefault(round(score, 4), set()).add((document.id, document.page_content))
    return ids_by_score


def assert_same_ranking(ours, theirs):
    assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], abs=1e-5)
    last = round(theirs[-1][1], 4) if theirs else None  # k may split a group of equal scores
    mine, other = groups(ours), groups(theirs)
    assert {s: g for s, g in mine.items() if s != last} == {
        s: g for s, g in other.items() if s != last
    }


@pytest.mark.parametrize("seed", range(12))
def test_results_equal_those_of_the_in_memory_store(seed, store, tmp_path):
    oracle = InMemoryVectorStore(TextVectors())
    rng = random_history(seed, [store, oracle])
    conditions = {"page": {"$gte": 1, "$lt": 4}, "lang": {"$in": ["ko", "ja"]}}
    checks = checks_of(conditions)
    for current in (store, reopen(store, tmp_path)):
        assert sorted(current.ids()) == sorted(oracle.store)
        for k in (1, 4, 200):
            query = rng.standard_normal(6).tolist()
            assert_same_ranking(
                current.similarity_search_with_score(as_text(query), k),
                oracle.similarity_search_with_score(as_text(query), k),
            )
            assert_same_ranking(
                current.similarity_search_with_score_by_vector(query, k, filter=conditions),
                oracle.similarity_search_with_score_by_vector(
                    query, k, filter=lambda document: matches(checks, document.metadata)
                ),
            )


@pytest.mark.parametrize("lambda_mult", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("fetch_k", [3, 20, 100])
def test_mmr_results_equal_those_of_the_in_memory_store(store, lambda_mult, fetch_k):
    oracle = InMemoryVectorStore(TextVectors())
    rng = np.random.default_rng(fetch_k)
    texts = [as_text(vector) for vector in rng.standard_normal((50, 5)) * 3]
    for target in (store, oracle):
        target.add_texts(texts, [{"n": n} for n in range(50)], ids=[str(n) for n in range(50)])
    for _ in range(5):
        query = rng.standard_normal(5).tolist()
        settings = {"k": 6, "fetch_k": fetch_k, "lambda_mult": lambda_mult}
        assert ids_of(store.max_marginal_relevance_search(as_text(query), **settings)) == ids_of(
            oracle.max_marginal_relevance_search(as_text(query), **settings)
        )
        assert ids_of(
            store.max_marginal_relevance_search_by_vector(
                query, **settings, filter={"n": {"$lt": 25}}
            )
        ) == ids_of(
            oracle.max_marginal_relevance_search_by_vector(
                query, **settings, filter=lambda document: document.metadata["n"] < 25
            )
        )


# --- storing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"none": None, "empty": {}, "list": [], "deep": [[1, [None]], {"a": {"b": [True]}}]},
        {"int": 2**60, "float": 0.1 + 0.2, "text": "따옴표 ' \" \\ \u2028 💥", "": "empty key"},
    ],
)
def test_metadata_is_stored_unchanged(store, tmp_path, metadata):
    store.add_texts(["1 0 | x"], [metadata], ids=["a"])
    stored = reopen(store, tmp_path).get_by_ids(["a"])[0].metadata
    assert stored == metadata
    assert repr(stored) == repr(metadata)


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\x00\x00b", "a\x00b", "\ufeff", "'; DROP", "日本語\n\r\n"]
)
def test_texts_and_ids_are_stored_unchanged(tmp_path, text):
    for current in (0, 1):
        store = DeepLakePassages(tmp_path / "p", DeterministicFakeEmbedding(size=4))
        if current == 0:
            store.add_texts([text, "other"], ids=["id " + text, "o"])
        assert [passage.page_content for passage in store.get_by_ids(["id " + text])] == [text]
        assert text in [passage.page_content for passage in store.similarity_search("x", 5)]


@pytest.mark.parametrize(
    ("ids", "texts", "vectors", "metadata", "message"),
    [
        (["a"], ["x"], [[math.nan, 1]], [{}], "finite"),
        (["a"], ["x"], [[math.inf, 1]], [{}], "finite"),
        (["a"], ["x"], [[1e300, 1]], [{}], "finite"),
        (["a"], ["x"], [[1, 2, 3]], [{}], "3.*2"),
        (["a"], ["x"], [1, 2], [{}], "lengths: 1, 1, 2 and 1"),
        (["a"], ["x", "y"], [[1, 2]], [{}], "lengths: 1, 2, 1 and 1"),
        ([], ["x"], [[1, 2]], [{}], "lengths: 0, 1, 1 and 1"),
        (["a"], ["x"], [[1, 2]], [{"when": object()}], "'a'"),
        (["a"], ["x"], [[1, 2]], [{"deep": [{1: 2}]}], "'a'"),
        (["a"], ["\ud800"], [[1, 2]], [{}], "'a'"),
        ([""], ["x"], [[1, 2]], [{}], "empty"),
    ],
)
def test_values_that_cannot_be_stored_exactly_are_rejected(
    store, ids, texts, vectors, metadata, message
):
    store.add_texts(["1 2 | old"], ids=["old"])
    with pytest.raises(ValueError, match=message):
        store.add_vectors(ids, texts, np.array(vectors), metadata)
    assert store.ids() == ["old"]


def test_the_last_of_duplicate_ids_in_one_call_counts(store):
    store.add_texts(["1 0 | old", "0 1 | b", "1 1 | new"], ids=["a", "b", "a"])
    assert sorted(store.ids()) == ["a", "b"]
    assert store.get_by_ids(["a"])[0].page_content == "1 1 | new"


def test_missing_ids_are_generated(store):
    ids = store.add_documents([Document(id="mine", page_content="1 0"), Document("0 1")])
    assert ids[0] == "mine"
    assert len(set(ids)) == 2
    assert sorted(store.ids()) == sorted(ids)


def test_a_batch_size_limits_the_texts_per_call_of_the_model(tmp_path):
    sizes = []

    class CountedVectors(TextVectors):
        def embed_documents(self, texts):
            sizes.append(len(texts))
            return super().embed_documents(texts)

    store = DeepLakePassages(tmp_path / "passages", CountedVectors())
    texts = [f"1 {number}" for number in range(5)]
    store.add_texts(texts, ids=list("abcde"), batch_size=2)
    assert sizes == [2, 2, 1]
    assert [one.page_content for one in store.get_by_ids(list("abcde"))] == texts
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        store.add_texts(texts, batch_size=0)


def test_get_by_ids_keeps_the_order_and_skips_unknown_ids(store):
    store.add_texts(["1 0", "0 1", "1 1"], ids=["a", "b", "c"])
    assert ids_of(store.get_by_ids(["c", "nobody", "a"])) == ["c", "a"]


def test_vectors_are_stored_unchanged(store, tmp_path):
    vectors = np.float32([[3, 4], [0, 0], [1e-20, 7]])
    store.add_vectors(["a", "b", "c"], ["x"] * 3, vectors, [{}] * 3)
    stored = reopen(store, tmp_path).vectors_of(["c", "nobody", "a", "b", "c"])
    assert list(stored) == ["c", "a", "b"]
    assert np.array_equal(np.stack([stored[name] for name in "abc"]), vectors)


def test_delete_without_ids_deletes_all_and_with_an_empty_list_nothing(store, tmp_path):
    store.add_texts(["1 0", "0 1"], ids=["a", "b"])
    store.delete([])
    assert len(store) == 2
    store.delete()
    assert store.ids() == reopen(store, tmp_path).ids() == []
    assert store.similarity_search("1 0") == []
    store.add_texts(["1 0"], ids=["c"])
    assert ids_of(store.similarity_search("1 0")) == ["c"]


# --- searching ----------------------------------------------------------------------------------


def test_zero_vectors_are_stored_but_never_found(store):
    store.add_texts(["0 0 | korean", "-1 0 | far", "1 0 | near"], ids=["zero", "far", "near"])
    assert ids_of(store.similarity_search("1 0", 9)) == ["near", "far"]
    assert ids_of(store.max_marginal_relevance_search("1 0", 9)) == ["near", "far"]
    assert ids_of(store.get_by_ids(["zero"])) == ["zero"]
    assert store.similarity_search("0 0", 9) == []
    assert store.max_marginal_relevance_search("0 0", 9) == []


@pytest.mark.parametrize("k", [0, -1])
def test_k_must_be_positive(store, k):
    store.add_texts(["1 0"])
    for search in (store.similarity_search, store.max_marginal_relevance_search):
        with pytest.raises(ValueError, match="k must be"):
            search("1 0", k)
    with pytest.raises(ValueError, match="k must be"):
        store.similar_ids("1 0", k)
    with pytest.raises(ValueError, match="fetch_k"):
        store.diverse_ids("1 0", 2, k)
    with pytest.raises(ValueError, match="fetch_k"):
        store.max_marginal_relevance_search("1 0", 2, k)


def test_the_error_for_a_query_of_another_dimension_names_both(store):
    store.add_texts(["1 0"])
    with pytest.raises(ValueError, match=r"3.*2"):
        store.similarity_search("1 0 0")
    with pytest.raises(ValueError, match="finite"):
        store.similarity_search_by_vector([math.nan, 1.0])


def test_relevance_is_the_cosine_with_a_minimum_of_zero(store):
    store.add_texts(["1 0", "1 1", "0 1", "-1 0"], ids=["same", "half", "right angle", "opposite"])
    scored = store.similarity_search_with_relevance_scores("2 0", 9)
    assert {document.id: score for document, score in scored} == pytest.approx(
        {"same": 1, "half": math.sqrt(0.5), "right angle": 0, "opposite": 0}
    )
    assert all(0 <= score <= 1 for _, score in scored)
    pairs = store.similarity_search_with_relevance_scores("2 0", 9, score_threshold=0.7)
    assert ids_of(document for document, _ in pairs) == ["same", "half"]


RETRIEVERS = [
    {"search_type": "similarity", "search_kwargs": {"k": 9}},
    {"search_type": "similarity_score_threshold", "search_kwargs": {"score_threshold": 0.5}},
    {"search_type": "mmr", "search_kwargs": {"k": 9, "fetch_k": 9}},
]


@pytest.mark.parametrize("kind", RETRIEVERS, ids=lambda kind: kind["search_type"])
async def test_retrievers_of_each_type_filter_results_also_asynchronously(store, kind):
    store.add_texts(["1 0", "1 0.1", "1 0.2"], [{"p": 1}, {"p": 2}, {}], ids=["a", "b", "c"])
    retriever = store.as_retriever(**kind)
    assert set(ids_of(retriever.invoke("1 0"))) == {"a", "b", "c"}
    assert ids_of(retriever.invoke("1 0", filter={"p": {"$gt": 1}})) == ["b"]
    assert ids_of(await retriever.ainvoke("1 0", filter={"p": {"$gt": 1}})) == ["b"]


async def test_async_methods_equal_sync_methods(tmp_path):
    store = await DeepLakePassages.afrom_documents(
        [Document(id="a", page_content="1 0", metadata={"p": 1}), Document("0 1")],
        TextVectors(),
        path=tmp_path / "passages",
    )
    await store.aadd_texts(["1 1"], [{"p": 2}], ids=["c"])
    assert ids_of(await store.aget_by_ids(["c"])) == ["c"]
    options = {"filter": {"p": {"$in": [1, 2]}}}
    assert ids_of(await store.asimilarity_search("1 0", 9, **options)) == ["a", "c"]
    assert ids_of(await store.asimilarity_search_by_vector([1, 0], 9, **options)) == ["a", "c"]
    scored = await store.asimilarity_search_with_score("1 0", 9, **options)
    assert [score for _, score in scored] == pytest.approx([1, math.sqrt(0.5)])
    relevant = await store.asimilarity_search_with_relevance_scores("1 0", 9, **options)
    assert len(relevant) == 2
    assert ids_of(await store.amax_marginal_relevance_search("1 0", 9, **options)) == ["a", "c"]
    by_vector = await store.amax_marginal_relevance_search_by_vector([1, 0], 9, **options)
    assert ids_of(by_vector) == ["a", "c"]
    await store.adelete(["a"])
    assert len(store) == 2


@pytest.mark.parametrize("seed", range(4))
def test_searches_return_exactly_the_rows_that_match_the_filter(store, tmp_path, seed):
    rng = random_history(seed, [store], steps=15)
    filters = [
        {"page": 2},
        {"page": {"$in": [0, 4]}, "lang": "en"},
        {"page": {"$gt": 1, "$lte": 3}},
        {"lang": {"$lt": "en"}},
        {"missing": None},
    ]
    for current in (store, reopen(store, tmp_path)):
        everything = current.get_by_ids(current.ids())
        for conditions in filters:
            checks = checks_of(conditions)
            expected = {passage.id for passage in everything if matches(checks, passage.metadata)}
            query = rng.standard_normal(6).tolist()
            for pairs in (
                current.similar_ids(as_text(query), 200, filter=conditions),
                current.diverse_ids(as_text(query), 200, 200, filter=conditions),
            ):
                assert {id_ for id_, _ in pairs} == expected
            allowed = current.allowed(conditions)
            assert {id_ for id_ in [*current.ids(), "nobody"] if allowed(id_)} == expected
            for results in (
                current.similarity_search(as_text(query), 200, filter=conditions),
                current.similarity_search_by_vector(query, 200, filter=conditions),
                current.max_marginal_relevance_search(as_text(query), 200, 200, filter=conditions),
            ):
                assert set(ids_of(results)) == expected


@pytest.mark.parametrize("conditions", [None, {"page": {"$gte": 2}}])
@pytest.mark.parametrize("seed", range(3))
def test_id_searches_equal_full_searches(store, seed, conditions):
    query = as_text(random_history(seed, [store], steps=10).standard_normal(6))
    for k in (1, 5, 200):
        similar = store.similarity_search_with_score(query, k, filter=conditions)
        assert store.similar_ids(query, k, filter=conditions) == [(d.id, s) for d, s in similar]
        diverse = store.max_marginal_relevance_search(query, k, 20, 0.3, filter=conditions)
        diverse_ids = store.diverse_ids(query, k, 20, 0.3, filter=conditions)
        assert [id_ for id_, _ in diverse_ids] == ids_of(diverse)
        assert set(diverse_ids) <= set(store.similar_ids(query, 200, filter=conditions))


def test_unknown_filter_arguments_and_operators_are_rejected(store):
    store.add_texts(["1 0"], [{"page": 1}])
    with pytest.raises(TypeError, match="filters"):
        store.similarity_search("1 0", filters={"page": 2})
    for search in (
        store.allowed,
        lambda f: store.similar_ids("1", 1, filter=f),
    ):
        with pytest.raises(ValueError, match=r"\$near"):
            search({"page": {"$near": 2}})
    with pytest.raises(ValueError, match=r"\$near"):
        store.as_retriever(search_kwargs={"filter": {"page": {"$near": 2}}}).invoke("1 0")


# --- opening ------------------------------------------------------------------------------------


def test_a_missing_folder_is_read_as_empty_and_not_created(tmp_path):
    store = DeepLakePassages(tmp_path / "none", TextVectors())
    assert store.similarity_search("1 0") == store.ids() == store.get_by_ids(["a"]) == []
    assert store.vectors_of(["a"]) == {}
    assert store.similar_ids("1 0", 3) == store.diverse_ids("1 0", 3) == []
    assert not store.allowed({"page": 1})("a")
    store.add_texts([])
    store.delete(["a"])
    assert not (tmp_path / "none").exists()


def test_a_store_that_did_not_exist_sees_later_commits(tmp_path):
    reader = DeepLakePassages(tmp_path / "p", TextVectors())
    assert reader.ids() == []
    DeepLakePassages(tmp_path / "p", TextVectors()).add_texts(["1 0"], ids=["a"])
    assert ids_of(reader.similarity_search("1 0")) == ["a"]


def test_deeplake_is_imported_only_if_there_is_something_to_read(tmp_path):
    code = """
import sys
from pathlib import Path
from tests.fakes.models import HashingEmbeddings
from storage.vectors.passage_store import DeepLakePassages
store = DeepLakePassages(Path(sys.argv[1]) / "none", HashingEmbeddings())
assert store.similarity_search("x") == [] and len(store) == 0
assert "deeplake" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, timeout=60)
