"""Index files of unknown origin are read by another process before this one opens them."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from domain.errors import DamagedIndexError, StorageError
from storage import index_files, index_reader
from storage.index_files import CHECKSUMS, FileList, IndexFiles, file_digest, read_list, write_list
from storage.index_reader import READABLE, ReadableStates, reading_problem
from storage.safe_writes import writer_lock
from tests.storage.test_index_files import STORES, add, files_in, store_in


@pytest.fixture(params=STORES)
def kind(request):
    return request.param


@pytest.fixture
def readings(monkeypatch):
    """The folders that other processes have read, in order; they find no problem."""
    folders = []

    def record(_store, folder):
        folders.append(folder)
        return ""

    monkeypatch.setattr(index_files, "reading_problem", record)
    return folders


@contextmanager
def another_writer(folder):
    """Another thread holds the lock of the folder."""
    begun, ended = threading.Event(), threading.Event()

    def hold():
        with writer_lock(folder):
            begun.set()
            ended.wait(60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert begun.wait(60)
        try:
            yield
        finally:
            ended.set()


def forge(folder):
    """Make the list match the files, as in an index from somebody else."""
    listed = read_list(folder)
    files = {name: file_digest(folder / name) for name in listed.files}
    write_list(folder, FileList(files, listed.state))
    (folder / READABLE).unlink()


def test_vectors_that_would_crash_this_process_are_damage(tmp_path):
    add(store_in(tmp_path, "passages"), "a", "b")
    folder = tmp_path / "passages"
    for name in read_list(folder).files:
        if name.startswith("rows/") and "_deeplake_log" not in name:
            (folder / name).write_bytes(bytes((folder / name).stat().st_size))
    forge(folder)
    with pytest.raises(DamagedIndexError, match=r"rows can't be read: .* failed.*cli\.py reindex"):
        store_in(tmp_path, "passages").ids()
    assert not (folder / READABLE).exists()


def test_words_that_cannot_be_read_completely_are_damage(tmp_path):
    add(store_in(tmp_path, "keywords"), "a", "b")
    [file] = (tmp_path / "keywords" / "index").glob("*.store")
    data = file.read_bytes()
    file.write_bytes(b"\xff" * 16 + data[16:])
    forge(tmp_path / "keywords")
    with pytest.raises(DamagedIndexError, match=r"index can't be read: .* failed.*cli\.py reindex"):
        store_in(tmp_path, "keywords").search("cat", 5)


def test_an_index_from_elsewhere_is_read_once(tmp_path, kind):
    add(store_in(tmp_path, kind), "a", "b")
    forge(tmp_path / kind)
    assert sorted(store_in(tmp_path, kind).ids()) == ["a", "b"]
    assert (tmp_path / kind / READABLE).exists()


def test_what_this_program_wrote_is_not_read_by_another_process(tmp_path, kind, readings):
    store = store_in(tmp_path, kind)
    for id_ in "abc":
        add(store, id_)
    store.delete(["a"])
    assert sorted(store_in(tmp_path, kind).ids()) == ["b", "c"]
    assert readings == []


@pytest.mark.parametrize("lost", [[READABLE], [READABLE, CHECKSUMS]])
def test_files_of_unknown_origin_are_read_once_by_all_processes(tmp_path, kind, readings, lost):
    add(store_in(tmp_path, kind), "a")
    for name in lost:
        (tmp_path / kind / name).unlink()
    for _process in range(3):
        files_in(tmp_path, kind).require_sound()
    assert readings == [tmp_path / kind]


def test_a_start_reads_only_files_of_unknown_origin(tmp_path, kind, readings):
    add(store_in(tmp_path, kind), "a")
    files_in(tmp_path, kind).require_readable()
    assert readings == []
    (tmp_path / kind / READABLE).unlink()
    files_in(tmp_path, kind).require_readable()
    assert readings == [tmp_path / kind]


def test_a_store_that_cannot_be_read_is_read_only_once_by_each_process(tmp_path, kind, monkeypatch):
    add(store_in(tmp_path, kind), "a")
    (tmp_path / kind / READABLE).unlink()
    answers = iter(["it crashed"])
    monkeypatch.setattr(index_files, "reading_problem", lambda *_: next(answers))
    files = files_in(tmp_path, kind)
    for _search in range(2):
        with pytest.raises(DamagedIndexError, match="can't be read: it crashed"):
            files.require_sound()


def test_the_commit_of_a_killed_writer_is_read_first(tmp_path, kind, readings, monkeypatch):
    add(store_in(tmp_path, kind), "a")
    with monkeypatch.context() as patch:
        patch.setattr(IndexFiles, "record", lambda _: None)
        add(store_in(tmp_path, kind), "b")
    with another_writer(tmp_path / kind):  # which will list its commit
        files_in(tmp_path, kind).require_sound()
    assert readings == []
    for _process in range(2):
        files_in(tmp_path, kind).require_sound()
    assert readings == [tmp_path / kind]


def test_a_writer_has_the_commit_of_a_killed_writer_read_first(
    tmp_path, kind, readings, monkeypatch
):
    add(store_in(tmp_path, kind), "a")
    with monkeypatch.context() as patch:
        patch.setattr(IndexFiles, "record", lambda _: None)
        add(store_in(tmp_path, kind), "b")
    add(store_in(tmp_path, kind), "c")
    assert readings == [tmp_path / kind]


@pytest.mark.parametrize("name", ["../../secret", "/dev/zero", "rows/../../a"])
def test_a_list_that_leads_out_of_the_folder_is_damage(tmp_path, kind, name):
    add(store_in(tmp_path, kind), "a")
    listed = read_list(tmp_path / kind)
    write_list(tmp_path / kind, FileList({**listed.files, name: (0, "x")}, listed.state))
    with pytest.raises(DamagedIndexError, match="checksums is damaged"):
        files_in(tmp_path, kind).require_sound()


def test_a_commit_with_an_empty_file_is_read_first(tmp_path, readings):
    store = store_in(tmp_path, "passages")
    add(store, "a")
    (tmp_path / "passages" / "rows" / "empty").touch()  # the disk was full
    add(store, "b")
    files_in(tmp_path, "passages").require_sound()
    assert readings == [tmp_path / "passages"]


def test_only_the_last_states_are_remembered(tmp_path):
    for number in range(20):
        ReadableStates(tmp_path).add(f"state {number}")
    assert "state 19" in ReadableStates(tmp_path)
    assert "state 0" not in ReadableStates(tmp_path)


def test_a_damaged_record_of_states_is_ignored(tmp_path):
    (tmp_path / READABLE).write_bytes(b"\xff\xfe")
    assert "state" not in ReadableStates(tmp_path)
    ReadableStates(tmp_path).add("state")
    assert "state" in ReadableStates(tmp_path)


# The process that reads

PROGRAM = "import os, signal, sys\n"


def problem_with(monkeypatch, tmp_path, program):
    main = tmp_path / "main.py"
    main.write_text(PROGRAM + program)
    monkeypatch.setattr(index_reader, "_MAIN", main)
    return str(reading_problem("passages", tmp_path))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "failed (SIGSEGV)"),
        ("sys.exit(9)", "failed (exit code 9)"),
        ("sys.exit(3)", "more than 2052 MiB of memory"),
        ("signal.pause()", "more than 0.3 s"),
    ],
)
def test_the_reason_says_how_the_process_ended(tmp_path, monkeypatch, program, reason):
    if program == "signal.pause()":
        monkeypatch.setattr(index_reader, "BASE_S", 0.1)
    assert reason in problem_with(monkeypatch, tmp_path, program)


def test_the_process_gets_limits_and_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    checks = 'sys.argv[1:4:2] == ["passages", "20"] and "OPENAI_API_KEY" not in os.environ'
    program = f"sys.exit(0 if {checks} else 1)"
    assert problem_with(monkeypatch, tmp_path, program) == ""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_a_process_that_was_stopped_from_outside_is_no_damage(tmp_path, monkeypatch, name):
    with pytest.raises(StorageError, match=name) as caught:
        problem_with(monkeypatch, tmp_path, f"os.kill(os.getpid(), signal.{name})")
    assert not isinstance(caught.value, DamagedIndexError)


def test_a_process_that_cannot_be_started_is_no_damage(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(StorageError, match="could not be run") as caught:
        reading_problem("passages", tmp_path)
    assert not isinstance(caught.value, DamagedIndexError)


def test_too_little_memory_is_reported(tmp_path, monkeypatch):
    add(store_in(tmp_path, "keywords"), "a")
    monkeypatch.setattr(index_reader, "_MIB", 1 << 10)  # a thousandth of the limit
    assert reading_problem("keyword index", tmp_path / "keywords")


def test_nothing_is_left_of_the_process(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    add(store_in(tmp_path, "keywords"), "a")
    assert reading_problem("keyword index", tmp_path / "keywords") == ""
    assert [one for one in os.listdir(tmp_path) if one != "keywords"] == []
    assert Path(tmp_path, "keywords", READABLE).exists()


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"{"])
def test_a_start_without_checksums_reports_a_damaged_list_of_segments(tmp_path, content):
    add(store_in(tmp_path, "keywords"), "a")
    (tmp_path / "keywords" / CHECKSUMS).unlink()
    (tmp_path / "keywords" / "index" / "meta.json").write_bytes(content)
    with pytest.raises(DamagedIndexError, match=r"index/meta\.json "):
        files_in(tmp_path, "keywords").require_readable()
