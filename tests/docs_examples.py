"""Runs the examples of a documentation page as a reader would."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.fakes.command_line import ROOT

WAIT_S = 120
QUOTE = "New employees get 25 days of annual leave a year."
LAPSE = "Unused days lapse on 31 March."
HANDBOOK = {
    "leave.md": f"# Leave policy\n\n## Annual leave\n\n{QUOTE} {LAPSE}\n",
    "vpn.md": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.\n",
}

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"^# ([\w-]+\.py): \S")


class Page:
    """A page: `programs` by the name in their first line, `commands` in page order."""

    def __init__(self, name):
        self.text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        blocks = _BLOCK.findall(self.text)
        self.programs = {_program_name(text): text for kind, text in blocks if kind == "python"}
        self.commands = [text for kind, text in blocks if kind == "sh"]
        self.settings = [text for kind, text in blocks if kind == "json"]

    def command(self, text_in_command):
        """The only command block that contains the text."""
        [match] = [text for text in self.commands if text_in_command in text]
        return match


@dataclass
class Desk:
    """A reader's folder: looks like a checkout and contains the page's programs."""

    folder: Path
    data_dir: Path
    environment: dict = field(default_factory=dict)

    def save(self, page):
        python = self.folder / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        (self.folder / "cli.py").symlink_to(ROOT / "cli.py")
        for name, text in page.programs.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    @property
    def environ(self):
        base = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
        local = {"NO_PROXY": "127.0.0.1", "FOOTNOTE_DATA_DIR": str(self.data_dir)}
        return base | local | self.environment

    def python(self, *arguments, code=0, **more):
        return self._run([sys.executable, *map(str, arguments)], code, more)

    def sh(self, commands, code=0, **more):
        return self._run(["sh", "-e", "-c", commands], code, more)

    def _run(self, command, code, more):
        result = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ | more,
            capture_output=True,
            encoding="utf-8",
            timeout=WAIT_S,
        )
        assert result.returncode == code, result.stdout + result.stderr
        assert "Traceback" not in result.stderr, result.stderr
        return result.stdout if code == 0 else result.stderr


def desk_over_handbook(page, tmp_path_factory, model_cache):
    """A desk with the page's programs and a library imported from `~/handbook`."""
    desk = Desk(tmp_path_factory.mktemp("desk"), tmp_path_factory.mktemp("data"))
    (desk.data_dir / "cache").symlink_to(model_cache)
    desk.save(page)
    handbook = desk.folder / "handbook"
    handbook.mkdir()
    for name, text in HANDBOOK.items():
        (handbook / name).write_text(text, encoding="utf-8")
    desk.sh(".venv/bin/python cli.py import ~/handbook")
    return desk


@contextmanager
def running(desk, *arguments, **more):
    """Run a Footnote command in a subprocess until the end of the block."""
    command = [sys.executable, str(ROOT / "cli.py"), *map(str, arguments)]
    environment = desk.environ | {"PYTHONUNBUFFERED": "1"} | more
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=desk.folder, env=environment, **pipes) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def serving_api(desk, **more):
    """The base URL of `cli.py api`, without a path."""
    with running(desk, "api", "--port", "0", **more) as process:
        line = process.stdout.readline()
        assert "http://" in line, line
        url = line.split()[4].removesuffix("/api/v1")
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{url}/api/v1/ready", timeout=WAIT_S).is_success:
                    break
            except httpx.ConnectError:
                time.sleep(0.05)
        yield url


def _program_name(text):
    name = _NAME.match(text)
    assert name, f"an example begins with its name and what it does, not {text[:60]!r}"
    return name[1]
