"""Clients generated from the API's description upload a file, ask a question, and read a stream.

The generators are pinned in `generated_clients/package.json` and `tests/requirements/clients.in`.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from domain import LOCAL_USER
from tests.api.conftest import bearer
from tests.api.serving import serving

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "generated_clients"
MODULES = PROGRAMS / "node_modules"
PYTHON = ROOT / ".venv-clients" / "bin"
QUESTION = "How many days of annual leave do new employees get?"
ANSWER = "“New employees get 25 days of annual leave a year.” [1]"
LIMIT_S = 240
OLDEST_NODE = (20, 19, 0)

needs_python_generator = pytest.mark.skipif(
    not (ROOT / ".venv-clients" / ".ready").exists(),
    reason="the generator of Python clients is not installed: run `make clients`",
)


@pytest.fixture
def npm():
    """Skips a test without the npm packages, or without a Node.js that runs them."""
    if not (MODULES / ".ready").exists():
        pytest.skip("the generators of TypeScript clients are not installed: run `make clients`")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if tuple(map(int, version.removeprefix("v").split("."))) < OLDEST_NODE:
        pytest.skip(f"Node.js {version} is too old for the generators of TypeScript clients")


@pytest.fixture
def services(imported):
    return imported()


@pytest.fixture
def server(services):
    with serving(services) as url:
        yield url


@pytest.fixture
def folder(server, tmp_path):
    """A folder with the programs, the npm packages, and the description of the running API."""
    folder = tmp_path / "client"
    shutil.copytree(PROGRAMS, folder, ignore=shutil.ignore_patterns("node_modules"))
    if MODULES.exists():
        (folder / "node_modules").symlink_to(MODULES)
    description = httpx.get(f"{server}/api/v1/openapi.json", timeout=LIMIT_S).text
    (folder / "openapi.json").write_text(description, encoding="utf-8")
    return folder


def run(folder, *command):
    """The output of a command in the folder."""
    paths = [str(folder / "node_modules" / ".bin"), str(PYTHON), os.environ["PATH"]]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_typescript(folder, program, *arguments):
    """Compile the program with all checks of types, and run it."""
    options = ("--strict", "--target", "es2022", "--module", "node16", "--outDir", "js")
    run(folder, "tsc", *options, f"{program}.ts")
    return run(folder, "node", f"js/{program}.js", *arguments)


def check(services, output):
    result = json.loads(output)
    assert result["accepted"] == ["parking.md"]
    assert result["answer"] == result["streamed"] == ANSWER
    [job] = services.queue.current(LOCAL_USER)
    names = {one.source.id: one.source.name for one in services.sources.list(LOCAL_USER)}
    assert names[job.source_id] == "Building"


@pytest.fixture
def arguments(services, server):
    secret = bearer(services)["Authorization"].removeprefix("Bearer ")
    return server, secret, QUESTION


def test_a_client_of_hey_api_works(npm, folder, services, arguments):
    run(folder, "openapi-ts", "-i", "openapi.json", "-o", "client", "-c", "@hey-api/client-fetch")
    check(services, run_typescript(folder, "hey_api", *arguments))


def test_a_client_of_openapi_typescript_works(npm, folder, services, arguments):
    run(folder, "openapi-typescript", "openapi.json", "-o", "schema.d.ts")
    check(services, run_typescript(folder, "openapi_fetch", *arguments))


@needs_python_generator
def test_a_client_of_openapi_python_client_works(folder, services, arguments):
    options = ("--path", "openapi.json", "--output-path", "footnote_client", "--meta", "none")
    run(folder, "openapi-python-client", "generate", *options)
    check(services, run(folder, str(PYTHON / "python"), "openapi_python_client.py", *arguments))
