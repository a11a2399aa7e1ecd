"""Opens pages in a browser and measures how long each takes.

From the request, or the click in the navigation, until the page's main element is visible and its
script has ended.
"""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests.opensearch.home import free_ports

ROOT = Path(__file__).parent.parent
START_S, OPEN_S = 90, 60
WINDOW = {"width": 1280, "height": 900}
TIMES_UNTIL_KNOWN = 3
"""Chromium keeps a script compiled from about its third use on (v8.dev/blog/code-caching)."""
NOT_IN_NAVIGATION = {"document", "places, no catalog"}
WHEN_OPEN = """
([part, path, within]) => new Promise((opened, failed) => {
  const from = performance.now();
  const look = () => {
    const ended = document.querySelector('.stApp[data-test-script-state="notRunning"]');
    if (ended && document.querySelector(part)?.getClientRects().length) {
      opened((performance.timeOrigin + performance.now()) / 1000);
    } else if (performance.now() - from > 1000 * within) {
      failed(new Error(`${part} was not there after ${within} s`));
    } else setTimeout(look, 10);
  };
  const links = [...document.querySelectorAll('[data-testid="stTopNavLink"]')];
  if (path) links.find((link) => link.pathname === path).click();
  look();
})
"""
"""Tells the moment itself: Playwright's own waiting looks only every half second after a while."""
EMPTY_PAGE = "an empty Streamlit page"
EMPTY = "import streamlit as st\n\nst.html(\"<p class='fn-empty'>Empty</p>\")\n"


class Page(NamedTuple):
    """A page: its script, its path, and the element that shows it is ready."""

    name: str
    script: str
    address: str
    ready: str


class Opening(NamedTuple):
    """Seconds to open a page in a new browser, and again in one with a cache.

    `by_navigation` starts at a click in another page's navigation; None if there is no such link.
    """

    fresh: float
    again: float
    by_navigation: float | None


PAGES = (
    Page("chat", "pages/chat.py", "", "[data-testid=stChatInputTextArea]"),
    Page("conversation", "", "?conversation={conversation}", ".fn-answer"),
    Page("retrieval lab", "pages/retrieval_lab.py", "retrieval_lab", ".stForm button"),
    Page("settings", "pages/app_settings.py", "app_settings", ".stForm button"),
    Page("imports", "pages/imports.py", "imports", ".stMain .fn-source-row"),
    Page("library", "pages/library.py", "library", "[data-testid=stDataFrame] canvas"),
    Page("passages of a document", "", "library?id={document}", ".fn-chunk"),
    Page("document", "pages/document.py", "document?id={document}", ".stMain .stHtml p"),
    Page("places, no catalog", "pages/catalogue.py", "catalogue", ".stMain .stButton button"),
)


def browser_times(
    browser: str, data_dir: Path, ids: dict[str, str], pages: Sequence[Page], rounds: int
) -> dict[str, Opening]:
    """Opening times of each page, and of an empty one, in Chromium."""
    from playwright.sync_api import sync_playwright

    empty = data_dir / "empty.py"
    empty.write_text(EMPTY, encoding="utf-8")
    with ExitStack() as stack:
        own = stack.enter_context(served(ROOT / "app.py", data_dir))
        empty_address = stack.enter_context(served(empty, data_dir))
        chromium = stack.enter_context(sync_playwright()).chromium
        how = {"executable_path": browser, "args": ["--no-sandbox"]}
        profile = data_dir / "browser"
        browser_with_cache = stack.enter_context(
            closing(chromium.launch_persistent_context(profile, viewport=WINDOW, **how))
        )
        unknown = stack.enter_context(closing(chromium.launch(**how)))
        places = {page.name: (f"{own}/{page.address.format(**ids)}", page.ready) for page in pages}
        places[EMPTY_PAGE] = (empty_address, ".fn-empty")
        # Warms up the servers and the browser's cache of compiled code.
        for place in places.values():
            for _ in range(TIMES_UNTIL_KNOWN):
                _open(browser_with_cache, *place)
        return {
            name: Opening(
                median(_open_afresh(unknown, *place) for _ in range(rounds)),
                median(_open(browser_with_cache, *place) for _ in range(rounds)),
                _open_by_navigation(browser_with_cache, own, name, rounds),
            )
            for name, place in places.items()
        }


def _open_afresh(browser: Any, address: str, ready: str) -> float:
    with closing(browser.new_context(viewport=WINDOW)) as context:
        return _open(context, address, ready)


def _open(context: Any, address: str, ready: str) -> float:
    with closing(context.new_page()) as tab:
        started = time.time()
        tab.goto(address, wait_until="commit")
        return _opened_at(tab, ready) - started


def _opened_at(tab: Any, ready: str, path: str | None = None) -> float:
    """The `time.time` at which the page is open; with a path, after navigating to it."""
    moment: float = tab.evaluate(WHEN_OPEN, [ready, path, OPEN_S])
    return moment


def _open_by_navigation(context: Any, own: str, name: str, rounds: int) -> float | None:
    page = next((page for page in PAGES if page.name == name and page.script), None)
    if page is None or page.name in NOT_IN_NAVIGATION:
        return None
    return median(_open_from_another(context, own, page) for _ in range(rounds))


def _open_from_another(context: Any, own: str, page: Page) -> float:
    before = next(other for other in PAGES if other.script and other is not page)
    with closing(context.new_page()) as tab:
        tab.goto(f"{own}/{before.address}", wait_until="commit")
        _opened_at(tab, before.ready)
        started = time.time()
        return _opened_at(tab, page.ready, f"/{page.address}") - started


@contextmanager
def served(script: Path, data_dir: Path) -> Iterator[str]:
    """The URL of a Streamlit server that runs the script."""
    port = free_port()
    options = ["--server.port", str(port), "--server.address", "localhost"]
    options += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *options],
        cwd=ROOT,
        env=os.environ | {"FOOTNOTE_DATA_DIR": str(data_dir)},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_healthy(f"http://localhost:{port}/_stcore/health")
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def free_port() -> int:
    """A port on which no server listens; the caller's server binds it seconds later."""
    return free_ports([None])[0]


def wait_until_healthy(address: str, within_s: float = START_S) -> None:
    """Wait until the server answers its health check."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
