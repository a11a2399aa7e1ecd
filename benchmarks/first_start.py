"""Seconds from `cli.py serve` on an empty data folder until the chat input accepts text.

An empty Streamlit page with a chat input, started in the same way just before, is the bound.
Run: python -m benchmarks.first_start [ROUNDS]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.page_opening import ROOT, free_port, wait_until_healthy
from benchmarks.pages import BROWSERS

INPUT = '[data-testid="stChatInputTextArea"]:enabled'
EMPTY = "import streamlit as st\n\nst.chat_input('Ask')\n"
WAIT_MS = 300_000


def main(rounds: int) -> None:
    """Print the times and their ratio for each round."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                empty = _empty_page(browser, Path(folder))
                first = _footnote(browser, Path(folder) / "data")
            ratio, load = first / empty, os.getloadavg()[0]
            print(f"{first:.1f} s, empty page {empty:.1f} s, ratio {ratio:.1f}, load {load:.1f}")


def _empty_page(browser: Any, folder: Path) -> float:
    script = folder / "empty.py"
    script.write_text(EMPTY, encoding="utf-8")
    options = ("--server.headless=true", "--browser.gatherUsageStats=false")
    return _time_until_input(
        browser, ["-m", "streamlit", "run", str(script), *options, "--server.port"], {}
    )


def _footnote(browser: Any, data_dir: Path) -> float:
    environment = {"FOOTNOTE_DATA_DIR": str(data_dir)}
    return _time_until_input(browser, ["cli.py", "serve", "--port"], environment)


def _time_until_input(browser: Any, command: Sequence[str], more: Mapping[str, str]) -> float:
    port = free_port()
    started = time.monotonic()
    with running([*command, str(port)], more), closing(browser.new_context()) as context:
        wait_until_healthy(f"http://localhost:{port}/_stcore/health")
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto(f"http://localhost:{port}")
        page.locator(INPUT).wait_for()
        return time.monotonic() - started


@contextmanager
def running(command: Sequence[str], more: Mapping[str, str]) -> Iterator[None]:
    """Run Python with these arguments and additional variables until the block ends."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=os.environ | more, stdout=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 3)
