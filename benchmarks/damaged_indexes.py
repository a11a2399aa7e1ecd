"""Damages indexes at random, and counts how many of them take down a process that searches them.

    python -m benchmarks.damaged_indexes --cases 600 --seed 1

Each case is a copy of an index with damage in one to three files of one store. A third of them keep
the list of checksums, as after a failure of the disk; a third have none, as in a copy that is not
complete; and in a third the list matches the damaged files, as in a backup from somebody else. A
process of its own then does with the index what a server does: it opens, searches, and changes it.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import machine
from benchmarks.our_store import QueryVector
from domain.child_processes import limit_memory
from domain.errors import StorageError
from storage.base_store import NewPassage
from storage.index_files import CHECKSUMS, FileList, file_digest, read_list, write_list
from storage.index_reader import READABLE
from storage.index_stores import EmbeddedStore

DIMENSION, PASSAGES, BATCHES = 64, 240, 4
MEMORY_BYTES = 3 * 2**30
"""Far more than the index needs; a process that wants more counts as killed."""
HANGS_AFTER_S = 90.0
LISTS = ("kept", "deleted", "forged")
STORES = ("passages", "keywords")
UNDAMAGED = (CHECKSUMS, READABLE, "writer.json")


class Case(NamedTuple):
    """What was damaged, and how the process ended."""

    number: int
    store: str
    list: str
    damage: str
    outcome: str


def whole_index(folder: Path) -> None:
    """An index that was filled in several imports, some of which replaced or deleted passages."""
    store = store_in(folder)
    store.create([])
    for start in range(0, PASSAGES, PASSAGES // BATCHES):
        store.add(*passages(range(start, start + PASSAGES // BATCHES)))
    store.add(*passages(range(0, 20)))
    store.delete([f"{row:032x}" for row in range(20, 40)])


def store_in(folder: Path) -> EmbeddedStore:
    store = EmbeddedStore(None, folder, lambda _: QueryVector())  # type: ignore[arg-type,return-value]
    store.__dict__["embedding"] = QueryVector()
    return store


def passages(rows: range) -> tuple[list[NewPassage], np.ndarray]:
    rng = np.random.default_rng(rows.start)
    texts = [f"word{row % 97} other{row % 13} passage {row} of a handbook" for row in rows]
    new = [
        NewPassage(f"{row:032x}", text, {"group": row % 7, "title": f"Document {row}"}, text)
        for row, text in zip(rows, texts, strict=True)
    ]
    return new, rng.normal(size=(len(rows), DIMENSION)).astype(np.float32)


def truncated(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(len(data))])


def extended(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data) + rng.randbytes(rng.randrange(1, 5000))


def bits_flipped(data: bytearray, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 4, 32))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def part_zeroed(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    stop = min(len(data), start + rng.choice((4, 64, 4096)))
    data[start:stop] = bytes(stop - start)
    return bytes(data)


def all_zeroed(data: bytearray, _rng: random.Random) -> bytes:
    return bytes(len(data))


def part_random(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    stop = min(len(data), start + rng.choice((4, 64, 4096)))
    data[start:stop] = rng.randbytes(stop - start)
    return bytes(data)


def number_raised(data: bytearray, rng: random.Random) -> bytes:
    """One number of a JSON file, or four or eight bytes near the start or the end, as a count."""
    digits = list(re.finditer(rb"\d+", data)) if data[:1] in b"{[" else []
    if digits:
        one = rng.choice(digits)
        number = str(rng.choice((0, 2**31 - 1, 2**32 - 1, 2**40, 2**63, 10**30))).encode()
        return bytes(data[: one.start()] + number + data[one.end() :])
    size = rng.choice((4, 8))
    near = rng.choice((rng.randrange(min(64, len(data))), len(data) - rng.randrange(1, 65)))
    start = max(0, min(near, len(data) - size))
    value = rng.choice((2**31 - 1, 2**32 - 1, 2**24, 2**20, 255))
    data[start : start + size] = value.to_bytes(8, "little")[:size]
    return bytes(data)


DAMAGES = (
    truncated,
    extended,
    bits_flipped,
    bits_flipped,
    part_zeroed,
    all_zeroed,
    part_random,
    number_raised,
    number_raised,
)


def damage(store: Path, rng: random.Random) -> str:
    """Damage one to three files of a store, and return what was done to which."""
    files = [
        file
        for file in sorted(store.rglob("*"))
        if file.is_file() and file.stat().st_size and file.name not in UNDAMAGED
    ]
    done = []
    for file in rng.sample(files, rng.choice((1, 1, 2, 3))):
        if rng.random() < 0.1:
            other = rng.choice(files)
            done.append(f"{file.name} exchanged with {other.name}")
            data, others = file.read_bytes(), other.read_bytes()
            file.write_bytes(others)
            other.write_bytes(data)
            continue
        how = rng.choice(DAMAGES)
        done.append(f"{file.name} {how.__name__}")
        file.write_bytes(how(bytearray(file.read_bytes()), rng) if file.stat().st_size else b"")
    return ", ".join(done)


def change_list(store: Path, kind: str) -> None:
    if kind == "kept":
        return
    listed = read_list(store)
    (store / CHECKSUMS).unlink()
    if kind == "forged":
        (store / READABLE).unlink()  # a backup with this file is not restored
    if kind == "forged" and listed:
        files = {name: file_digest(store / name) for name in listed.files}
        state = dict(listed.state)
        if "meta" in state:
            state["meta"] = file_digest(store / "index/meta.json").checksum
            with suppress(ValueError, KeyError, TypeError):
                state["opstamp"] = json.loads((store / "index/meta.json").read_bytes())["opstamp"]
        write_list(store, FileList(files, state))


def serve(folder: Path) -> bool:
    """Use the index as a server does; whether everything was possible."""
    store, is_usable = store_in(folder), True
    for step in STEPS:
        try:
            step(store)
        except StorageError:
            is_usable = False
    return is_usable


def search_vectors(store: EmbeddedStore) -> None:
    query = np.ones(DIMENSION, np.float32)
    store.embedding.vector = query  # type: ignore[attr-defined]
    near = store.passages.similarity_search_by_vector(query.tolist(), k=10)
    found = store.passages.similarity_search_by_vector(query.tolist(), k=10, filter={"group": 3})
    store.passages.get_by_ids([str(one.id) for one in (*near, *found)])


def read_all_passages(store: EmbeddedStore) -> None:
    ids = store.passages.ids()
    store.passages.get_by_ids(ids)
    store.passages.vectors_of(ids)


def search_words(store: EmbeddedStore) -> None:
    store.keywords.search("word5 passage handbook", 10)
    store.keywords.search("passage", 100, lambda id_: id_.endswith("3"))
    store.keywords.counts(["handbook", "word7", "nothing"])
    store.keywords.tokens_with_prefix("wo")


def read_all_words(store: EmbeddedStore) -> None:
    store.keywords.ids()


def write(store: EmbeddedStore) -> None:
    store.load()
    store.add(*passages(range(PASSAGES, PASSAGES + 5)))
    store.delete([f"{row:032x}" for row in range(50, 60)])


STEPS: tuple[Callable[[EmbeddedStore], object], ...] = (
    EmbeddedStore.prepare,
    search_vectors,
    search_words,
    read_all_passages,
    read_all_words,
    EmbeddedStore.inspect,
    write,
    search_vectors,
    search_words,
)


def outcome_of(folder: Path) -> str:
    """How a process ends that uses the index; it is forked, with all libraries but deeplake."""
    child = os.fork()
    if child == 0:
        _use_and_exit(folder)
    deadline = time.monotonic() + HANGS_AFTER_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return _ending(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "killed: it hung"


REPORTED, OTHER_ERROR, NO_MEMORY = 3, 4, 5
ENDINGS = {0: "used", REPORTED: "reported", OTHER_ERROR: "another error", NO_MEMORY: "memory"}


def _use_and_exit(folder: Path) -> None:
    with (folder / "output").open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    limit_memory(MEMORY_BYTES)
    try:
        code = 0 if serve(folder) else REPORTED
    except MemoryError:
        code = NO_MEMORY
    except BaseException:  # noqa: BLE001  # a panic of Rust, for example
        traceback.print_exc()
        code = OTHER_ERROR
    sys.stderr.flush()
    os._exit(code)


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return f"killed: {signal.Signals(-code).name}"
    ending = ENDINGS.get(code, f"another error: exit code {code}")
    return "killed: memory" if ending == "memory" else ending


def run_case(number: int, seed: int, whole: Path, folder: Path) -> Case:
    rng = random.Random(f"{seed}/{number}")
    copy = folder / f"case-{number}"
    shutil.copytree(whole, copy)
    store, kind = STORES[number % 2], LISTS[number // 2 % 3]
    done = damage(copy / store, rng)
    change_list(copy / store, kind)
    outcome = outcome_of(copy)
    if outcome == "another error":
        done += "\n    " + (copy / "output").read_text("utf-8", "replace").strip()[-1500:]
    shutil.rmtree(copy)
    return Case(number, store, kind, done, outcome)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=600)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import tantivy  # noqa: F401  # once, not in every process

    import storage.vectors.passage_store  # noqa: F401

    totals: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory(prefix="footnote-damage-") as name:
        folder = Path(name)
        whole = folder / "whole"
        if outcome := _in_process(whole_index, whole):
            sys.exit(f"the index could not be built: {outcome}")
        for number in range(options.first, options.first + options.cases):
            case = run_case(number, options.seed, whole, folder)
            totals[case.store, case.list, case.outcome] += 1
            if case.outcome not in ("used", "reported"):
                print(*case, sep="  ", flush=True)
    print(machine())
    for (store, kind, outcome), count in sorted(totals.items()):
        print(f"{store:10} list {kind:8} {outcome:20} {count:5}")
    killed = sum(count for (*_, outcome), count in totals.items() if outcome.startswith("killed"))
    print(f"{options.cases} damaged indexes, {killed} took the process down")
    return min(killed, 1)


def _in_process(work: Callable[[Path], None], folder: Path) -> int:
    """Run it in a process of its own, because deeplake must not be loaded before a fork."""
    child = os.fork()
    if child == 0:
        try:
            work(folder)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
