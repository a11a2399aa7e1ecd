"""Footnote's processes, isolated as the containers of compose.yaml are."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.files import ROOT, SERVICES

END_S = 30
_READ_ONLY_PARENT = "/var/lib"  # of the volume; its other contents are hidden


def missing_programs():
    """Why no container can be started; "" if one can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is missing (apt-get install bubblewrap)"
    result = subprocess.run([*_isolation("probe"), "true"], capture_output=True, text=True)
    return result.stderr and f"bubblewrap can't isolate processes here: {result.stderr}"


def _isolation(name):
    """The user, root, processes, and host name of a container; the network is that of the machine.

    The command is process 1 and has no capabilities.
    """
    user = SERVICES["worker"]["user"].partition(":")[0]
    return [
        *("bwrap", "--unshare-user", "--uid", user, "--gid", user, "--cap-drop", "ALL"),
        *("--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--hostname", name),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
        *("--ro-bind", str(ROOT), str(ROOT), "--chdir", str(ROOT)),
        *("--die-with-parent", "--new-session"),
    ]


@dataclass(frozen=True)
class Containers:
    """Containers that share a volume and have the same variables."""

    volume: Path
    variables: dict[str, str]

    def run(self, *command):
        """The output of a command in a container of its own."""
        options = {"capture_output": True, "text": True, "timeout": 120, "check": True}
        return subprocess.run(self._command("run", command), env=self._environ(), **options).stdout

    @contextmanager
    def start(self, name, *command, **variables):
        """Run a command in the background; it is killed at the end of the block."""
        with subprocess.Popen(
            self._command(name, command), env=self._environ(**variables)
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def _command(self, name, command):
        program, *arguments = command
        assert program == "python"
        mount = ("--tmpfs", _READ_ONLY_PARENT, "--bind", str(self.volume), "/var/lib/footnote")
        return [
            *(*_isolation(name), *mount, "--remount-ro", _READ_ONLY_PARENT),
            *(sys.executable, *arguments),
        ]

    def _environ(self, **variables):
        image = {
            "PATH": os.environ["PATH"],
            "HOME": "/tmp",
            "PYTHONDONTWRITEBYTECODE": "1",
            "FOOTNOTE_DATA_DIR": "/var/lib/footnote/data",
        }
        return image | self.variables | variables


def stop(process):
    """Send SIGTERM to process 1 of the container, and return its exit code."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    return process.wait(END_S)
