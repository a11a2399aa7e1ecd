"""Many vectors lie in a file without a name, and count as memory only while they are read."""

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
from tests.storage.vectors.random_vectors import SpokenVectors

ROWS, DIMENSION = 20_000, 256
MATRIX_MIB = ROWS * DIMENSION * 4 / 2**20


@pytest.fixture(autouse=True)
def _maps_early(monkeypatch):
    monkeypatch.setattr(vector_index, "MAPPED_FROM", 100)


def filled(rows, folder):
    matrix = VectorMatrix(rows, 4, folder)
    matrix.values[:] = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
    return matrix


def maps_a_file_in(folder):
    return str(folder) in Path("/proc/self/maps").read_text()


def test_what_is_released_can_be_read_again(tmp_path):
    matrix = filled(1_000, tmp_path)
    matrix.release()
    assert np.array_equal(matrix.values.ravel(), np.arange(4_000))


@pytest.mark.parametrize("rows", [99, 100, 1_000])
def test_rows_and_products_are_those_of_a_matrix_in_memory(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(vector_index, "_SCANNED_AT_ONCE", 300)
    monkeypatch.setattr(vector_index, "_GATHERED_AT_ONCE", 7)
    mapped, plain = filled(rows, tmp_path), filled(rows, None)
    places = np.random.default_rng(0).integers(rows, size=50)
    query = np.float32([1, -2, 3, 5])
    assert np.array_equal(mapped.rows(places), plain.values[places])
    assert np.array_equal(mapped.products(query, 7, rows), np.vecdot(plain.values[7:], query))
    assert len(mapped.products(query, rows, rows - 5)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="a file elsewhere needs other calls")
def test_many_rows_lie_in_a_file_that_has_no_name(tmp_path):
    few, many = VectorMatrix(99, 4, tmp_path), VectorMatrix(100, 4, tmp_path)
    assert maps_a_file_in(tmp_path)
    assert os.listdir(tmp_path) == []
    del many
    assert not maps_a_file_in(tmp_path)
    assert len(few.values) == 99


@pytest.mark.skipif(sys.platform != "linux", reason="a file elsewhere needs other calls")
def test_where_the_disk_is_full_vectors_are_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_index, "SPARE_BYTES", 2**62)
    matrix = filled(1_000, tmp_path)
    assert not maps_a_file_in(tmp_path)
    assert matrix.rows(np.array([999])).tolist() == [[3996, 3997, 3998, 3999]]


def test_where_no_file_can_be_made_vectors_are_kept_in_memory(tmp_path):
    matrix = filled(1_000, tmp_path / "missing")
    matrix.release()
    assert matrix.rows(np.array([1])).tolist() == [[4, 5, 6, 7]]


def unit_rows(count, seed):
    vectors = np.random.default_rng(seed).standard_normal((count, 4))
    return np.float32(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def index_over(vectors, folder):
    wanted = np.ones(len(vectors), dtype=bool)
    return VectorIndex.load(lambda a, b: vectors[a:b], vectors.shape[1], wanted, folder)


@pytest.mark.parametrize("seed", range(3))
def test_an_index_that_changes_finds_in_a_file_what_it_finds_in_memory(tmp_path, seed):
    rng = np.random.default_rng(seed)
    rows = 400
    first = unit_rows(rows, seed)
    mapped, plain = index_over(first, tmp_path), index_over(first, None)
    for step in range(8):
        gone = np.sort(rng.choice(rows, 40, replace=False)).tolist()
        added = unit_rows(int(rng.integers(0, 120)), step)
        mapped, plain = (one.after(gone, rows - 40, added) for one in (mapped, plain))
        rows += len(added) - 40
        query, allowed = unit_rows(1, step + 100)[0], rng.random(rows) < 0.2
        assert mapped.search(query, 20) == plain.search(query, 20)
        assert mapped.search(query, 20, allowed) == plain.search(query, 20, allowed)
        chosen = rng.choice(rows, 9).tolist()
        assert np.array_equal(mapped.vectors(chosen), plain.vectors(chosen))


def test_threads_search_what_another_one_releases_and_adds_to(tmp_path):
    vectors, queries = unit_rows(2_000, 0), unit_rows(50, 1)
    index = index_over(vectors, tmp_path)
    expected = [index.search(query, 5) for query in queries]
    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(index.search, query, 5) for query in queries for _ in range(20)]
        following = index
        for seed in range(30):
            following = following.after([], 2_000 + seed, unit_rows(1, seed))
            index._matrix.release()
        results = [one.result() for one in found]
    assert results == [each for each in expected for _ in range(20)]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the file in /proc")
def test_stores_of_one_folder_see_each_others_changes_in_their_files(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_index, "MAPPED_FROM", 1)
    monkeypatch.setattr(passage_rows, "REFRESH_S", 0)
    writer, reader = (DeepLakePassages(tmp_path, SpokenVectors()) for _ in range(2))
    writer.add_texts(["1 0", "0 1", "1 1"], ids=["a", "b", "c"])
    assert [one for one, _ in reader.similar_ids("1 0", 2)] == ["a", "c"]
    assert maps_a_file_in(tmp_path)
    writer.delete(["a"])
    writer.add_texts(["2 0.1"], ids=["d"])
    assert [one for one, _ in reader.similar_ids("1 0", 2)] == ["d", "c"]
    assert [one for one, _ in writer.similar_ids("1 0", 2)] == ["d", "c"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_searches_many_vectors_holds_few_of_them(tmp_path):
    """A process of its own: what else this one holds and frees would blur its memory."""
    code = (
        f"from tests.storage.vectors.test_vector_memory import held; print(held({str(tmp_path)!r}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) < MATRIX_MIB / 2


def held(folder):
    """MiB by which the memory of this process grows with an index and its searches."""
    vector_index.MAPPED_FROM, vector_index._SCANNED_AT_ONCE = 100, 1_000
    search(1_000, None)  # what is loaded for any search
    before = _resident_mib()
    index = search(ROWS, Path(folder))
    return _resident_mib() - before if index else 0


def search(rows, folder):
    rng = np.random.default_rng(0)
    wanted = np.ones(rows, dtype=bool)
    index = VectorIndex.load(
        lambda start, stop: rng.standard_normal((stop - start, DIMENSION)),
        DIMENSION,
        wanted,
        folder,
    )
    query = np.ones(DIMENSION, np.float32) / 16
    found = index.search(query, 10), index.search(query, 10, np.arange(rows) % 50 == 3)
    index = index.after([1, 2], rows - 2, rng.standard_normal((rows // 5, DIMENSION)))
    index.search(query, 10)
    return index if all(found) else None


def _resident_mib():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
