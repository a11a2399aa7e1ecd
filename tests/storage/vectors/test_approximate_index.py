import threading

import numpy as np
import pytest

from storage.vectors import vector_index
from storage.vectors.vector_index import BackgroundCodes, VectorIndex, VectorMatrix


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(vector_index, "APPROXIMATE_FROM", 2_000)
    monkeypatch.setattr(vector_index, "TRAINING_ROWS", 1_000)
    monkeypatch.setattr(vector_index, "_CODED_AT_ONCE", 700)


def finish_coding():
    for thread in threading.enumerate():
        if thread.name == vector_index.THREAD:
            thread.join(60)


def clustered(rows, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((40, 32))
    vectors = centres[rng.integers(40, size=rows)] + 0.7 * rng.standard_normal((rows, 32))
    return np.float32(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def index_of(vectors):
    wanted = np.ones(len(vectors), dtype=bool)
    return VectorIndex.load(lambda a, b: vectors[a:b], vectors.shape[1], wanted)


def coded_index_of(vectors):
    index = index_of(vectors)
    index.search(vectors[0], 1)
    finish_coding()
    return index


def exact(vectors, query, k, rows=None):
    """The nearest rows by definition, in double precision."""
    rows = np.arange(len(vectors)) if rows is None else np.asarray(rows)
    scores = vectors[rows].astype(float) @ query.astype(float)
    return rows[np.argsort(-scores)[:k]].tolist()


def found_by(index, query, k, allowed=None):
    return [row for row, _ in index.search(query, k, allowed)]


def recall(index, vectors, k):
    """The share of what is found that is as near as the `k` nearest are; equals count alike."""
    queries = vectors[:: len(vectors) // 40]
    limits = [vectors[exact(vectors, query, k)[-1]] @ query - 1e-6 for query in queries]
    found = [[score for _, score in index.search(query, k)] for query in queries]
    return np.mean([np.array(f) >= limit for f, limit in zip(found, limits, strict=True)])


def matrix_of(vectors):
    matrix = VectorMatrix(*vectors.shape)
    matrix.values[:] = vectors
    return matrix


def test_codes_begin_at_a_size_and_are_made_beside_the_search():
    codes, matrix = BackgroundCodes(), matrix_of(clustered(2_000))
    assert codes.of(matrix, 1_999) is None
    finish_coding()
    assert codes.of(matrix, 1_999) is None
    assert codes.of(matrix, 2_000) is None
    finish_coding()
    assert len(codes.of(matrix, 2_000)) == 2_000


def test_vectors_that_four_does_not_divide_are_compared_exactly():
    codes, odd = BackgroundCodes(), matrix_of(clustered(2_000)[:, :31])
    assert codes.of(odd, 2_000) is None
    finish_coding()
    assert codes.of(odd, 2_000) is None


def test_codes_are_made_again_once_too_many_rows_have_none():
    codes, matrix = BackgroundCodes(), matrix_of(clustered(4_000))
    codes.of(matrix, 3_000)
    finish_coding()
    for rows, coded in ((3_100, 3_000), (4_000, 4_000)):
        codes.of(matrix, rows)
        finish_coding()
        assert len(codes.of(matrix, rows)) == coded


@pytest.mark.parametrize("k", [1, 20, 100])
def test_almost_all_of_the_nearest_are_found_by_codes(k):
    vectors = clustered(8_000)
    assert recall(coded_index_of(vectors), vectors, k) >= 0.99


def test_cosines_of_what_codes_find_are_exact_and_fall():
    vectors = clustered(8_000)
    found = coded_index_of(vectors).search(vectors[5], 50)
    assert found[0] == (5, pytest.approx(1, abs=1e-6))
    assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
    assert [s for _, s in found] == pytest.approx(
        [float(vectors[row] @ vectors[5]) for row, _ in found], abs=1e-6
    )


def test_a_search_that_asks_for_many_is_exact():
    vectors = clustered(3_000)
    found = found_by(coded_index_of(vectors), vectors[3], 2_000)
    assert found == exact(vectors, vectors[3], 2_000)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_a_filtered_search_is_exact_and_never_leaves_the_filter(share):
    vectors = clustered(4_000)
    allowed = np.random.default_rng(1).random(4_000) < share
    index = coded_index_of(vectors)
    for query in vectors[:20]:
        expected = exact(vectors, query, 20, np.flatnonzero(allowed))
        assert found_by(index, query, 20, allowed) == expected


@pytest.mark.parametrize("seed", range(4))
def test_after_changes_the_rows_are_those_of_an_index_loaded_afresh(seed):
    rng = np.random.default_rng(seed)
    vectors = clustered(4_000, seed)
    index = coded_index_of(vectors)
    for _ in range(8):
        gone = np.sort(rng.choice(len(vectors), rng.integers(0, 150), replace=False)).tolist()
        added = clustered(int(rng.integers(0, 150)), int(rng.integers(10, 1000)))
        index = index.after(gone, len(vectors) - len(gone), added)
        vectors = np.concatenate([np.delete(vectors, gone, axis=0), added])
        assert len(index.search(vectors[0], 9_999)) == len(vectors)
        assert recall(index, vectors, 20) >= 0.99
        rows = rng.choice(len(vectors), 30).tolist()
        assert np.array_equal(index.vectors(rows), index_of(vectors).vectors(rows))
        allowed = rng.random(len(vectors)) < 0.1
        query = vectors[rng.integers(len(vectors))]
        expected = exact(vectors, query, 10, np.flatnonzero(allowed))
        assert found_by(index, query, 10, allowed) == expected


def test_rows_that_were_deleted_do_not_stand_in_the_way_of_others():
    """Whatever seems nearest by its codes is gone: what lies behind must be found."""
    vectors = clustered(6_000)
    query, index = vectors[0], coded_index_of(vectors)
    gone = sorted(exact(vectors, query, 550))
    left = np.delete(vectors, gone, axis=0)
    following = index.after(gone, len(left), vectors[:0])
    assert set(found_by(following, query, 20)) == set(exact(left, query, 20))


def test_an_earlier_index_may_still_be_searched_after_changes():
    vectors = clustered(3_000)
    index = coded_index_of(vectors)
    before = found_by(index, vectors[7], 10)
    following = index.after([7, 8], 2_998, clustered(400, seed=5))
    following.search(vectors[0], 1)
    finish_coding()
    assert found_by(index, vectors[7], 10) == before
    assert before[0] == 7
