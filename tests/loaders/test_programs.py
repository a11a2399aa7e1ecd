import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from errors import TemporarilyUnreadableError
from loaders.programs import TooSlowError, run_program

ROOT = Path(__file__).parents[2]
# A program that starts another, as soffice does, and tells the process ids of both.
FAMILY = (
    "sleep 600 & echo $! > child; echo $$ > own; mv child {told}/child; mv own {told}/own; wait"
)


def shell(script):
    return lambda folder: ["sh", "-c", script]


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def pids(told):
    return [int((told / name).read_text()) for name in ("child", "own")]


def wait_until(holds):
    end = time.monotonic() + 10
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def test_a_program_finds_what_it_is_given_and_its_work_is_brought_back():
    ran = run_program(
        shell("tr a-z A-Z < in > out; echo done"), {"in": b"text"}, "out", timeout_s=9
    )
    assert (ran.code, ran.output_file, ran.output) == (0, b"TEXT", "done\n")


def test_a_failure_is_told_with_what_the_program_said():
    ran = run_program(shell("echo no such page >&2; exit 3"), {}, "out", timeout_s=9)
    assert (ran.code, ran.output_file, ran.output) == (3, None, "no such page\n")


def test_its_folder_is_gone_afterwards_and_holds_nothing_of_ours():
    folders = []
    run_program(lambda folder: folders.append(folder) or ["true"], {"a": b"b"}, timeout_s=9)
    assert not folders[0].exists()


def test_a_program_sees_none_of_our_keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    assert "secret-1" not in run_program(lambda _: ["env"], {}, timeout_s=9).output


def test_a_slow_program_is_killed_with_what_it_started(tmp_path):
    folders = []

    def command(folder):
        folders.append(folder)
        return ["sh", "-c", FAMILY.format(told=tmp_path)]

    with pytest.raises(TooSlowError, match="longer than 1 s"):
        run_program(command, {}, timeout_s=1)
    assert wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
    assert not folders[0].exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_dies_with_the_process_that_wanted_it_however_that_dies(tmp_path, how):
    asking = (
        # A run in the background ignores Ctrl-C, and hands that on to what it starts.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from loaders.programs import run_program\n"
        "def command(folder):\n"
        f"    open({str(tmp_path / 'folder')!r}, 'w').write(str(folder))\n"
        f"    return ['sh', '-c', {FAMILY.format(told=tmp_path)!r}]\n"
        "run_program(command, {}, timeout_s=600)"
    )
    process = subprocess.Popen([sys.executable, "-c", asking], cwd=ROOT, stderr=subprocess.DEVNULL)
    assert wait_until((tmp_path / "own").exists)
    assert all(map(is_alive, pids(tmp_path)))
    process.send_signal(how)
    try:
        process.wait(10)
    finally:
        process.kill()
    assert wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
    assert wait_until(lambda: not Path((tmp_path / "folder").read_text()).exists())


def test_nothing_that_a_program_leaves_running_outlives_it(tmp_path):
    left = f"sleep 600 & echo $! > {tmp_path}/left"
    run_program(shell(left), {}, timeout_s=9)
    assert wait_until(lambda: not is_alive(int((tmp_path / "left").read_text())))


def test_a_program_can_not_fill_the_disk(monkeypatch):
    monkeypatch.setattr("loaders.programs._LARGEST", 2**20)
    ran = run_program(shell("exec head -c 9000000 /dev/zero > out"), {}, "out", timeout_s=9)
    assert ran.code == 128 + signal.SIGXFSZ
    assert len(ran.output_file or b"") <= 2**20


def test_no_room_for_the_folder_is_a_reason_to_try_again(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(TemporarilyUnreadableError, match="could not be run"):
        run_program(shell("true"), {}, timeout_s=9)


def test_a_program_that_is_not_there_fails():
    assert run_program(lambda _: ["no-such-program-1"], {}, timeout_s=9).code != 0


def test_waiting_can_be_broken_off(tmp_path):
    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(Stopped):
            run_program(shell(FAMILY.format(told=tmp_path)), {}, timeout_s=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
