"""User actions on the pages, and screenshots.

FOOTNOTE_SCREENSHOTS=1 writes the pictures of docs/screenshots.
"""

import base64
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ui.text import words

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TAKE_SCREENSHOTS = bool(os.environ.get("FOOTNOTE_SCREENSHOTS"))  # tests run in a clean environment
SCREENSHOTS = Path(__file__).parents[2] / "docs" / "screenshots"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
WAIT_MS = 30_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
IDLE_POLLS = 5

_DATA_TRANSFER = """files => {
  const transfer = new DataTransfer();
  for (const [name, data] of files) {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  return transfer;
}"""


def ask(page: "Page", question: str) -> "Locator":
    """Ask, wait for the checked answer, and return its turn."""
    before = page.locator(".fn-turn").count()
    typing_box(page).fill(question)
    page.keyboard.press("Enter")
    return answered_turn(page, before + 1)


def answered_turn(page: "Page", turns: int) -> "Locator":
    """The last of `turns` turns, once it is stored and checked."""
    page.locator(".fn-turn").nth(turns - 1).wait_for()
    settle(page)
    return page.get_by_test_id("stChatMessage").last


def typing_box(page: "Page") -> "Locator":
    """The question input."""
    return page.get_by_test_id("stChatInputTextArea")


def drop_files(page: "Page", *files: Path) -> None:
    """Drop files on the chat input, as if from a file manager."""
    data = [(file.name, base64.b64encode(file.read_bytes()).decode()) for file in files]
    event = {"dataTransfer": page.evaluate_handle(_DATA_TRANSFER, data)}
    typing_box(page).dispatch_event("dragover", event)
    dropzone = page.get_by_test_id("stChatInput").locator('[role=presentation][tabindex="0"]')
    for name in ("dragenter", "dragover", "drop"):
        dropzone.dispatch_event(name, event)
    page.locator('[data-testid="stChatInputSubmitButton"]:enabled').wait_for()  # all uploaded


def drop(page: "Page", place: "Locator", *paths: Path) -> None:
    """Drop files and folders on an element with the mouse, as from a file manager."""
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})
    session.detach()


def open_share_dialog(page: "Page") -> "Locator":
    """Open the dialog that shares the conversation; returns its download button."""
    press(page, words.SHARE_CONVERSATION, exact=True)
    button = page.get_by_role("dialog").get_by_role("button", name=words.SHARE_DOWNLOAD)
    button.wait_for()
    return button


def share(page: "Page", folder: Path) -> Path:
    """Share the conversation; returns the file."""
    button = open_share_dialog(page)
    with page.expect_download() as download:
        button.click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


_ANIMATIONS_HAVE_ENDED = """() => document.getAnimations().every((one) =>
  one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)"""


def settle(page: "Page") -> None:
    """Wait until no script has run for a moment; a finishing run may start the next."""
    deadline = time.monotonic() + WAIT_MS / 1000
    idle_polls = 0
    while idle_polls < IDLE_POLLS:
        assert time.monotonic() < deadline, "The page's script never stopped."
        idle_polls = idle_polls + 1 if page.locator(IDLE).count() else 0
        page.wait_for_timeout(50)


def wait_for_animations(page: "Page") -> None:
    """Wait until all animations end: a click on an expanding element misses it.

    Does not wait for the `finished` promises: Chromium sometimes never settles the promise of an
    element's fade after it has ended, and `evaluate` waits for it without a limit.
    """
    until(page, _ANIMATIONS_HAVE_ENDED)


def press(place: "Page | Locator", label: "str | re.Pattern[str]", *, exact: bool = False) -> None:
    """Press a button once its page is idle."""
    click_when_idle(place.get_by_role("button", name=label, exact=exact))


def click_when_idle(element: "Locator") -> None:
    """Click once the element no longer moves: a click on a moving element is lost."""
    element.wait_for()
    settle(element.page)
    wait_for_animations(element.page)
    element.click()


def until(page: "Page", condition: str, arg: object = None) -> None:
    """Wait until a JavaScript expression, or a function of `arg`, is true.

    `wait_for_function` evaluates its polling code inside the page, which the content security
    policy forbids; `evaluate` runs from outside.
    """
    deadline = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(condition, arg):
        assert time.monotonic() < deadline, f"It never became true: {condition}"
        page.wait_for_timeout(50)


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def screenshot(page: "Page", name: str) -> None:
    if not TAKE_SCREENSHOTS:
        return
    page.wait_for_timeout(1000)  # for fonts and animations
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def scrolls_sideways(page: "Page") -> bool:
    content_width, window = page.evaluate(
        "[document.documentElement.scrollWidth, window.innerWidth]"
    )
    return bool(content_width > window)
