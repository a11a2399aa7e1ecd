"""What a person does on the pages, and the pictures taken of it.

FOOTNOTE_SCREENSHOTS=1 writes the pictures of docs/screenshots.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TAKE_SCREENSHOTS = bool(os.environ.get("FOOTNOTE_SCREENSHOTS"))  # tests see a clean environment
SCREENSHOTS = Path(__file__).parents[2] / "docs" / "screenshots"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
WAIT_MS = 30_000


def ask(page: "Page", question: str) -> "Locator":
    """Ask, wait for the checked answer, and give back its turn."""
    before = page.locator(".fn-verdict").count()
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.keyboard.press("Enter")
    page.locator(".fn-verdict").nth(before).wait_for()
    settle(page)
    return page.get_by_test_id("stChatMessage").last


def settle(page: "Page") -> None:
    """Wait until no script runs."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def screenshot(page: "Page", name: str) -> None:
    if not TAKE_SCREENSHOTS:
        return
    page.wait_for_timeout(1000)  # fonts, and the end of scrolling to the answer
    if page.locator(".fn-question").count() < 2:
        page.mouse.move(350, 300)  # within the page at either width
        page.mouse.wheel(0, -10_000)
        page.wait_for_timeout(500)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def scrolls_sideways(page: "Page") -> bool:
    shown, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return bool(shown > window)
