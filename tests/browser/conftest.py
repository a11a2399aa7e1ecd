"""The real program, started as people do, and a real browser in front of it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.browser.actions import DESKTOP, WAIT_MS
from tests.browser.program import Program, running
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, OpenAIServer, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A test that failed tells what stood on its page."""
    outcome = yield
    report = outcome.get_result()
    page = getattr(item, "funcargs", {}).get("page")
    if report.when == "call" and report.failed and page and not page.is_closed():
        report.sections.append(("The page", f"{page.url}\n\n{page.inner_text('body')}"))


NAMES = ("chromium", "chromium-browser", "google-chrome")
sync_api.expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip("Chromium is missing; get it with: apt-get install chromium")
    return found


@pytest.fixture(scope="session")
def clean() -> dict[str, str]:
    """An environment without any setting of Footnote's, and no key."""
    ours = ("OPENAI_", "FOOTNOTE_", "STREAMLIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.fixture(scope="session")
def environment(clean: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A clean environment with a data folder of its own; the first start imports the samples."""
    return clean | {"FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("data"))}


@pytest.fixture(scope="session")
def address(chromium: str, environment: dict[str, str]) -> Iterator[str]:
    """The address of the running program."""
    with running(environment) as program:
        yield program.address


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
    with running(environment | model) as program:
        yield program.address


@pytest.fixture(scope="session")
def embedder() -> Iterator[OpenAIServer]:
    """An embedding model on loopback, quick but for the texts that a test lets it hold."""
    with serving() as model:
        yield model


@pytest.fixture(scope="session")
def program(
    chromium: str,
    clean: dict[str, str],
    embedder: OpenAIServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Program]:
    """The program running with that embedding model, over a library of its own."""
    embedding = {
        "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("imports")),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    with running(clean | embedding) as program:
        yield program


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator["sync_api.Browser"]:
    """One for a file: while it lives its event loop stops other tests from running theirs."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "sync_api.Browser") -> Iterator["sync_api.Page"]:
    """A page whose tab, like those that it opens, must have asked no machine but this one."""
    context = browser.new_context(viewport=DESKTOP, locale="en-GB")
    requested = []
    context.on("request", lambda request: requested.append(request.url))
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.requested = requested
    with no_policy_violations(context):
        yield page
        context.close()
    addresses = [url for url in requested if url.startswith(("http", "ws"))]
    assert [url for url in addresses if urlsplit(url).hostname != "localhost"] == []


@contextmanager
def no_policy_violations(context: "sync_api.BrowserContext") -> Iterator[None]:
    """Fails at the end of the block if a page did what its content security policy forbids."""
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    yield
    assert [text for text in said if "Content Security Policy" in text] == []
