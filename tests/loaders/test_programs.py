import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from domain.errors import TemporarilyUnreadableError
from loaders.programs import TooSlowError, run_program

ROOT = Path(__file__).parents[2]
# A program that starts another, as soffice does, and writes the process ids of both to files.
FAMILY = (
    "sleep 600 & echo $! > child; echo $$ > own;"
    " mv child {pid_folder}/child; mv own {pid_folder}/own; wait"
)


def shell(script):
    return lambda folder: ["sh", "-c", script]


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def pids(pid_folder):
    return [int((pid_folder / name).read_text()) for name in ("child", "own")]


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_a_program_gets_its_input_files_and_its_output_file_is_returned():
    result = run_program(
        shell("tr a-z A-Z < in > out; echo done"), {"in": b"text"}, "out", timeout_s=9
    )
    assert (result.code, result.output_file, result.output) == (0, b"TEXT", "done\n")


def test_a_failure_is_reported_with_the_exit_code_and_error_output():
    result = run_program(shell("echo no such page >&2; exit 3"), {}, "out", timeout_s=9)
    assert (result.code, result.output_file, result.output) == (3, None, "no such page\n")


def test_the_working_folder_is_deleted_afterwards():
    folders = []
    run_program(lambda folder: folders.append(folder) or ["true"], {"a": b"b"}, timeout_s=9)
    assert not folders[0].exists()


def test_programs_do_not_inherit_api_keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    assert "secret-1" not in run_program(lambda _: ["env"], {}, timeout_s=9).output


def test_slow_programs_are_killed_with_their_child_processes(tmp_path):
    folders = []

    def command(folder):
        folders.append(folder)
        return ["sh", "-c", FAMILY.format(pid_folder=tmp_path)]

    with pytest.raises(TooSlowError, match="longer than 1 s"):
        run_program(command, {}, timeout_s=1)
    assert wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
    assert not folders[0].exists()


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_programs_are_killed_when_the_calling_process_ends(tmp_path, signal_number):
    program = (
        # Background processes ignore Ctrl-C, which their child processes inherit.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from loaders.programs import run_program\n"
        "def command(folder):\n"
        f"    open({str(tmp_path / 'folder')!r}, 'w').write(str(folder))\n"
        f"    return ['sh', '-c', {FAMILY.format(pid_folder=tmp_path)!r}]\n"
        "run_program(command, {}, timeout_s=600)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL)
    assert wait_until((tmp_path / "own").exists)
    assert all(map(is_alive, pids(tmp_path)))
    process.send_signal(signal_number)
    try:
        process.wait(10)
    finally:
        process.kill()
    assert wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
    assert wait_until(lambda: not Path((tmp_path / "folder").read_text()).exists())


def test_background_processes_of_a_program_are_killed_when_it_exits(tmp_path):
    script = f"sleep 600 & echo $! > {tmp_path}/child"
    run_program(shell(script), {}, timeout_s=9)
    assert wait_until(lambda: not is_alive(int((tmp_path / "child").read_text())))


def test_the_size_of_output_files_is_limited(monkeypatch):
    monkeypatch.setattr("loaders.programs._LARGEST", 2**20)
    result = run_program(shell("exec head -c 9000000 /dev/zero > out"), {}, "out", timeout_s=9)
    assert result.code == 128 + signal.SIGXFSZ
    assert len(result.output_file or b"") <= 2**20


def test_failing_to_create_the_working_folder_is_retryable(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(TemporarilyUnreadableError, match="could not be run"):
        run_program(shell("true"), {}, timeout_s=9)


def test_a_missing_program_fails():
    assert run_program(lambda _: ["no-such-program-1"], {}, timeout_s=9).code != 0


def test_an_exception_during_the_wait_kills_the_program(tmp_path):
    class Alarm(Exception):
        pass

    def raise_alarm(*_):
        raise Alarm

    previous = signal.signal(signal.SIGALRM, raise_alarm)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(Alarm):
            run_program(shell(FAMILY.format(pid_folder=tmp_path)), {}, timeout_s=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert wait_until(lambda: not any(map(is_alive, pids(tmp_path))))
