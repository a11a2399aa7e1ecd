import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.vectors import vector_index
from storage.vectors.vector_index import VectorIndex, unit_length
from tests.quick import examples


def index_of(vectors, included=None):
    vectors = np.asarray(vectors, dtype=np.float32)
    mask = np.ones(len(vectors), bool) if included is None else np.asarray(included)
    return VectorIndex.load(lambda a, b: vectors[a:b], vectors.shape[1], mask)


def plain_ranking(vectors, query, rows):
    """Cosines computed from the definition in double precision, in descending order."""
    scores = {}
    for row in rows:
        a, b = np.asarray(vectors[row], float), np.asarray(query, float)
        if a.any():
            scores[row] = float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b))
    return sorted(scores.items(), key=lambda pair: -pair[1])


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 60),
    k=st.integers(1, 70),
    share=st.sampled_from([None, 0.0, 0.1, 0.6, 1.0]),
)
def test_results_are_ranked_by_cosine(seed, rows, k, share):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((rows, 7)) * 10 ** rng.uniform(-6, 6, (rows, 1))
    vectors[rng.random(rows) < 0.1] = 0
    query = rng.standard_normal(7)
    allowed = None if share is None else rng.random(rows) < share
    candidates = range(rows) if allowed is None else np.flatnonzero(allowed)

    results = index_of(vectors).search(unit_length(query[None])[0][0], k, allowed)

    scores = dict(plain_ranking(vectors, query, candidates))
    assert len(dict(results)) == len(results)
    assert [s for _, s in results] == pytest.approx(list(scores.values())[:k], abs=1e-5)
    assert [scores[row] for row, _ in results] == pytest.approx([s for _, s in results], abs=1e-5)


def test_equal_vectors_are_in_row_order_even_if_k_excludes_some():
    index = index_of([[1, 0], [2, 0], [0, 1], [5, 0], [3, 0]])
    assert [row for row, _ in index.search(np.float32([1, 0]), 3)] == [0, 1, 3]


def test_excluded_rows_and_zero_vectors_are_never_found():
    index = index_of([[1, 0], [0, 0], [1, 1], [0, 1]], included=[True, True, False, True])
    assert [row for row, _ in index.search(np.float32([1, 0]), 9)] == [0, 3]


def test_huge_and_tiny_vectors_keep_their_direction():
    index = index_of([[3e38, 0], [1e-44, 0], [0, 1e-30]])
    results = dict(index.search(np.float32([1, 0]), 3))
    assert results == pytest.approx({0: 1.0, 1: 1.0, 2: 0.0})


def test_loading_in_blocks_reads_every_row_once(monkeypatch):
    monkeypatch.setattr(vector_index, "BLOCK_ROWS", 3)
    vectors = np.eye(8, dtype=np.float32)
    index = index_of(vectors)
    for row in range(8):
        assert index.search(vectors[row], 1) == [(row, 1.0)]
    assert np.array_equal(index.vectors([5, 2]), vectors[[5, 2]])


def test_an_empty_index_has_no_results():
    assert index_of(np.empty((0, 4))).search(np.float32([1, 0, 0, 0]), 3) == []
