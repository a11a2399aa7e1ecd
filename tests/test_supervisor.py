"""Supervised processes are restarted and never orphaned."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARENT = """
import sys
from commands.supervisor import supervise, termination_request
from pathlib import Path
sleeper = "tests.fakes.sleeper"
termination = termination_request()
if sys.argv[3:]:
    import os, signal
    try:
        os.kill(os.getpid(), int(sys.argv[3]))
    except KeyboardInterrupt:
        pass  # Python raises it if the signal arrives while a module is loading
code = supervise(termination, Path("unused"), [sleeper, sys.argv[1]], [[sleeper, sys.argv[2]]])
sys.exit(130 if code is None else code)
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no signals")


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition was never met"
        time.sleep(0.02)


def is_running(pid):
    try:
        # A process that has exited stays in the process table until its parent waits for it.
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.fixture
def folders(tmp_path):
    id_folders = [tmp_path / "page", tmp_path / "worker"]
    for folder in id_folders:
        folder.mkdir()
    return id_folders


@pytest.fixture
def parent(folders):
    command = [sys.executable, "-c", PARENT, *map(str, folders)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        until(lambda: all(pids(folder) for folder in folders))
        yield process
        process.kill()


def pids(folder):
    return [int(path.name) for path in folder.iterdir()]


def all_exited(folders):
    return not any(is_running(pid) for folder in folders for pid in pids(folder))


def test_a_dead_worker_is_restarted(parent, folders):
    [first] = pids(folders[1])
    os.kill(first, signal.SIGKILL)
    until(lambda: len(pids(folders[1])) == 2)
    assert parent.poll() is None


def test_the_other_processes_end_with_the_pages(parent, folders):
    [page] = pids(folders[0])
    os.kill(page, signal.SIGKILL)
    assert parent.wait(60) != 0
    assert all_exited(folders)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_children_first(parent, folders, number):
    parent.send_signal(number)
    assert parent.wait(60) == 130
    assert all_exited(folders)


def test_killing_the_supervisor_leaves_no_orphans(parent, folders):
    parent.send_signal(signal.SIGKILL)
    until(lambda: all_exited(folders))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_startup_interrupts_it_and_leaves_nothing(folders, number):
    command = [sys.executable, "-c", PARENT, *map(str, folders), str(int(number))]
    assert subprocess.run(command, cwd=ROOT, timeout=60).returncode == 130
    assert all_exited(folders)
