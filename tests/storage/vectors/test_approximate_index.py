import threading

import numpy as np
import pytest

from storage.vectors import vector_index
from storage.vectors.vector_index import BackgroundCodes, VectorIndex, VectorMatrix


@pytest.fixture(autouse=True)
def _low_thresholds(monkeypatch):
    monkeypatch.setattr(vector_index, "APPROXIMATE_FROM", 2_000)
    monkeypatch.setattr(vector_index, "TRAINING_ROWS", 1_000)
    monkeypatch.setattr(vector_index, "_CODED_AT_ONCE", 700)


def finish_coding():
    for thread in threading.enumerate():
        if thread.name == vector_index.THREAD:
            thread.join(60)


def clustered(rows, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((40, 32))
    vectors = centers[rng.integers(40, size=rows)] + 0.7 * rng.standard_normal((rows, 32))
    return np.float32(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def index_of(vectors):
    included = np.ones(len(vectors), dtype=bool)
    return VectorIndex.load(lambda a, b: vectors[a:b], vectors.shape[1], included)


def coded_index_of(vectors):
    index = index_of(vectors)
    index.search(vectors[0], 1)
    finish_coding()
    return index


def exact_rows(vectors, query, k, rows=None):
    """The nearest rows by definition, in double precision."""
    rows = np.arange(len(vectors)) if rows is None else np.asarray(rows)
    scores = vectors[rows].astype(float) @ query.astype(float)
    return rows[np.argsort(-scores)[:k]].tolist()


def result_rows(index, query, k, allowed=None):
    return [row for row, _ in index.search(query, k, allowed)]


def recall(index, vectors, k):
    """The share of results that are at least as near as the `k`-th nearest vector."""
    queries = vectors[:: len(vectors) // 40]
    limits = [vectors[exact_rows(vectors, query, k)[-1]] @ query - 1e-6 for query in queries]
    results = [[score for _, score in index.search(query, k)] for query in queries]
    return np.mean([np.array(s) >= limit for s, limit in zip(results, limits, strict=True)])


def matrix_of(vectors):
    matrix = VectorMatrix(*vectors.shape)
    matrix.values[:] = vectors
    return matrix


def test_codes_are_computed_in_the_background_from_a_minimum_size():
    codes, matrix = BackgroundCodes(), matrix_of(clustered(2_000))
    assert codes.of(matrix, 1_999) is None
    finish_coding()
    assert codes.of(matrix, 1_999) is None
    assert codes.of(matrix, 2_000) is None
    finish_coding()
    assert len(codes.of(matrix, 2_000)) == 2_000


def test_dimensions_that_are_not_divisible_by_four_have_no_codes():
    codes, odd = BackgroundCodes(), matrix_of(clustered(2_000)[:, :31])
    assert codes.of(odd, 2_000) is None
    finish_coding()
    assert codes.of(odd, 2_000) is None


def test_codes_are_recomputed_if_too_many_rows_have_none():
    codes, matrix = BackgroundCodes(), matrix_of(clustered(4_000))
    codes.of(matrix, 3_000)
    finish_coding()
    for rows, expected in ((3_100, 3_000), (4_000, 4_000)):
        codes.of(matrix, rows)
        finish_coding()
        assert len(codes.of(matrix, rows)) == expected


@pytest.mark.parametrize("k", [1, 20, 100])
def test_searching_by_codes_has_high_recall(k):
    vectors = clustered(8_000)
    assert recall(coded_index_of(vectors), vectors, k) >= 0.99


def test_scores_of_a_search_by_codes_are_exact_and_sorted():
    vectors = clustered(8_000)
    results = coded_index_of(vectors).search(vectors[5], 50)
    assert results[0] == (5, pytest.approx(1, abs=1e-6))
    assert [s for _, s in results] == sorted((s for _, s in results), reverse=True)
    assert [s for _, s in results] == pytest.approx(
        [float(vectors[row] @ vectors[5]) for row, _ in results], abs=1e-6
    )


def test_searches_for_many_results_are_exact():
    vectors = clustered(3_000)
    results = result_rows(coded_index_of(vectors), vectors[3], 2_000)
    assert results == exact_rows(vectors, vectors[3], 2_000)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_filtered_searches_are_exact(share):
    vectors = clustered(4_000)
    allowed = np.random.default_rng(1).random(4_000) < share
    index = coded_index_of(vectors)
    for query in vectors[:20]:
        expected = exact_rows(vectors, query, 20, np.flatnonzero(allowed))
        assert result_rows(index, query, 20, allowed) == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_index_equals_a_freshly_loaded_one(seed):
    rng = np.random.default_rng(seed)
    vectors = clustered(4_000, seed)
    index = coded_index_of(vectors)
    for _ in range(8):
        deleted = np.sort(rng.choice(len(vectors), rng.integers(0, 150), replace=False)).tolist()
        added = clustered(int(rng.integers(0, 150)), int(rng.integers(10, 1000)))
        index = index.after(deleted, len(vectors) - len(deleted), added)
        vectors = np.concatenate([np.delete(vectors, deleted, axis=0), added])
        assert len(index.search(vectors[0], 9_999)) == len(vectors)
        assert recall(index, vectors, 20) >= 0.99
        rows = rng.choice(len(vectors), 30).tolist()
        assert np.array_equal(index.vectors(rows), index_of(vectors).vectors(rows))
        allowed = rng.random(len(vectors)) < 0.1
        query = vectors[rng.integers(len(vectors))]
        expected = exact_rows(vectors, query, 10, np.flatnonzero(allowed))
        assert result_rows(index, query, 10, allowed) == expected


def test_deleted_rows_do_not_displace_others_from_the_results():
    """All rows that are nearest by their codes are deleted, so the next ones must be found."""
    vectors = clustered(6_000)
    query, index = vectors[0], coded_index_of(vectors)
    deleted = sorted(exact_rows(vectors, query, 550))
    remaining = np.delete(vectors, deleted, axis=0)
    changed_index = index.after(deleted, len(remaining), vectors[:0])
    assert set(result_rows(changed_index, query, 20)) == set(exact_rows(remaining, query, 20))


def test_the_previous_index_can_still_be_searched_after_changes():
    vectors = clustered(3_000)
    index = coded_index_of(vectors)
    before = result_rows(index, vectors[7], 10)
    changed_index = index.after([7, 8], 2_998, clustered(400, seed=5))
    changed_index.search(vectors[0], 1)
    finish_coding()
    assert result_rows(index, vectors[7], 10) == before
    assert before[0] == 7
