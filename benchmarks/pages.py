"""Opening time of each page over a large library, in a browser and by its script alone.

The server is warm. Each page is opened in a new browser, in a new tab of a browser with a filled
cache, and from the navigation of another page. An empty Streamlit page is the bound.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Cell, Report
from benchmarks.page_library import fill
from benchmarks.page_opening import EMPTY_PAGE, OPEN_S, PAGES, ROOT, Opening, Page, browser_times

SMALL = {"documents": 60, "conversations": 10, "rounds": 1, "browse": False}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S = 1.0


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
        ["", "its script alone", "in a fresh browser", "opened again", "by navigation"],
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
    """Seconds that each page's script takes in a new session, without the first of the process."""
    from unittest.mock import patch

    import streamlit as st
    from streamlit.testing.v1 import AppTest

    st.cache_resource.clear()  # services over another folder
    os.environ["FOOTNOTE_DATA_DIR"] = str(data_dir)
    times = {}
    with patch.object(st, "page_link"):  # it requires app.py
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
