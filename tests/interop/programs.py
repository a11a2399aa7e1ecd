"""Runs programs of other origins, each in an environment of its own (`make clients`)."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INTEROP = Path(__file__).parent
LIMIT_S = 240
OLDEST_NODE = (20, 19, 0)


def node_packages(folder):
    """The npm packages of that folder here; skips the test without them or a Node.js for them."""
    modules = INTEROP / folder / "node_modules"
    if not (modules / ".ready").exists():
        pytest.skip(f"the npm packages of {folder} are not installed: run `make clients`")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if tuple(map(int, version.removeprefix("v").split("."))) < OLDEST_NODE:
        pytest.skip(f"Node.js {version} is too old for the npm packages of {folder}")
    return modules


def python_of(name):
    """The Python of the environment with that name; skips the test without it."""
    environment = ROOT / f".venv-{name}"
    if not (environment / ".ready").exists():
        pytest.skip(f"{environment.name} is not installed: run `make clients`")
    return environment / "bin" / "python"


def run(command, folder, *paths):
    """The output of a command in the folder; `paths` precede the folders of other programs."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**os.environ, "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]])},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
