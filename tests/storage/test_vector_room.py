"""Many vectors lie in a file without a name, and count as memory only while they are read."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from storage import vector_room
from storage.vector_index import VectorIndex
from storage.vector_room import VectorRoom

ROWS, DIMENSION = 20_000, 256
MATRIX_MIB = ROWS * DIMENSION * 4 / 2**20


@pytest.fixture(autouse=True)
def _maps_early(monkeypatch):
    monkeypatch.setattr(vector_room, "MAPPED_FROM", 100)


def filled(rows, folder):
    room = VectorRoom(rows, 4, folder)
    room.matrix[:] = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
    return room


def maps_a_file_in(folder):
    return str(folder) in Path("/proc/self/maps").read_text()


def test_what_is_released_can_be_read_again(tmp_path):
    room = filled(1_000, tmp_path)
    room.release()
    assert np.array_equal(room.matrix.ravel(), np.arange(4_000))


@pytest.mark.parametrize("rows", [99, 100, 1_000])
def test_rows_and_products_are_those_of_a_matrix_in_memory(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(vector_room, "_SCANNED_AT_ONCE", 300)
    monkeypatch.setattr(vector_room, "_GATHERED_AT_ONCE", 7)
    mapped, plain = filled(rows, tmp_path), filled(rows, None)
    places = np.random.default_rng(0).integers(rows, size=50)
    query = np.float32([1, -2, 3, 5])
    assert np.array_equal(mapped.rows(places), plain.matrix[places])
    assert np.array_equal(mapped.products(query, 7, rows), np.vecdot(plain.matrix[7:], query))
    assert len(mapped.products(query, rows, rows - 5)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="a file elsewhere needs other calls")
def test_many_rows_lie_in_a_file_that_has_no_name(tmp_path):
    few, many = VectorRoom(99, 4, tmp_path), VectorRoom(100, 4, tmp_path)
    assert maps_a_file_in(tmp_path)
    assert os.listdir(tmp_path) == []
    del many
    assert not maps_a_file_in(tmp_path)
    assert len(few.matrix) == 99


@pytest.mark.skipif(sys.platform != "linux", reason="a file elsewhere needs other calls")
def test_where_the_disk_is_full_vectors_are_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_room, "SPARE_BYTES", 2**62)
    room = filled(1_000, tmp_path)
    assert not maps_a_file_in(tmp_path)
    assert room.rows(np.array([999])).tolist() == [[3996, 3997, 3998, 3999]]


def test_where_no_file_can_be_made_vectors_are_kept_in_memory(tmp_path):
    room = filled(1_000, tmp_path / "missing")
    room.release()
    assert room.rows(np.array([1])).tolist() == [[4, 5, 6, 7]]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_searches_many_vectors_holds_few_of_them(tmp_path):
    """A process of its own: what else this one holds and frees would blur its memory."""
    code = f"from tests.storage.test_vector_room import held; print(held({str(tmp_path)!r}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) < MATRIX_MIB / 2


def held(folder):
    """MiB by which the memory of this process grows with an index and its searches."""
    vector_room.MAPPED_FROM, vector_room._SCANNED_AT_ONCE = 100, 1_000
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
