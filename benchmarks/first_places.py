"""Seconds from the first question on the places page to its checked answer.

`cli.py serve` has just started over the sample catalog, and the question is sent as soon as its
field accepts text, while models and indexes are still loading. The second question is the bound.
Run: python -m benchmarks.first_places [ROUNDS]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.first_start import running
from benchmarks.page_opening import ROOT, WINDOW, free_port, wait_until_healthy
from benchmarks.pages import BROWSERS

LIMIT_S = 3.0
WAIT_MS = 120_000
QUESTIONS = ("a quiet Italian place in Brooklyn", "cheap ramen in Queens")
FIELD = ".st-key-places-question input"
WHEN_ANSWERED = """
() => new Promise((answered) => {
  const from = performance.now();
  const look = () => {
    const verdict = document.querySelector(".fn-verdict");
    if (verdict && verdict !== window.footnoteVerdict) {
      window.footnoteVerdict = verdict;
      answered((performance.now() - from) / 1000);
    } else setTimeout(look, 10);
  };
  look();
})
"""


def main(rounds: int) -> None:
    """Print the times of each round and the median of the first answers."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        environment = {"FOOTNOTE_DATA_DIR": str(Path(folder) / "data")}
        command = [sys.executable, "cli.py", "catalog", "sample"]
        subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        firsts = []
        for _ in range(rounds):
            first, second = _answer_times(browser, environment)
            firsts.append(first)
            print(f"{first:.2f} s, second question {second:.2f} s, load {os.getloadavg()[0]:.1f}")
        print(f"median {median(firsts):.2f} s, limit {LIMIT_S:.0f} s")


def _answer_times(browser: Any, environment: dict[str, str]) -> list[float]:
    port = free_port()
    with (
        running(["cli.py", "serve", "--port", str(port)], environment),
        closing(browser.new_context(viewport=WINDOW)) as context,
    ):
        wait_until_healthy(f"http://localhost:{port}/_stcore/health")
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto(f"http://localhost:{port}/catalogue")
        return [_answer_time(page, question) for question in QUESTIONS]


def _answer_time(page: Any, question: str) -> float:
    field = page.locator(FIELD)
    field.fill(question)
    field.press("Enter")
    seconds: float = page.evaluate(WHEN_ANSWERED)
    return seconds


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5)
