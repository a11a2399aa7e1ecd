"""The passages under threads, other processes, kill -9 and a full disk."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from errors import BusyError, StorageError
from storage import disk
from storage.lock import writer_lock
from storage.vectors.passage_dataset import PassageDataset
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import SpokenVectors

ROOT = Path(__file__).parents[3]


def open_store(folder, **settings):
    return DeepLakePassages(folder, SpokenVectors(), **settings)


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
    )  # fmt: skip


OTHER_PROCESS = """
import sys
from pathlib import Path
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import SpokenVectors
store = DeepLakePassages(Path(sys.argv[1]), SpokenVectors())
print("ready", len(store), flush=True)
for line in sys.stdin:
    action, id_, text = line.rstrip("\\n").split(";")
    store.add_texts([text], ids=[id_]) if action == "add" else store.delete([id_])
    print("done", flush=True)
"""


def test_what_another_process_commits_is_seen_within_a_second(tmp_path):
    store = open_store(tmp_path)
    store.add_texts(["1 0", "0 1"], ids=["a", "b"])
    other = start(OTHER_PROCESS, tmp_path)
    try:
        assert other.stdout.readline() == "ready 2\n"
        for order, expected in (
            ("add;c;1 0.1", ["a", "c", "b"]),
            ("delete;a;", ["c", "b"]),
            ("add;b;1 0", ["b", "c"]),
        ):
            assert store.similarity_search("1 0")
            other.stdin.write(order + "\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"
            deadline = time.monotonic() + 1
            while [found.id for found in store.similarity_search("1 0")] != expected:
                assert time.monotonic() < deadline
                time.sleep(0.02)
    finally:
        other.kill()
        other.wait(10)


def test_after_an_own_commit_nothing_is_read_again(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    store.add_texts(["1 0", "0 1", "1 1"], [{"n": n} for n in range(3)], ids=["a", "b", "c"])
    few = {"n": {"$lt": 2}}
    assert store.similar_ids("1 0", 9, filter=few) == [("a", 1.0), ("b", 0.0)]
    for read in ("vectors", "metadata", "ids"):
        monkeypatch.setattr(PassageDataset, read, None)
    store.add_texts(["1 0.1", "0 0"], [{"n": 0}, {"n": 0}], ids=["b", "zero"])
    store.delete(["a"])
    assert [id_ for id_, _ in store.similar_ids("1 0", 9, filter=few)] == ["b"]
    assert [id_ for id_, _ in store.similar_ids("1 0", 9)] == ["b", "c"]
    assert set(filter(store.allowed(few), store.ids())) == {"b", "zero"}


def test_after_another_process_commits_only_what_is_new_is_read(tmp_path, monkeypatch):
    writer, reader = open_store(tmp_path), open_store(tmp_path)
    writer.add_texts(["1 0", "0 1", "1 1"], ids=["a", "b", "c"], metadatas=[{"n": 1}] * 3)
    ranges = []
    whole = PassageDataset.vectors

    def noted(self, start, stop):
        ranges.append((start, stop))
        return whole(self, start, stop)

    monkeypatch.setattr(PassageDataset, "vectors", noted)
    assert len(reader.similarity_search("1 0", filter={"n": 1})) == 3
    ranges.clear()
    writer.delete(["a"])
    writer.add_texts(["1 0.1", "0 1"], ids=["d", "c"], metadatas=[{"n": 1}, {"n": 2}])
    monkeypatch.setattr(reader._rows, "_refreshed_at", -1.0)
    found = reader.similarity_search("1 0", filter={"n": 1})
    assert [passage.id for passage in found] == ["d", "b"]
    assert ranges == [(1, 3)]
    assert reader.ids() == writer.ids()


def test_a_change_made_on_a_stale_view_hits_the_rows_that_were_meant(tmp_path):
    mine, theirs = open_store(tmp_path), open_store(tmp_path)
    mine.add_texts(["1 0", "0 1", "1 1", "2 1"], ids=["a", "b", "c", "d"])
    assert len(theirs) == 4
    mine.delete(["a"])  # every row moves
    theirs.delete(["b"])
    theirs.add_texts(["3 1"], ids=["c"])
    mine.add_texts(["4 1"], ids=["e"])
    for store in (mine, theirs, open_store(tmp_path)):
        time.sleep(0.6)
        kept = {found.id: found.page_content for found in store.get_by_ids(store.ids())}
        assert kept == {"c": "3 1", "d": "2 1", "e": "4 1"}


def entry(n, generation):
    """The text and metadata that passage `n` has in that generation, and no other."""
    return f"{1 + n % 7} {generation % 5 - 2} | {n} {generation}", {"n": n, "g": generation}


def add_entries(store, numbers, generation):
    texts, metadata = zip(*(entry(n, generation) for n in numbers), strict=True)
    store.add_texts(texts, list(metadata), ids=[str(n) for n in numbers])


def is_as_written(document):
    n, generation = document.metadata["n"], document.metadata["g"]
    return (document.id, document.page_content) == (str(n), entry(n, generation)[0])


def read_until(stop, store, wrong, searches, seed):
    """Search on and on; whatever is not as it must be goes to `wrong`."""
    rng = random.Random(seed)
    while not stop.is_set():
        lowest = rng.choice([0, 20])
        try:
            found = store.similarity_search(
                f"{rng.random() + 0.1} 1", 10, filter={"n": {"$gte": lowest}} if lowest else None
            )
        except Exception as error:  # noqa: BLE001 - a thread's failure must reach the test
            wrong.append(error)
            return
        searches.append(seed)
        wrong += [d for d in found if not is_as_written(d) or d.metadata["n"] < lowest]
        if len({document.id for document in found}) != 10:  # 40 are always there
            wrong.append(found)


def test_readers_beside_a_writer_never_see_a_passage_that_is_not_as_it_was_written(tmp_path):
    store, stop, wrong, searches = open_store(tmp_path), threading.Event(), [], []
    add_entries(store, range(40), 0)
    readers = [
        threading.Thread(target=read_until, args=(stop, store, wrong, searches, seed))
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
    assert wrong == []
    assert set(searches) == {0, 1, 2, 3}


KILLED = """
import sys
from pathlib import Path
import numpy as np
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import SpokenVectors
folder, start = Path(sys.argv[1]), int(sys.argv[2])
store = DeepLakePassages(folder, SpokenVectors())
for batch in range(start, start + 1000):
    ids = [f"{batch}-{n}" for n in range(20)] + ["shared"]
    texts = [f"text {id_} {batch}" for id_ in ids]
    store.add_vectors(ids, texts, np.ones((21, 8)), [{"batch": batch}] * 21)
    print(batch, flush=True)
"""


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_committed_and_leaves_nothing_twice(tmp_path):
    committed, first, rng = set(), 0, random.Random(3)
    for _ in range(8):
        writer = start(KILLED, tmp_path, first)
        seen = [writer.stdout.readline() for _ in range(rng.randint(1, 12))]
        time.sleep(rng.uniform(0, 0.05))  # somewhere in the middle of the next commit
        writer.kill()
        committed |= set(map(int, [*seen, *writer.communicate(timeout=60)[0].split()]))

        store = open_store(tmp_path, timeout_s=5)
        kept = store.get_by_ids(store.ids())
        assert len({found.id for found in kept}) == len(kept)
        for found in kept:
            assert found.page_content == f"text {found.id} {found.metadata['batch']}"
        batches = {found.metadata["batch"] for found in kept}
        assert batches >= committed
        assert len(kept) == 20 * len(batches) + bool(batches)  # no batch is there by half
        first = max(batches, default=-1) + 1
    assert len(committed) >= 8
    open_store(tmp_path).add_vectors(["new"], ["x"], np.ones((1, 8)), [{}])
    assert "new" in open_store(tmp_path).ids()


def test_an_id_that_is_there_twice_counts_with_its_last_row(tmp_path):
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
    found = [document.page_content for document in store.similarity_search("1 0", 9)]
    assert found == ["1 1 | new", "0 1 | b"]
    store.delete(["a"])
    assert open_store(tmp_path).ids() == ["b"]


def test_a_writer_gives_up_when_another_goes_on_too_long_and_readers_do_not_wait(tmp_path):
    store = open_store(tmp_path, timeout_s=0.3)
    store.add_texts(["1 0"], ids=["a"])
    with writer_lock(tmp_path):
        with pytest.raises(BusyError, match="is writing"):
            store.add_texts(["0 1"])
        assert [found.id for found in store.similarity_search("1 0")] == ["a"]
    store.add_texts(["0 1"], ids=["b"])
    assert store.ids() == ["a", "b"]


def test_a_full_disk_is_said_before_anything_is_written(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    store.add_texts(["1 0"], ids=["a"])
    monkeypatch.setattr(disk, "SPARE_BYTES", 2**62)
    with pytest.raises(StorageError, match="MiB free.*Nothing was written"):
        store.add_texts(["0 1"])
    monkeypatch.undo()
    assert open_store(tmp_path).ids() == ["a"]
