"""Footnote's commands in subprocesses."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
        settings = {"FOOTNOTE_DATA_DIR": str(self.data_dir)}
        return base | settings | self.environment | more

    def run(
        self, *arguments: object, code: int = 0, within: Sequence[str] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the home folder and check its exit code.

        `within` is a command prefix, such as a program that drops capabilities.
        """
        result = subprocess.run(
            [*within, *self.command(*arguments)],
            cwd=self.home,
            env=self.environ(**environment),
            capture_output=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            timeout=240,
        )
        assert "Traceback" not in result.stderr, result.stderr
        assert result.returncode == code, result.stdout + result.stderr
        return result


def permission_prefix() -> list[str] | None:
    """A command prefix under which file permissions are enforced; None if there is none.

    Without it, root ignores them.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        return None
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
