"""Footnote's processes, isolated as the containers of compose.yaml are."""

import os
import shutil
import signal
import subprocess
import sys
from base64 import urlsafe_b64encode
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes

from benchmarks.processes import family
from tests.deploy.files import ROOT, SERVICES, image_files
from tests.postgresql.server import PASSWORD, USER

END_S = 30
VOLUME = "/var/lib/footnote"
_PROGRAM = "/opt/footnote"


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


def service_variables(postgresql, database, search_url):
    """The variables of the services in the compose file, for these stores."""
    variables = {
        "FOOTNOTE_DATABASE_URL": f"postgresql://{USER}@127.0.0.1:{postgresql.port}/{database}",
        "PGPASSWORD": PASSWORD,
        "FOOTNOTE_ENCRYPTION_KEY": urlsafe_b64encode(token_bytes(32)).decode(),
        "FOOTNOTE_SEARCH_URL": search_url,
        "FOOTNOTE_SEARCH_REPLICAS": "0",
        "FOOTNOTE_LOG_FORMAT": "json",
        "FOOTNOTE_LOG_LEVEL": "info",
    }
    assert variables.keys() == SERVICES["api"]["environment"].keys()
    return variables


@dataclass(frozen=True)
class Containers:
    """Containers with the same program and variables that share a volume.

    If there are `logs`, each container adds its log to a file of its name in that folder.
    """

    program: Path
    volume: Path
    variables: dict[str, str]
    logs: Path | None = None

    def run(self, *command):
        """The output of a command in a container of its own."""
        options = {"capture_output": True, "text": True, "timeout": 120, "check": True}
        return subprocess.run(self._command("run", command), env=self._environ(), **options).stdout

    def create_key(self):
        """A new API key that may read, ask, and manage."""
        scopes = [option for one in ("read", "ask", "manage") for option in ("--scope", one)]
        return self.run("python", "cli.py", "api-key", "create", "test", *scopes).strip()

    @contextmanager
    def start(self, name, *command, **variables):
        """Run a command in the background; it is killed at the end of the block."""
        with ExitStack() as stack:
            log = self.logs and stack.enter_context((self.logs / name).open("ab"))
            process = stack.enter_context(
                subprocess.Popen(
                    self._command(name, command),
                    env=self._environ(**variables),
                    stdout=log and subprocess.DEVNULL,
                    stderr=log,
                )
            )
            stack.callback(process.kill)
            yield process

    def serve(self, program, number, port, **variables):
        """`start` a service of the compose file; its server is on this port of loopback."""
        options = {
            "0.0.0.0": "127.0.0.1",
            "8600": str(port),
            "--server.port=8501": f"--server.port={port}",
        }
        command = [options.get(one, one) for one in SERVICES[program]["command"]]
        if program == "worker":
            variables["FOOTNOTE_WORKER_METRICS_PORT"] = str(port)
        return self.start(f"{program}-{number}", *command, **variables)

    def _command(self, name, command):
        python, *arguments = command
        assert python == "python"
        return [
            *_isolation(name),
            *_mount("--ro-bind", self.program, _PROGRAM),
            *_mount("--bind", self.volume, VOLUME),
            *("--chdir", _PROGRAM, sys.executable, *arguments),
        ]

    def _environ(self, **variables):
        image = {
            "PATH": os.environ["PATH"],
            "HOME": "/tmp",
            "PYTHONDONTWRITEBYTECODE": "1",
            "FOOTNOTE_DATA_DIR": f"{VOLUME}/data",
        }
        return image | self.variables | variables


def stop(process):
    """Send SIGTERM to process 1 of the container, and return its exit code."""
    os.kill(_inside(process)[0], signal.SIGTERM)
    return process.wait(END_S)


def send_to_all(process, number):
    """Send a signal to all processes of the container, the first one first."""
    for pid in _inside(process):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _inside(process):
    """The processes of the container, the first one first; none if it has ended."""
    return [*family(process.pid)][1:]
