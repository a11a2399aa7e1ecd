"""Clients generated from the API's description upload a file, ask a question, and read a stream.

The generators are pinned in `generated_clients/package.json` and `tests/requirements/clients.in`.
"""

import json
import shutil
from pathlib import Path

import httpx
import pytest

from domain import LOCAL_USER
from tests.api.conftest import bearer
from tests.api.serving import serving
from tests.interop.programs import LIMIT_S, node_packages, python_of, run

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "generated_clients"
QUESTION = "How many days of annual leave do new employees get?"
ANSWER = "“New employees get 25 days of annual leave a year.” [1]"


@pytest.fixture
def services(imported):
    return imported()


@pytest.fixture
def server(services):
    with serving(services) as url:
        yield url


@pytest.fixture
def folder(server, tmp_path):
    """A folder with the programs and the description of the running API."""
    folder = tmp_path / "client"
    shutil.copytree(PROGRAMS, folder, ignore=shutil.ignore_patterns("node_modules"))
    description = httpx.get(f"{server}/api/v1/openapi.json", timeout=LIMIT_S).text
    (folder / "openapi.json").write_text(description, encoding="utf-8")
    return folder


@pytest.fixture
def npm_folder(folder):
    """The folder with the npm packages."""
    (folder / "node_modules").symlink_to(node_packages("generated_clients"))
    return folder


def run_npm(folder, *command):
    return run(command, folder, folder / "node_modules" / ".bin")


def run_typescript(folder, program, *arguments):
    """Compile the program with all checks of types, and run it."""
    options = ("--strict", "--target", "es2022", "--module", "node16", "--outDir", "js")
    run_npm(folder, "tsc", *options, f"{program}.ts")
    return run_npm(folder, "node", f"js/{program}.js", *arguments)


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


def test_a_client_of_hey_api_works(npm_folder, services, arguments):
    options = ("-i", "openapi.json", "-o", "client", "-c", "@hey-api/client-fetch")
    run_npm(npm_folder, "openapi-ts", *options)
    check(services, run_typescript(npm_folder, "hey_api", *arguments))


def test_a_client_of_openapi_typescript_works(npm_folder, services, arguments):
    run_npm(npm_folder, "openapi-typescript", "openapi.json", "-o", "schema.d.ts")
    check(services, run_typescript(npm_folder, "openapi_fetch", *arguments))


def test_a_client_of_openapi_python_client_works(folder, services, arguments):
    python = python_of("clients")
    options = ("--path", "openapi.json", "--output-path", "footnote_client", "--meta", "none")
    # The generator formats its code with the ruff of its environment.
    run(["openapi-python-client", "generate", *options], folder, python.parent)
    check(services, run([python, "openapi_python_client.py", *arguments], folder))
