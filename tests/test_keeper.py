"""The processes that are kept: started again, and never left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARENT = """
import sys
from commands.keeper import keep, told_to_end
from pathlib import Path
sleeper = "tests.fakes.sleeper"
told = told_to_end()
if sys.argv[3:]:
    import os, signal
    try:
        os.kill(os.getpid(), int(sys.argv[3]))
    except KeyboardInterrupt:
        pass  # what Python does with one that comes amid loading a module
code = keep(told, Path("unused"), [sleeper, sys.argv[1]], [[sleeper, sys.argv[2]]])
sys.exit(130 if code is None else code)
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no signals")


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def runs(pid):
    try:
        # A process that has ended stays in the table until its parent asks.
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / "page", tmp_path / "worker"]
    for folder in made:
        folder.mkdir()
    return made


@pytest.fixture
def parent(folders):
    command = [sys.executable, "-c", PARENT, *map(str, folders)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        until(lambda: all(pids(folder) for folder in folders))
        yield process
        process.kill()


def pids(folder):
    return [int(path.name) for path in folder.iterdir()]


def all_gone(folders):
    return not any(runs(pid) for folder in folders for pid in pids(folder))


def test_a_worker_that_dies_is_started_again(parent, folders):
    [first] = pids(folders[1])
    os.kill(first, signal.SIGKILL)
    until(lambda: len(pids(folders[1])) == 2)
    assert parent.poll() is None


def test_when_the_page_ends_so_does_the_rest(parent, folders):
    [page] = pids(folders[0])
    os.kill(page, signal.SIGKILL)
    assert parent.wait(60) != 0
    assert all_gone(folders)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_ends_its_children_first(parent, folders, number):
    parent.send_signal(number)
    assert parent.wait(60) == 130
    assert all_gone(folders)


def test_killed_it_leaves_no_orphan(parent, folders):
    parent.send_signal(signal.SIGKILL)
    until(lambda: all_gone(folders))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_while_it_starts_it_interrupts_its_start_and_keeps_nothing(folders, number):
    command = [sys.executable, "-c", PARENT, *map(str, folders), str(int(number))]
    assert subprocess.run(command, cwd=ROOT, timeout=60).returncode == 130
    assert all_gone(folders)
