"""The real program, started with its command, and a real browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.browser.accessibility import AXE
from tests.browser.actions import DESKTOP, WAIT_MS
from tests.browser.program import Program, running
from tests.browser.team import Team, running_team
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, OpenAIServer, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Attach the text of the page to a failed test."""
    outcome = yield
    report = outcome.get_result()
    page = getattr(item, "funcargs", {}).get("page")
    if report.when == "call" and report.failed and page and not page.is_closed():
        report.sections.append(("The page", f"{page.url}\n\n{_text_of(page)}"))


def _text_of(page: "sync_api.Page") -> str:
    """The text of the page, or the error if it does not answer; no time limit applies here."""
    try:
        return page.inner_text("body", timeout=READ_MS)
    except sync_api.Error as error:
        return str(error)


NAMES = ("chromium", "chromium-browser", "google-chrome")
READ_MS = 5_000
sync_api.expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser."""
    browser_path = next(filter(None, map(shutil.which, NAMES)), None)
    if not browser_path:
        pytest.skip("Chromium is missing; get it with: apt-get install chromium")
    return browser_path


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    if not AXE.exists():
        pytest.skip("axe-core is missing; get it with: make axe")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def clean_environment() -> dict[str, str]:
    """An environment without Footnote settings or keys."""
    prefixes = ("OPENAI_", "FOOTNOTE_", "STREAMLIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


@pytest.fixture(scope="session")
def environment(
    clean_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """A clean environment with its own data folder; the first start imports the samples."""
    return clean_environment | {"FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("data"))}


@pytest.fixture(scope="session")
def address(chromium: str, environment: dict[str, str]) -> Iterator[str]:
    """The base URL of the running program."""
    with running(environment) as program:
        yield program.address


@pytest.fixture
def model_server() -> Iterator[OpenAIServer]:
    """A scripted chat model on loopback."""
    with serving() as model:
        yield model


@pytest.fixture
def address_with_model(
    chromium: str, environment: dict[str, str], model_server: OpenAIServer
) -> Iterator[str]:
    """The base URL of the program running with that chat model."""
    model = {"OPENAI_BASE_URL": model_server.url, "FOOTNOTE_CHAT_MODEL": MODEL}
    with running(environment | model) as program:
        yield program.address


@pytest.fixture(scope="session")
def embedder() -> Iterator[OpenAIServer]:
    """A fast embedding model on loopback that can hold the texts a test selects."""
    with serving() as model:
        yield model


@pytest.fixture(scope="session")
def program(
    chromium: str,
    clean_environment: dict[str, str],
    embedder: OpenAIServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Program]:
    """The program running with that embedding model over its own library."""
    embedding = {
        "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("imports")),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    with running(clean_environment | embedding) as program:
        yield program


@pytest.fixture(scope="module")
def team(
    chromium: str,
    clean_environment: dict[str, str],
    embedder: OpenAIServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Team]:
    """A team with the sample documents, whose people sign in at a provider on loopback."""
    with running_team(clean_environment, embedder, tmp_path_factory.mktemp("team")) as team:
        yield team


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator["sync_api.Browser"]:
    """One browser per file; its event loop blocks tests that run their own."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "sync_api.Browser") -> Iterator["sync_api.Page"]:
    """A page; the test fails if its context sends a request to another machine."""
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
    """Fail at the end of the block if a page violated its content security policy."""
    messages: list[str] = []
    context.on("console", lambda message: messages.append(message.text))
    context.on("weberror", lambda error: messages.append(str(error.error)))
    yield
    assert [text for text in messages if "Content Security Policy" in text] == []
