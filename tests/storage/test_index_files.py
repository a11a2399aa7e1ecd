"""Checksum lists after commits, crashes, and merges, and with concurrent processes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from domain.errors import DamagedIndexError
from storage import index_files
from storage.index_files import CHECKSUMS, IndexFiles, read_list
from storage.index_reader import READABLE
from storage.keywords.keyword_index import KeywordIndex
from storage.keywords.segment_files import SegmentFiles
from storage.vectors import deep_lake
from storage.vectors.deep_lake import PassageFiles
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors

ROOT = Path(__file__).parents[2]
WRITE = """
import os, signal, sys
from pathlib import Path
from storage.index_files import IndexFiles
from tests.storage.test_index_files import add, store_in
if sys.argv[3] == "killed":
    IndexFiles.record = lambda self: os.kill(os.getpid(), signal.SIGKILL)
for number in range(int(sys.argv[4])):
    add(store_in(Path(sys.argv[2]), sys.argv[1]), f"other{number}")
    print(number, flush=True)
"""
STORES = ["passages", "keywords"]


def store_in(folder, kind):
    if kind == "passages":
        return DeepLakePassages(folder / kind, TextVectors())
    return KeywordIndex(folder / kind)


def files_in(folder, kind):
    return {"passages": PassageFiles, "keywords": SegmentFiles}[kind](folder / kind)


def add(store, *ids):
    if isinstance(store, DeepLakePassages):
        store.add_texts(["1 0"] * len(ids), ids=list(ids))
    else:
        store.add([(id_, f"cat {id_}") for id_ in ids])


def listed_files(folder, kind):
    return set(read_list(folder / kind).files)


def start_writer(folder, kind, mode, commits):
    command = [sys.executable, "-c", WRITE, kind, str(folder), mode, str(commits)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.fixture(params=STORES)
def kind(request):
    return request.param


def test_a_missing_index_is_damage_only_if_the_ledger_expects_it(tmp_path, kind):
    files = files_in(tmp_path, kind)
    files.require_sound()
    files.must_exist = True
    with pytest.raises(DamagedIndexError, match=f"{tmp_path / kind}.*is missing"):
        files.require_sound()


def test_a_file_in_place_of_the_folder_is_reported(tmp_path, kind):
    (tmp_path / kind).write_text("no folder")
    with pytest.raises(DamagedIndexError, match=f"{tmp_path / kind}.*Not a directory"):
        store_in(tmp_path, kind).ids()


def test_a_commit_reads_only_its_own_files_for_the_list(tmp_path, kind, monkeypatch):
    store = store_in(tmp_path, kind)
    add(store, "a", "b")
    before = listed_files(tmp_path, kind)
    paths = []

    def recording_digest(path):
        paths.append(str(path.relative_to(tmp_path / kind)))
        return index_files.FileDigest(path.stat().st_size, "not computed")

    def recording_list(*args):
        with monkeypatch.context() as patch:
            patch.setattr(index_files, "file_digest", recording_digest)
            return original(*args)

    original = index_files.with_new_files
    monkeypatch.setattr(index_files, "with_new_files", recording_list)
    add(store, "c")
    assert before
    assert set(paths) == listed_files(tmp_path, kind) - before
    assert len(paths) > 3


def test_every_file_of_a_commit_is_listed(tmp_path, kind):
    store = store_in(tmp_path, kind)
    add(store, "a", "b")
    store.delete(["a"])
    folder = tmp_path / kind
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    unlisted = {CHECKSUMS, READABLE, "writer.json", "index/meta.json", "index/.managed.json"}
    others = files - listed_files(tmp_path, kind) - unlisted
    assert all(
        name.endswith((".lock", "next_base")) or name.startswith("changes/") for name in others
    )


@pytest.mark.parametrize("name", [".DS_Store", ".nfs000000000001"])
def test_hidden_files_of_other_programs_are_ignored(tmp_path, kind, name):
    add(store_in(tmp_path, kind), "a")
    folder = tmp_path / kind
    strays = [file.parent / name for file in list(folder.rglob("*")) if file.is_file()]
    for stray in strays:
        stray.write_text("from a file manager")
    add(store_in(tmp_path, kind), "b")
    for stray in strays:
        stray.unlink(missing_ok=True)
    files_in(tmp_path, kind).require_sound()
    assert sorted(store_in(tmp_path, kind).ids()) == ["a", "b"]


@pytest.mark.slow
def test_killing_a_writer_after_its_commit_and_before_its_list_is_no_damage(tmp_path, kind):
    add(store_in(tmp_path, kind), "a")
    before = listed_files(tmp_path, kind)
    with start_writer(tmp_path, kind, "killed", 1) as other:
        assert other.wait(60) < 0

    files_in(tmp_path, kind).require_sound()
    assert listed_files(tmp_path, kind) == before
    assert sorted(store_in(tmp_path, kind).ids()) == ["a", "other0"]

    add(store_in(tmp_path, kind), "b")
    files_in(tmp_path, kind).require_sound()
    assert sorted(store_in(tmp_path, kind).ids()) == ["a", "b", "other0"]
    assert len(listed_files(tmp_path, kind)) > len(before) + 1


@pytest.mark.slow
def test_killing_a_writer_before_its_first_list_is_no_damage(tmp_path, kind):
    with start_writer(tmp_path, kind, "killed", 1) as other:
        assert other.wait(60) < 0
    assert not (tmp_path / kind / CHECKSUMS).exists()
    files = files_in(tmp_path, kind)
    files.require_sound()

    files.record_first()
    assert listed_files(tmp_path, kind)
    files.require_sound()
    # The passages have a list before their first row.
    assert store_in(tmp_path, kind).ids() == ([] if kind == "passages" else ["other0"])


@pytest.mark.slow
def test_unlisted_merges_are_no_damage(tmp_path, monkeypatch):
    store = store_in(tmp_path, "keywords")
    add(store, "a")
    with monkeypatch.context() as patch:
        patch.setattr(IndexFiles, "record", lambda _: None)
        for number in range(20):
            add(store, f"b{number}")
    assert not all(
        (tmp_path / "keywords" / name).exists() for name in listed_files(tmp_path, "keywords")
    )
    files_in(tmp_path, "keywords").require_sound()
    add(store, "c")
    assert all(
        (tmp_path / "keywords" / name).exists() for name in listed_files(tmp_path, "keywords")
    )


def test_unlisted_commits_without_changes_are_no_damage(tmp_path, monkeypatch):
    store = store_in(tmp_path, "keywords")
    add(store, "a")
    monkeypatch.setattr(IndexFiles, "record", lambda _: None)
    store.delete(["nobody"])
    files_in(tmp_path, "keywords").require_sound()


@pytest.mark.slow
def test_a_concurrent_reader_never_sees_damage(tmp_path, kind):
    add(store_in(tmp_path, kind), "a")
    checks, files, store = 0, files_in(tmp_path, kind), store_in(tmp_path, kind)
    with start_writer(tmp_path, kind, "whole", 25) as other:
        while other.poll() is None:
            files.require_sound()
            files_in(tmp_path, kind).require_sound()
            assert "a" in store.ids()
            checks += 1
        assert other.returncode == 0
    assert checks > 3
    time.sleep(0.6)  # REFRESH_S of the passages
    assert len(store.ids()) == 26


def test_unchanged_files_are_read_only_once(tmp_path, kind, monkeypatch):
    add(store_in(tmp_path, kind), "a")
    paths = []
    original = index_files.file_digest

    def recording_digest(path):
        paths.append(path)
        return original(path)

    monkeypatch.setattr(index_files, "file_digest", recording_digest)
    files = files_in(tmp_path, kind)
    files.require_sound()
    assert len(paths) == len(listed_files(tmp_path, kind))
    files.require_sound()
    assert len(paths) == len(listed_files(tmp_path, kind))
    assert files_in(tmp_path, kind).problems(contents=False) == []
    assert len(paths) == len(listed_files(tmp_path, kind))


def test_the_error_names_the_first_damaged_file_and_all_can_be_listed(tmp_path, kind):
    add(store_in(tmp_path, kind), "a")
    names = [name for name in read_list(tmp_path / kind).files if not name.endswith(".json")]
    for name in names[:3]:
        with (tmp_path / kind / name).open("ab") as file:
            file.write(b"!")
    with pytest.raises(DamagedIndexError, match=rf"{names[0]} has .*python cli.py reindex"):
        files_in(tmp_path, kind).require_sound()
    problems = files_in(tmp_path, kind).problems()
    assert [problem.split(" has ")[0] for problem in problems] == names[:3]


@pytest.mark.parametrize("counter", [b"", b"\0" * 8, b"\xff" * 8, (2**40).to_bytes(8, "little")])
def test_an_invalid_commit_counter_is_rejected_before_it_is_used(tmp_path, counter):
    store = store_in(tmp_path, "passages")
    add(store, "a")
    for number in range(3):
        add(store, f"b{number}")
    [log] = {file.parent for file in tmp_path.rglob("next_base") if file.parent.name != "_meta"}
    original = (log / "next_base").read_bytes()
    (log / "next_base").write_bytes(counter)
    with pytest.raises(DamagedIndexError, match="next_base does not match"):
        add(store, "c")
    (log / "next_base").write_bytes((int.from_bytes(original, "little") + 1).to_bytes(8, "little"))
    add(store, "c")  # killed writers leave unused numbers
    assert store.ids() == ["a", "b0", "b1", "b2", "c"]


def stray_counters(folder):
    """What writers leave that are killed while they replace the counter of a log."""
    strays = [file.with_name("next_base.tmp.12.34.5") for file in folder.rglob("next_base")]
    for stray in strays:
        stray.write_bytes(b"\x07")
    return strays


def test_a_half_written_commit_counter_is_not_part_of_the_index(tmp_path):
    store = store_in(tmp_path, "passages")
    add(store, "a")
    strays = stray_counters(tmp_path)
    add(store, "b")
    listed = listed_files(tmp_path, "passages")
    assert len(strays) == 2
    assert not [name for name in listed if "next_base" in name]
    files_in(tmp_path, "passages").require_sound()


def test_a_half_written_commit_counter_that_is_listed_is_tolerated(tmp_path, monkeypatch):
    store = store_in(tmp_path, "passages")
    add(store, "a")
    strays, files_below = stray_counters(tmp_path), deep_lake._files_below

    def with_strays(folder, path):
        yield from files_below(folder, path)
        yield from (f"{path}/{stray.name}" for stray in strays if stray.parent == Path(folder))

    with monkeypatch.context() as patch:
        patch.setattr(deep_lake, "_files_below", with_strays)
        add(store, "b")
    listed = listed_files(tmp_path, "passages")
    assert len([name for name in listed if name.endswith(strays[0].name)]) == 2
    add(store, "c")
    assert store.ids() == ["a", "b", "c"]
    files_in(tmp_path, "passages").require_sound()


def test_each_missing_commit_of_a_log_is_reported(tmp_path):
    add(store_in(tmp_path, "passages"), "a")
    [log] = tmp_path.rglob("_meta")
    commits = list(log.glob("[0-9]*"))
    for commit in commits:
        commit.unlink()
    (log / "next_base").write_bytes((9).to_bytes(8, "little"))
    problems = files_in(tmp_path, "passages").problems()
    names = [str(commit.relative_to(tmp_path / "passages")) for commit in commits]
    assert problems == [f"{name} can't be read (No such file or directory)" for name in names]


@pytest.mark.parametrize("content", ["[" * 100_000, "{", "\0", "[]", '{"segments": [{}]}'])
def test_invalid_segment_metadata_is_reported(tmp_path, content):
    add(store_in(tmp_path, "keywords"), "a")
    (tmp_path / "keywords" / "index" / "meta.json").write_text(content)
    with pytest.raises(DamagedIndexError, match=r"can't be used: index/meta\.json "):
        files_in(tmp_path, "keywords").require_sound()


def test_a_commit_succeeds_even_if_its_list_cannot_be_written(tmp_path, kind, monkeypatch):
    def disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(index_files, "write_list", disk_full)
    store = store_in(tmp_path, kind)
    add(store, "a")
    assert store.ids() == ["a"]
    assert not (tmp_path / kind / CHECKSUMS).exists()
