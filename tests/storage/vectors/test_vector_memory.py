"""Large matrices are mapped to unlinked files and resident in memory only while they are read."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from storage.vectors import passage_rows, vector_index
from storage.vectors.passage_store import DeepLakePassages
from storage.vectors.vector_index import VectorIndex, VectorMatrix
from tests.storage.vectors.random_vectors import TextVectors

ROWS, DIMENSION = 20_000, 256
MATRIX_MIB = ROWS * DIMENSION * 4 / 2**20


@pytest.fixture(autouse=True)
def _low_mapping_threshold(monkeypatch):
    monkeypatch.setattr(vector_index, "MAPPED_FROM", 100)


def numbered_matrix(rows, folder):
    matrix = VectorMatrix(rows, 4, folder)
    matrix.values[:] = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
    return matrix


def maps_a_file_in(folder):
    return str(folder) in Path("/proc/self/maps").read_text()


def test_released_vectors_can_be_read_again(tmp_path):
    matrix = numbered_matrix(1_000, tmp_path)
    matrix.release()
    assert np.array_equal(matrix.values.ravel(), np.arange(4_000))


@pytest.mark.parametrize("rows", [99, 100, 1_000])
def test_a_mapped_matrix_equals_one_in_memory(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(vector_index, "_SCANNED_AT_ONCE", 300)
    monkeypatch.setattr(vector_index, "_GATHERED_AT_ONCE", 7)
    mapped, plain = numbered_matrix(rows, tmp_path), numbered_matrix(rows, None)
    positions = np.random.default_rng(0).integers(rows, size=50)
    query = np.float32([1, -2, 3, 5])
    assert np.array_equal(mapped.rows(positions), plain.values[positions])
    assert np.array_equal(mapped.products(query, 7, rows), np.vecdot(plain.values[7:], query))
    assert len(mapped.products(query, rows, rows - 5)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_matrices_are_mapped_to_unlinked_files(tmp_path):
    few, many = VectorMatrix(99, 4, tmp_path), VectorMatrix(100, 4, tmp_path)
    assert maps_a_file_in(tmp_path)
    assert os.listdir(tmp_path) == []
    del many
    assert not maps_a_file_in(tmp_path)
    assert len(few.values) == 99


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_vectors_are_held_in_memory_if_the_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_index, "SPARE_BYTES", 2**62)
    matrix = numbered_matrix(1_000, tmp_path)
    assert not maps_a_file_in(tmp_path)
    assert matrix.rows(np.array([999])).tolist() == [[3996, 3997, 3998, 3999]]


def test_vectors_are_held_in_memory_if_no_file_can_be_created(tmp_path):
    matrix = numbered_matrix(1_000, tmp_path / "missing")
    matrix.release()
    assert matrix.rows(np.array([1])).tolist() == [[4, 5, 6, 7]]


def unit_rows(count, seed):
    vectors = np.random.default_rng(seed).standard_normal((count, 4))
    return np.float32(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def index_over(vectors, folder):
    included = np.ones(len(vectors), dtype=bool)
    return VectorIndex.load(lambda a, b: vectors[a:b], vectors.shape[1], included, folder)


@pytest.mark.parametrize("seed", range(3))
def test_a_changing_mapped_index_equals_one_in_memory(tmp_path, seed):
    rng = np.random.default_rng(seed)
    rows = 400
    first = unit_rows(rows, seed)
    mapped, plain = index_over(first, tmp_path), index_over(first, None)
    for step in range(8):
        deleted = np.sort(rng.choice(rows, 40, replace=False)).tolist()
        added = unit_rows(int(rng.integers(0, 120)), step)
        mapped, plain = (each.after(deleted, rows - 40, added) for each in (mapped, plain))
        rows += len(added) - 40
        query, allowed = unit_rows(1, step + 100)[0], rng.random(rows) < 0.2
        assert mapped.search(query, 20) == plain.search(query, 20)
        assert mapped.search(query, 20, allowed) == plain.search(query, 20, allowed)
        chosen = rng.choice(rows, 9).tolist()
        assert np.array_equal(mapped.vectors(chosen), plain.vectors(chosen))


def test_threads_can_search_while_another_one_releases_and_adds_vectors(tmp_path):
    vectors, queries = unit_rows(2_000, 0), unit_rows(50, 1)
    index = index_over(vectors, tmp_path)
    expected = [index.search(query, 5) for query in queries]
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(index.search, query, 5) for query in queries for _ in range(20)]
        changed_index = index
        for seed in range(30):
            changed_index = changed_index.after([], 2_000 + seed, unit_rows(1, seed))
            index._matrix.release()
        results = [future.result() for future in futures]
    assert results == [each for each in expected for _ in range(20)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_mapped_stores_of_one_folder_see_each_others_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_index, "MAPPED_FROM", 1)
    monkeypatch.setattr(passage_rows, "REFRESH_S", 0)
    writer, reader = (DeepLakePassages(tmp_path, TextVectors()) for _ in range(2))
    writer.add_texts(["1 0", "0 1", "1 1"], ids=["a", "b", "c"])
    assert [one for one, _ in reader.similar_ids("1 0", 2)] == ["a", "c"]
    assert maps_a_file_in(tmp_path)
    writer.delete(["a"])
    writer.add_texts(["2 0.1"], ids=["d"])
    assert [one for one, _ in reader.similar_ids("1 0", 2)] == ["d", "c"]
    assert [one for one, _ in writer.similar_ids("1 0", 2)] == ["d", "c"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_searching_many_vectors_needs_little_resident_memory(tmp_path):
    """Measures a separate process because the memory of this one fluctuates."""
    code = (
        "from tests.storage.vectors.test_vector_memory import memory_growth_mib;"
        f"print(memory_growth_mib({str(tmp_path)!r}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert float(result.stdout) < MATRIX_MIB / 2


def memory_growth_mib(folder):
    """The growth of this process's memory caused by an index and its searches, in MiB."""
    vector_index.MAPPED_FROM, vector_index._SCANNED_AT_ONCE = 100, 1_000
    search(1_000, None)  # loads modules that any search needs
    before = _resident_mib()
    index = search(ROWS, Path(folder))
    return _resident_mib() - before if index else 0


def search(rows, folder):
    rng = np.random.default_rng(0)
    included = np.ones(rows, dtype=bool)
    index = VectorIndex.load(
        lambda start, stop: rng.standard_normal((stop - start, DIMENSION)),
        DIMENSION,
        included,
        folder,
    )
    query = np.ones(DIMENSION, np.float32) / 16
    results = index.search(query, 10), index.search(query, 10, np.arange(rows) % 50 == 3)
    index = index.after([1, 2], rows - 2, rng.standard_normal((rows // 5, DIMENSION)))
    index.search(query, 10)
    return index if all(results) else None


def _resident_mib():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
