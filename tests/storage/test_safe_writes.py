import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from domain.errors import BusyError, StorageError
from storage.safe_writes import HOLDER_FILE, write_errors, writer_lock

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys, time
from pathlib import Path
from storage.safe_writes import HOLDER_FILE, writer_lock
with writer_lock(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock on `tmp_path`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.wait(10)


def test_waiting_for_another_process_times_out_and_names_it(tmp_path, holder):
    started = time.monotonic()
    with pytest.raises(BusyError) as caught, writer_lock(tmp_path, timeout_s=0.3):
        pass
    assert 0.3 <= time.monotonic() - started < 5
    assert str(holder.pid) in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert caught.value.retryable


def test_the_lock_of_a_killed_process_is_released_at_once(tmp_path, holder):
    holder.kill()
    holder.wait(10)
    with writer_lock(tmp_path, timeout_s=1):
        pass


def test_a_waiting_thread_continues_when_the_lock_is_released(tmp_path):
    order = []

    def second():
        with writer_lock(tmp_path, timeout_s=10):
            order.append("second")

    with writer_lock(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_the_lock_is_released_after_an_exception(tmp_path):
    with pytest.raises(KeyError), writer_lock(tmp_path):
        raise KeyError
    with writer_lock(tmp_path, timeout_s=0):
        pass


def test_locking_twice_in_the_same_thread_times_out(tmp_path):
    with (
        writer_lock(tmp_path),
        pytest.raises(BusyError, match=str(os.getpid())),
        writer_lock(tmp_path, timeout_s=0.1),
    ):
        pass


def test_locks_of_other_folders_are_independent(tmp_path):
    with writer_lock(tmp_path), writer_lock(tmp_path / "inner", timeout_s=0):
        pass


def test_a_folder_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't be written to"), writer_lock(tmp_path / "file"):
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_not_reported_as_missing_permission(tmp_path, number):
    full = pytest.raises(StorageError, match=f"disk of {tmp_path} is full .*Free some space")
    with full as report, write_errors(tmp_path):
        raise OSError(number, os.strerror(number))
    assert "permission" not in str(report.value)


def test_failing_to_write_the_holder_file_is_reported_and_releases_the_lock(tmp_path):
    (tmp_path / HOLDER_FILE).mkdir()
    with pytest.raises(StorageError, match=str(tmp_path)), writer_lock(tmp_path):
        pass
    (tmp_path / HOLDER_FILE).rmdir()
    with writer_lock(tmp_path, timeout_s=0):
        pass
