"""How long each page takes to open over a big library, in a browser and by its script alone.

The server is warm and so is the browser's cache. Each opening is a new tab with a new session,
timed from the request until the page's own part is there and its script has ended. Beside them
stands an empty Streamlit page: what it takes no page of ours can be quicker than.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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
EMPTY = "import streamlit as st\n\nst.html(\"<p class='fn-empty'>Empty</p>\")\n"


class Page(NamedTuple):
    """A page: its script, its address, and what is there once it can be used."""

    name: str
    script: str
    address: str
    ready: str


PAGES = (
    Page("chat", "pages/chat.py", "", "[data-testid=stChatInputTextArea]"),
    Page("conversation", "", "?conversation={conversation}", ".fn-answer"),
    Page("retrieval lab", "pages/retrieval_lab.py", "retrieval_lab", ".stForm button"),
    Page("imports", "pages/imports.py", "imports", ".stMain .stButton"),
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
    report: Report, pages: Sequence[Page], scripts: dict[str, float], opened: dict[str, float]
) -> None:
    empty = opened.get("empty")
    rows: list[list[Cell]] = [
        [page.name, scripts.get(page.name), opened.get(page.name)] for page in pages
    ]
    report.table(
        "Seconds to open a page",
        ["", "its script alone", "in the browser"],
        [*rows, ["an empty Streamlit page", None, empty]],
    )
    for name, seconds in opened.items():
        if name != "empty" and empty:
            report.ratio(f"{name} / empty page", seconds / empty)
    slow = [name for name, seconds in opened.items() if seconds > LIMIT_S]
    report.note(f"{name}: takes more than {LIMIT_S:.0f} s" for name in slow)


def script_times(data_dir: Path, pages: Sequence[Page], rounds: int) -> dict[str, float]:
    """Seconds that each page's script takes, its first run left out."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    st.cache_resource.clear()  # services over another folder
    os.environ["FOOTNOTE_DATA_DIR"] = str(data_dir)
    times = {}
    for page in pages:
        if page.script:
            opened = AppTest.from_file(str(ROOT / page.script), default_timeout=OPEN_S)
            opened.session_state["framed"] = True
            opened.run()
            if opened.exception:
                raise SystemExit(f"{page.script} failed: {opened.exception[0].message}")
            times[page.name] = median(_seconds(opened.run) for _ in range(rounds))
    st.cache_resource.clear()
    return times


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def browser_times(
    browser: str, data_dir: Path, ids: dict[str, str], pages: Sequence[Page], rounds: int
) -> dict[str, float]:
    """Seconds until each page is there in Chromium, and an empty one."""
    from playwright.sync_api import sync_playwright

    empty = data_dir / "empty.py"
    empty.write_text(EMPTY, encoding="utf-8")
    with ExitStack() as stack:
        ours = stack.enter_context(served(ROOT / "app.py", data_dir))
        theirs = stack.enter_context(served(empty, data_dir))
        chromium = stack.enter_context(sync_playwright()).chromium
        opened = chromium.launch(executable_path=browser, args=["--no-sandbox"])
        context = opened.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(OPEN_S * 1000)
        found = {"empty": _median_of(context, theirs, ".fn-empty", rounds)}
        for page in pages:
            address = f"{ours}/{page.address.format(**ids)}"
            found[page.name] = _median_of(context, address, page.ready, rounds)
        opened.close()
    return found


def _median_of(context: Any, address: str, ready: str, rounds: int) -> float:
    _open(context, address, ready)  # fills the caches
    return median(_open(context, address, ready) for _ in range(rounds))


def _open(context: Any, address: str, ready: str) -> float:
    tab = context.new_page()
    started = time.perf_counter()
    tab.goto(address, wait_until="commit")
    tab.locator(ready).first.wait_for()
    tab.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
    taken = time.perf_counter() - started
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
