import time

import numpy as np
import pytest

from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import SpokenVectors


@pytest.fixture
def store(tmp_path):
    made = DeepLakePassages(tmp_path, SpokenVectors())
    for batch in range(3):
        made.add_texts(["1 0", "0 1"], ids=[f"{batch}", "shared"])
    return made


def log_of(folder):
    (log,) = (one for one in (folder / "rows" / "_deeplake_log").iterdir() if one.name != "_meta")
    return log


def take_a_number_and_die(folder):
    counter = log_of(folder) / "next_base"
    upcoming = int.from_bytes(counter.read_bytes(), "little")
    counter.write_bytes((upcoming + 1).to_bytes(8, "little"))


def test_commits_after_a_writer_died_within_its_commit_do_not_wait_for_it(tmp_path, store):
    took = []
    for current in (store, DeepLakePassages(tmp_path, SpokenVectors())):
        take_a_number_and_die(tmp_path)
        started = time.monotonic()
        current.add_texts(["1 1"], ids=["shared"])  # only commits that delete would wait
        took.append(time.monotonic() - started)
    assert max(took) < 1.5
    assert sorted(DeepLakePassages(tmp_path, SpokenVectors()).ids()) == ["0", "1", "2", "shared"]


def test_a_log_without_gaps_is_left_alone_whatever_the_size_of_a_commit(tmp_path, store):
    many = 20_000  # Deep Lake names the log files of large commits otherwise
    store.add_vectors([f"m{n}" for n in range(many)], ["x"] * many, np.ones((many, 2)), [{}] * many)
    store.delete(["0", "m7"])
    assert [file for file in log_of(tmp_path).glob("[0-9]*") if not file.stat().st_size] == []
    assert len(DeepLakePassages(tmp_path, SpokenVectors())) == many + 2
