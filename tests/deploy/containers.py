"""Footnote's processes, isolated as the containers of compose.yaml are."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.files import ROOT, SERVICES, image_files

END_S = 30
_PROGRAM = "/opt/footnote"
_VOLUME = "/var/lib/footnote"


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
        *("--ro-bind", str(ROOT), str(ROOT), "--die-with-parent", "--new-session"),
    ]


def _mount(option, source, target):
    """Mount a folder; other contents of the parent are hidden, because the root is read-only."""
    parent = str(Path(target).parent)
    return ["--tmpfs", parent, option, str(source), target, "--remount-ro", parent]


def copy_program(folder):
    """Copy the files of the image into the folder."""
    for name in image_files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, target)


@dataclass(frozen=True)
class Containers:
    """Containers with the same program and variables that share a volume."""

    program: Path
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
        python, *arguments = command
        assert python == "python"
        return [
            *_isolation(name),
            *_mount("--ro-bind", self.program, _PROGRAM),
            *_mount("--bind", self.volume, _VOLUME),
            *("--chdir", _PROGRAM, sys.executable, *arguments),
        ]

    def _environ(self, **variables):
        image = {
            "PATH": os.environ["PATH"],
            "HOME": "/tmp",
            "PYTHONDONTWRITEBYTECODE": "1",
            "FOOTNOTE_DATA_DIR": f"{_VOLUME}/data",
        }
        return image | self.variables | variables


def stop(process):
    """Send SIGTERM to process 1 of the container, and return its exit code."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    return process.wait(END_S)
