"""Footnote's commands in subprocesses."""

import atexit
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.fakes.loopback import LOOPBACK_SOURCES

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 240


def _network() -> str:
    """The network namespace of this thread."""
    try:
        return os.readlink("/proc/thread-self/ns/net")
    except OSError:
        return ""


NETWORK = _network()


class Prepared:
    """A process that runs commands in forks of itself, one after the other.

    The program reads the umask when it is imported, so each umask needs its own process.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        (forks_read, self._write), (self._read, forks_write) = os.pipe(), os.pipe()
        script = Path(__file__).with_name("prepared_python.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script), str(forks_read), str(forks_write)],
            env={"PATH": environment["PATH"], "HOME": "/nowhere", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(forks_read, forks_write),
            start_new_session=True,
        )
        os.close(forks_read)
        os.close(forks_write)
        self._pipes = [self._read, self._write]
        self._lock = threading.Lock()
        atexit.register(self.close)

    def run(
        self, arguments: Sequence[object], cwd: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run `cli.py` with these arguments, as `subprocess.run` does with captured output."""
        command = [str(ROOT / "cli.py"), *map(str, arguments)]
        with ExitStack() as files:
            out, err = (files.enter_context(tempfile.NamedTemporaryFile()) for _ in range(2))
            request = {
                "arguments": command,
                "cwd": str(cwd),
                "environment": dict(environment),
                "stdout": out.name,
                "stderr": err.name,
            }
            code = self._answer(json.dumps(request))
            texts = [file.read().decode().replace("\r\n", "\n") for file in (out, err)]
        return subprocess.CompletedProcess(command, code, *texts)

    def _answer(self, request: str) -> int:
        with self._lock:
            assert self._pipes, "an earlier command failed and ended the process"
            try:
                os.write(self._write, f"{request}\n".encode())
                ready, _, _ = select.select([self._read], [], [], TIMEOUT_S)
                assert ready, "the command did not end in time"
                return int(os.read(self._read, 100))
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """End the process and its commands; the next command starts another one.

        Repeated calls have no effect: the process id and the descriptors may be reused by then.
        """
        if not self._pipes:
            return
        atexit.unregister(self.close)
        prepared.cache_clear()
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        while self._pipes:
            os.close(self._pipes.pop())


@cache
def prepared(_umask: int) -> Prepared:
    """The process that runs the commands of all tests that have this umask."""
    return Prepared(os.environ)


def run_command(
    arguments: Sequence[object], cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `cli.py`, in a fork unless the test changes the user, the network, or Python's start."""
    is_plain = os.name != "nt" and not any(name.startswith("PYTHON") for name in environment)
    if is_plain and os.geteuid() == os.getuid() and _network() == NETWORK:
        return prepared(_umask()).run(arguments, cwd, environment)
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        timeout=TIMEOUT_S,
    )


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@dataclass
class CommandLine:
    """Runs commands over one data folder; none may print a traceback."""

    data_dir: Path
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: object) -> list[str]:
        return [sys.executable, str(ROOT / "cli.py"), *map(str, arguments)]

    def environ(self, **more: str) -> dict[str, str]:
        base = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        settings = {"FOOTNOTE_DATA_DIR": str(self.data_dir), **LOOPBACK_SOURCES}
        return base | settings | self.environment | more

    def run(
        self, *arguments: object, code: int = 0, within: Sequence[str] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the home folder and check its exit code.

        `within` is a command prefix, such as a program that drops capabilities.
        """
        result = self._run(arguments, within, self.environ(**environment))
        assert "Traceback" not in result.stderr, result.stderr
        assert result.returncode == code, result.stdout + result.stderr
        return result

    def _run(
        self, arguments: Sequence[object], within: Sequence[str], environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        if not within:
            return run_command(arguments, self.home, environment)
        return subprocess.run(
            [*within, *self.command(*arguments)],
            cwd=self.home,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
        )


def permission_prefix() -> list[str] | None:
    """A command prefix under which file permissions are enforced; None if there is none.

    Without it, root ignores them.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        return None
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
