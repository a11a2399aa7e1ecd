"""The real program, served over the sample documents, and a real browser in front of it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.actions import DESKTOP, WAIT_MS
from tests.fakes.openai import MODEL, OpenAIServer, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome")
START_S = 60
IMPORT_S = 300


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip("Chromium is missing; get it with: apt-get install chromium")
    return found


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A clean environment with a data folder of its own, the sample documents in it; no key."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENAI_", "FOOTNOTE_", "STREAMLIT_"))
    }
    clean = {**kept, "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("data"))}
    command = [sys.executable, "cli.py", "import", "sample_documents"]
    subprocess.run(command, cwd=ROOT, env=clean, check=True, timeout=IMPORT_S)
    return clean


@pytest.fixture(scope="session")
def address(chromium: str, environment: dict[str, str]) -> Iterator[str]:
    """The address of the running program."""
    with _running(environment) as address:
        yield address


@pytest.fixture
def model_server() -> Iterator[OpenAIServer]:
    """A chat model on loopback that follows the test's script."""
    with serving() as model:
        yield model


@pytest.fixture
def address_with_model(
    chromium: str, environment: dict[str, str], model_server: OpenAIServer
) -> Iterator[str]:
    """The address of the program running with that chat model."""
    model = {"OPENAI_BASE_URL": model_server.url, "FOOTNOTE_CHAT_MODEL": MODEL}
    with _running(environment | model) as address:
        yield address


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "sync_api.Browser") -> Iterator["sync_api.Page"]:
    context = browser.new_context(viewport=DESKTOP, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.requested = []
    page.on("request", lambda request: page.requested.append(request.url))
    yield page
    context.close()


@contextmanager
def _running(environment: dict[str, str]) -> Iterator[str]:
    port = _free_port()
    options = ["--server.port", str(port), "--server.address", "localhost"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options], cwd=ROOT, env=environment
    )
    try:
        _wait_until_healthy(server, port)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(timeout=10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(server: subprocess.Popen, port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert server.poll() is None, f"streamlit ended with code {server.returncode}"
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"streamlit did not answer within {START_S} s")
