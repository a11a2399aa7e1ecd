"""Passages with threads, other processes, killed writers, and a full disk."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from domain.errors import BusyError, StorageError
from storage import safe_writes
from storage.safe_writes import writer_lock
from storage.vectors.passage_dataset import PassageDataset
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors

ROOT = Path(__file__).parents[3]


def open_store(folder, **settings):
    return DeepLakePassages(folder, TextVectors(), **settings)


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
    )  # fmt: skip


OTHER_PROCESS = """
import sys
from pathlib import Path
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors
store = DeepLakePassages(Path(sys.argv[1]), TextVectors())
print("ready", len(store), flush=True)
for line in sys.stdin:
    action, id_, text = line.rstrip("\\n").split(";")
    store.add_texts([text], ids=[id_]) if action == "add" else store.delete([id_])
    print("done", flush=True)
"""


def test_commits_of_another_process_are_visible_within_a_second(tmp_path):
    store = open_store(tmp_path)
    store.add_texts(["1 0", "0 1"], ids=["a", "b"])
    other = start(OTHER_PROCESS, tmp_path)
    try:
        assert other.stdout.readline() == "ready 2\n"
        for command, expected in (
            ("add;c;1 0.1", ["a", "c", "b"]),
            ("delete;a;", ["c", "b"]),
            ("add;b;1 0", ["b", "c"]),
        ):
            assert store.similarity_search("1 0")
            other.stdin.write(command + "\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"
            deadline = time.monotonic() + 1
            while [passage.id for passage in store.similarity_search("1 0")] != expected:
                assert time.monotonic() < deadline
                time.sleep(0.02)
    finally:
        other.kill()
        other.wait(10)


def test_nothing_is_read_again_after_a_commit_of_the_same_store(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    store.add_texts(["1 0", "0 1", "1 1"], [{"n": n} for n in range(3)], ids=["a", "b", "c"])
    condition = {"n": {"$lt": 2}}
    assert store.similar_ids("1 0", 9, filter=condition) == [("a", 1.0), ("b", 0.0)]
    for read in ("vectors", "metadata", "ids"):
        monkeypatch.setattr(PassageDataset, read, None)
    store.add_texts(["1 0.1", "0 0"], [{"n": 0}, {"n": 0}], ids=["b", "zero"])
    store.delete(["a"])
    assert [id_ for id_, _ in store.similar_ids("1 0", 9, filter=condition)] == ["b"]
    assert [id_ for id_, _ in store.similar_ids("1 0", 9)] == ["b", "c"]
    assert set(filter(store.allowed(condition), store.ids())) == {"b", "zero"}


def test_only_new_rows_are_read_after_a_commit_of_another_store(tmp_path, monkeypatch):
    writer, reader = open_store(tmp_path), open_store(tmp_path)
    writer.add_texts(["1 0", "0 1", "1 1"], ids=["a", "b", "c"], metadatas=[{"n": 1}] * 3)
    ranges = []
    original_vectors = PassageDataset.vectors

    def recording_vectors(self, start, stop):
        ranges.append((start, stop))
        return original_vectors(self, start, stop)

    monkeypatch.setattr(PassageDataset, "vectors", recording_vectors)
    assert len(reader.similarity_search("1 0", filter={"n": 1})) == 3
    ranges.clear()
    writer.delete(["a"])
    writer.add_texts(["1 0.1", "0 1"], ids=["d", "c"], metadatas=[{"n": 1}, {"n": 2}])
    monkeypatch.setattr(reader._rows, "_refreshed_at", -1.0)
    results = reader.similarity_search("1 0", filter={"n": 1})
    assert [passage.id for passage in results] == ["d", "b"]
    assert ranges == [(1, 3)]
    assert reader.ids() == writer.ids()


def test_changes_through_a_stale_view_affect_the_intended_rows(tmp_path):
    mine, theirs = open_store(tmp_path), open_store(tmp_path)
    mine.add_texts(["1 0", "0 1", "1 1", "2 1"], ids=["a", "b", "c", "d"])
    assert len(theirs) == 4
    mine.delete(["a"])  # shifts every row
    theirs.delete(["b"])
    theirs.add_texts(["3 1"], ids=["c"])
    mine.add_texts(["4 1"], ids=["e"])
    for store in (mine, theirs, open_store(tmp_path)):
        time.sleep(0.6)
        stored = {passage.id: passage.page_content for passage in store.get_by_ids(store.ids())}
        assert stored == {"c": "3 1", "d": "2 1", "e": "4 1"}


def entry(n, generation):
    """The text and metadata of passage `n`, which differ in each generation."""
    return f"{1 + n % 7} {generation % 5 - 2} | {n} {generation}", {"n": n, "g": generation}


def add_entries(store, numbers, generation):
    texts, metadata = zip(*(entry(n, generation) for n in numbers), strict=True)
    store.add_texts(texts, list(metadata), ids=[str(n) for n in numbers])


def is_consistent(document):
    n, generation = document.metadata["n"], document.metadata["g"]
    return (document.id, document.page_content) == (str(n), entry(n, generation)[0])


def read_until(stop, store, failures, searches, seed):
    """Search until `stop` is set and append errors and inconsistent results to `failures`."""
    rng = random.Random(seed)
    while not stop.is_set():
        lowest = rng.choice([0, 20])
        try:
            results = store.similarity_search(
                f"{rng.random() + 0.1} 1", 10, filter={"n": {"$gte": lowest}} if lowest else None
            )
        except Exception as error:  # noqa: BLE001 - a thread's failure must reach the test
            failures.append(error)
            return
        searches.append(seed)
        failures += [d for d in results if not is_consistent(d) or d.metadata["n"] < lowest]
        if len({document.id for document in results}) != 10:  # at least 20 always match
            failures.append(results)


def test_concurrent_readers_see_only_consistent_passages(tmp_path):
    store, stop, failures, searches = open_store(tmp_path), threading.Event(), [], []
    add_entries(store, range(40), 0)
    readers = [
        threading.Thread(target=read_until, args=(stop, store, failures, searches, seed))
        for seed in range(4)
    ]
    [reader.start() for reader in readers]
    rng = random.Random(7)
    for generation in range(1, 41):
        add_entries(store, rng.sample(range(40), 8), generation)
        if generation % 5 == 0:
            add_entries(store, range(100, 105), generation)
            store.delete([str(n) for n in range(100, 105)])
    stop.set()
    [reader.join(30) for reader in readers]
    assert failures == []
    assert set(searches) == {0, 1, 2, 3}


KILLED = """
import sys
from pathlib import Path
import numpy as np
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors
folder, start = Path(sys.argv[1]), int(sys.argv[2])
store = DeepLakePassages(folder, TextVectors())
for batch in range(start, start + 1000):
    ids = [f"{batch}-{n}" for n in range(20)] + ["shared"]
    texts = [f"text {id_} {batch}" for id_ in ids]
    store.add_vectors(ids, texts, np.ones((21, 8)), [{"batch": batch}] * 21)
    print(batch, flush=True)
"""


@pytest.mark.slow
def test_a_killed_writer_neither_loses_nor_duplicates_committed_passages(tmp_path):
    committed, first, rng = set(), 0, random.Random(3)
    for _ in range(8):
        writer = start(KILLED, tmp_path, first)
        lines = [writer.stdout.readline() for _ in range(rng.randint(1, 12))]
        time.sleep(rng.uniform(0, 0.05))  # somewhere in the middle of the next commit
        writer.kill()
        committed |= set(map(int, [*lines, *writer.communicate(timeout=60)[0].split()]))

        store = open_store(tmp_path, timeout_s=5)
        stored = store.get_by_ids(store.ids())
        assert len({passage.id for passage in stored}) == len(stored)
        for passage in stored:
            assert passage.page_content == f"text {passage.id} {passage.metadata['batch']}"
        batches = {passage.metadata["batch"] for passage in stored}
        assert batches >= committed
        assert len(stored) == 20 * len(batches) + bool(batches)  # every batch is complete
        first = max(batches, default=-1) + 1
    assert len(committed) >= 8
    open_store(tmp_path).add_vectors(["new"], ["x"], np.ones((1, 8)), [{}])
    assert "new" in open_store(tmp_path).ids()


def test_the_last_row_of_a_duplicate_id_counts(tmp_path):
    store = open_store(tmp_path)
    store.add_texts(["1 0 | old", "0 1 | b"], ids=["a", "b"])
    dataset = PassageDataset.open(tmp_path, read_only=False)
    double = dataset._dataset
    double.append(
        {"id": ["a"], "text": ["1 1 | new"], "embedding": np.ones((1, 2), "f"), "metadata": ["{}"]}
    )
    double.commit()
    store = open_store(tmp_path)
    assert sorted(store.ids()) == ["a", "b"]
    texts = [document.page_content for document in store.similarity_search("1 0", 9)]
    assert texts == ["1 1 | new", "0 1 | b"]
    store.delete(["a"])
    assert open_store(tmp_path).ids() == ["b"]


def test_waiting_for_another_writer_times_out_and_readers_do_not_wait(tmp_path):
    store = open_store(tmp_path, timeout_s=0.3)
    store.add_texts(["1 0"], ids=["a"])
    with writer_lock(tmp_path):
        with pytest.raises(BusyError, match="is writing"):
            store.add_texts(["0 1"])
        assert [passage.id for passage in store.similarity_search("1 0")] == ["a"]
    store.add_texts(["0 1"], ids=["b"])
    assert store.ids() == ["a", "b"]


def test_a_full_disk_is_reported_before_writing(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    store.add_texts(["1 0"], ids=["a"])
    monkeypatch.setattr(safe_writes, "SPARE_BYTES", 2**62)
    with pytest.raises(StorageError, match="MiB free.*Nothing was written"):
        store.add_texts(["0 1"])
    monkeypatch.undo()
    assert open_store(tmp_path).ids() == ["a"]
