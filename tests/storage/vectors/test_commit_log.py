import time

import numpy as np
import pytest

from storage.vectors.deep_lake import fill_gaps
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors


@pytest.fixture
def store(tmp_path):
    store = DeepLakePassages(tmp_path, TextVectors())
    for batch in range(3):
        store.add_texts(["1 0", "0 1"], ids=[f"{batch}", "shared"])
    return store


def log_of(folder):
    logs = (folder / "rows" / "_deeplake_log").iterdir()
    [log] = [path for path in logs if path.name != "_meta"]
    return log


def reserve_commit_number(folder):
    counter = log_of(folder) / "next_base"
    next_number = int.from_bytes(counter.read_bytes(), "little")
    counter.write_bytes((next_number + 1).to_bytes(8, "little"))


def commit_after_a_gap(folder, store):
    """The seconds that a commit takes after a reserved number without a file."""
    reserve_commit_number(folder)
    started = time.monotonic()
    store.add_texts(["1 1"], ids=["shared"])  # replaces: only commits that delete would wait
    return time.monotonic() - started


def test_commits_do_not_wait_for_a_writer_that_died_during_its_commit(tmp_path, store):
    # A slow disk may delay one commit, but not all three.
    assert min(commit_after_a_gap(tmp_path, store) for _ in range(3)) < 1.5
    reopened = DeepLakePassages(tmp_path, TextVectors())
    assert min(commit_after_a_gap(tmp_path, reopened) for _ in range(3)) < 1.5
    assert sorted(DeepLakePassages(tmp_path, TextVectors()).ids()) == ["0", "1", "2", "shared"]


def test_logs_without_gaps_stay_unchanged_for_commits_of_any_size(tmp_path, store):
    many = 20_000  # Deep Lake names the log files of large commits differently
    store.add_vectors([f"m{n}" for n in range(many)], ["x"] * many, np.ones((many, 2)), [{}] * many)
    store.delete(["0", "m7"])
    assert [file for file in log_of(tmp_path).glob("[0-9]*") if not file.stat().st_size] == []
    assert len(DeepLakePassages(tmp_path, TextVectors())) == many + 2


@pytest.mark.parametrize("number", [2**40, 2**63])
def test_an_impossible_commit_number_is_rejected_instead_of_filling_the_memory(
    tmp_path, store, number
):
    counter = log_of(tmp_path) / "next_base"
    counter.write_bytes(number.to_bytes(8, "little"))
    with pytest.raises(ValueError, match="does not match"):
        fill_gaps(tmp_path / "rows")
