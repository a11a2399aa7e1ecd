"""Footnote's commands in processes of their own, as a person runs them."""

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
    """Runs commands over one data folder; none may ever show a traceback."""

    data_dir: Path
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: object) -> list[str]:
        return [sys.executable, str(ROOT / "cli.py"), *map(str, arguments)]

    def environ(self, **more: str) -> dict[str, str]:
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        chosen = {"FOOTNOTE_DATA_DIR": str(self.data_dir)}
        return kept | chosen | self.environment | more

    def run(
        self, *arguments: object, code: int = 0, within: Sequence[str] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the home folder, which must end with that code.

        `within` is put before it, say a program that takes rights away.
        """
        done = subprocess.run(
            [*within, *self.command(*arguments)],
            cwd=self.home,
            env=self.environ(**environment),
            capture_output=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            timeout=240,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done


def powerless() -> list[str] | None:
    """What to put before a command so that file permissions hold for it; None where nothing does.

    They do for everybody but root.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        return None
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
