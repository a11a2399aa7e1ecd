"""How long each page takes to open over a big library, in a browser and by its script alone.

The server is warm. Each opening is a new session, timed from the request until the page's own
part can be seen and its script has ended; once in a browser that knows nothing yet, and once in
a new tab of one that is used every day, its cache filled. Beside them stands an empty Streamlit
page: what it takes no page of ours can be quicker than.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.measure import Cell, Report
from benchmarks.page_library import fill

ROOT = Path(__file__).parent.parent
SMALL = {"documents": 60, "conversations": 10, "rounds": 1, "browse": False}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S, START_S, OPEN_S = 1.0, 90, 60
WINDOW = {"width": 1280, "height": 900}
TIMES_UNTIL_KNOWN = 3
"""Chromium keeps a script compiled from about its third use on (v8.dev/blog/code-caching)."""
NOT_IN_NAVIGATION = {"document"}
WHEN_OPEN = """
const look = () => {
  const ended = document.querySelector('.stApp[data-test-script-state="notRunning"]');
  if (ended && document.querySelector(%s)?.getClientRects().length) {
    window.openedAt = performance.timeOrigin + performance.now();
  } else setTimeout(look, 10);
};
look();
"""
"""Notes the moment itself: Playwright's own waiting looks only every half second after a while."""
GO_TO = """
([path, ready]) => new Promise((opened) => {
  const links = [...document.querySelectorAll('[data-testid="stTopNavLink"]')];
  const started = performance.now();
  const look = () => {
    const ended = document.querySelector('.stApp[data-test-script-state="notRunning"]');
    if (ended && document.querySelector(ready)?.getClientRects().length) {
      opened((performance.now() - started) / 1000);
    } else setTimeout(look, 10);
  };
  links.find((link) => link.pathname === path).click();
  look();
})
"""
EMPTY_PAGE = "an empty Streamlit page"
EMPTY = "import streamlit as st\n\nst.html(\"<p class='fn-empty'>Empty</p>\")\n"


class Page(NamedTuple):
    """A page: its script, its address, and what is there once it can be used."""

    name: str
    script: str
    address: str
    ready: str


class Opening(NamedTuple):
    """Seconds until a page is open in a fresh browser, and opened again in one that knows it.

    `gone_to` is from a click in the navigation of another page; None where it has no link there.
    """

    fresh: float
    again: float
    gone_to: float | None


PAGES = (
    Page("chat", "pages/chat.py", "", "[data-testid=stChatInputTextArea]"),
    Page("conversation", "", "?conversation={conversation}", ".fn-answer"),
    Page("retrieval lab", "pages/retrieval_lab.py", "retrieval_lab", ".stForm button"),
    Page("imports", "pages/imports.py", "imports", ".stMain .fn-source-row"),
    Page("library", "pages/library.py", "library", "[data-testid=stDataFrame] canvas"),
    Page("passages of a document", "", "library?id={document}", ".fn-chunk"),
    Page("document", "pages/document.py", "document?id={document}", ".stMain .stHtml p"),
)


def measure(
    *,
    cache: str,
    documents: int = 20_000,
    conversations: int = 1_000,
    rounds: int = 5,
    browse: bool = True,
) -> Report:
    report = Report(
        "Opening a page",
        f"{documents:,} documents, {conversations:,} conversations; median of {rounds}",
    )
    pages = [page for page in PAGES if not page.script or (ROOT / page.script).exists()]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None) if browse else None
    if browser is None or find_spec("playwright") is None:
        report.note(["not opened in a browser: it needs Chromium and the package playwright"])
        browser = None
    with tempfile.TemporaryDirectory() as place:
        data_dir = Path(place) / "data"
        shutil.copytree(cache, data_dir / "cache")
        ids = fill(str(data_dir), documents, conversations)
        scripts = script_times(data_dir, pages, rounds)
        opened = browser_times(browser, data_dir, ids, pages, rounds) if browser else {}
    _tell(report, pages, scripts, opened)
    return report


def _tell(
    report: Report, pages: Sequence[Page], scripts: dict[str, float], opened: dict[str, Opening]
) -> None:
    names = [*(page.name for page in pages), EMPTY_PAGE]
    rows: list[list[Cell]] = [
        [name, scripts.get(name), *opened.get(name, (None, None, None))] for name in names
    ]
    report.table(
        "Seconds to open a page",
        ["", "its script alone", "in a fresh browser", "opened again", "gone to"],
        rows,
    )
    empty = opened.get(EMPTY_PAGE)
    for name, times in opened.items():
        if empty and name != EMPTY_PAGE:
            report.ratio(f"{name} / empty page", times.fresh / empty.fresh)
            report.ratio(f"{name} / empty page, opened again", times.again / empty.again)
        over = [how for how, seconds in times._asdict().items() if (seconds or 0) > LIMIT_S]
        if over:
            report.note([f"{name}: takes more than {LIMIT_S:.0f} s ({', '.join(over)})"])


def script_times(data_dir: Path, pages: Sequence[Page], rounds: int) -> dict[str, float]:
    """Seconds that each page's script takes in a new session, the process's first left out."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    st.cache_resource.clear()  # services over another folder
    os.environ["FOOTNOTE_DATA_DIR"] = str(data_dir)
    times = {}
    for page in pages:
        if page.script:
            _, *taken = [_script_time(AppTest, page.script) for _ in range(rounds + 1)]
            times[page.name] = median(taken)
    st.cache_resource.clear()
    return times


def _script_time(app_test: Any, script: str) -> float:
    opened = app_test.from_file(str(ROOT / script), default_timeout=OPEN_S)
    opened.session_state["framed"] = True
    started = time.perf_counter()
    opened.run()
    taken = time.perf_counter() - started
    if opened.exception:
        raise SystemExit(f"{script} failed: {opened.exception[0].message}")
    return taken


def browser_times(
    browser: str, data_dir: Path, ids: dict[str, str], pages: Sequence[Page], rounds: int
) -> dict[str, Opening]:
    """How long each page takes to open in Chromium, and an empty one."""
    from playwright.sync_api import sync_playwright

    empty = data_dir / "empty.py"
    empty.write_text(EMPTY, encoding="utf-8")
    with ExitStack() as stack:
        ours = stack.enter_context(served(ROOT / "app.py", data_dir))
        theirs = stack.enter_context(served(empty, data_dir))
        chromium = stack.enter_context(sync_playwright()).chromium
        how = {"executable_path": browser, "args": ["--no-sandbox"]}
        profile = data_dir / "browser"
        known = stack.enter_context(
            closing(chromium.launch_persistent_context(profile, viewport=WINDOW, **how))
        )
        unknown = stack.enter_context(closing(chromium.launch(**how)))
        places = {page.name: (f"{ours}/{page.address.format(**ids)}", page.ready) for page in pages}
        places[EMPTY_PAGE] = (theirs, ".fn-empty")
        for place in places.values():  # warms the servers and the browser's cache of compiled code
            for _ in range(TIMES_UNTIL_KNOWN):
                _open(known, *place)
        return {
            name: Opening(
                median(_open_afresh(unknown, *place) for _ in range(rounds)),
                median(_open(known, *place) for _ in range(rounds)),
                _gone_to(known, ours, name, rounds),
            )
            for name, place in places.items()
        }


def _open_afresh(browser: Any, address: str, ready: str) -> float:
    with closing(browser.new_context(viewport=WINDOW)) as context:
        return _open(context, address, ready)


def _open(context: Any, address: str, ready: str) -> float:
    tab = context.new_page()
    tab.set_default_timeout(OPEN_S * 1000)
    tab.add_init_script(WHEN_OPEN % json.dumps(ready))
    started = time.time()
    tab.goto(address, wait_until="commit")
    tab.wait_for_function("window.openedAt", polling=100)
    opened_at: float = tab.evaluate("window.openedAt")
    tab.close()
    return opened_at / 1000 - started


def _gone_to(context: Any, ours: str, name: str, rounds: int) -> float | None:
    page = next((page for page in PAGES if page.name == name and page.script), None)
    if page is None or page.name in NOT_IN_NAVIGATION:
        return None
    return median(_go_to(context, ours, page) for _ in range(rounds))


def _go_to(context: Any, ours: str, page: Page) -> float:
    before = next(other for other in PAGES if other.script and other is not page)
    tab = context.new_page()
    tab.set_default_timeout(OPEN_S * 1000)
    tab.goto(f"{ours}/{before.address}")
    tab.locator(before.ready).first.wait_for()
    tab.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
    taken: float = tab.evaluate(GO_TO, [f"/{page.address}", page.ready])
    tab.close()
    return taken


@contextmanager
def served(script: Path, data_dir: Path) -> Iterator[str]:
    """The address of a Streamlit server of that script."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.port", str(port), "--server.address", "localhost"]
    options += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *options],
        cwd=ROOT,
        env=os.environ | {"FOOTNOTE_DATA_DIR": str(data_dir)},
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_until_healthy(f"http://localhost:{port}/_stcore/health")
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_until_healthy(address: str) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
