"""User actions on the import and library pages."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from domain import ImportState
from tests.browser.actions import press, settle, until, wait_for_animations
from tests.browser.program import Program
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


RECORD_MESSAGES = """
window.messages = [];
new MutationObserver(() => {
  for (const one of document.querySelectorAll(".fn-status")) window.messages.push(one.innerText);
}).observe(document, {childList: true, subtree: true, characterData: true});
"""
"""A script for the page: its messages disappear when the action ends, possibly at once."""


def make_files(folder: Path, texts: Mapping[str, str]) -> Path:
    """Create the folder with these files."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def open_page(page: "Page", program: Program, name: str) -> None:
    page.goto(f"{program.address}/{name}")
    page.get_by_role("heading", level=1).wait_for()
    settle(page)


def open_form(page: "Page", program: Program) -> None:
    """The import page with the form for a new source expanded."""
    open_page(page, program, "imports")
    page.get_by_text(words.ADD_SOURCE, exact=True).click()
    page.get_by_label(words.SOURCE_FIELDS["path"]).wait_for()
    settle(page)
    wait_for_animations(page)


def add_folder(page: "Page", program: Program, folder: Path, button: str) -> None:
    open_form(page, program)
    page.get_by_label(words.SOURCE_FIELDS["path"]).fill(str(folder))
    press(page, button)
    sync_api.expect(page.get_by_role("heading", name=folder.name)).to_be_visible()


def import_folder(page: "Page", program: Program, folder: Path) -> None:
    """Add the folder and wait for its import to end."""
    add_folder(page, program, folder, words.ADD_AND_IMPORT)
    see_state(page, ImportState.COMPLETED)


def see_state(page: "Page", state: ImportState) -> None:
    """Wait until the selected source has this state."""
    badge = page.locator(".fn-source-head .fn-state").first
    sync_api.expect(badge).to_have_text(words.IMPORT_STATES[state])


def see_document_count(page: "Page", documents: int) -> None:
    """Wait until the selected source has this number of documents."""
    counts_text = f"{words.count(words.DOCUMENTS, documents)}, "
    rows = page.locator(".st-key-chosen-source .fn-source-row", has_text=counts_text)
    sync_api.expect(rows.first).to_be_visible()  # at its end, an import may still have a row, too


def see_counts(place: "Page | Locator", **counts: int) -> None:
    """Wait until the import report shows exactly these outcomes."""
    counts_text = [f"{words.OUTCOMES[outcome]}{n}" for outcome, n in counts.items()]
    counters = place.locator(".fn-counts").last.locator("div")
    sync_api.expect(counters).to_have_text(counts_text, use_inner_text=False)


def choose(place: "Page | Locator", label: str) -> None:
    """Choose a segment or pill by name."""
    place.get_by_test_id("stButtonGroup").get_by_role("radio", name=label).click()


def pick(page: "Page", label: str, option: str) -> None:
    """Pick an option of a select box; retries if a page run closed the list."""
    entry = page.get_by_role("option", name=option).first
    for _ in range(5):
        settle(page)
        page.get_by_label(label).click()
        try:
            entry.click(timeout=5_000)
        except sync_api.TimeoutError:
            page.keyboard.press("Escape")
        else:
            return
    entry.click()


def see_rows(page: "Page", rows: int) -> None:
    """Wait until the library table has this number of rows."""
    last = words.SHOWN_OF.format(first=1, last=rows, total=rows)
    sync_api.expect(page.get_by_text(last, exact=True)).to_be_visible()


def select_row(page: "Page", row: int) -> None:
    """Select a row by coordinates: the table is a canvas without elements to click."""
    settle(page)
    page.get_by_test_id("stDataFrame").click(position={"x": 18, "y": 18 + 35 * (row + 1)})


def see_no_import(page: "Page") -> None:
    """Wait until the library page, which refreshes itself, shows no running import."""
    sync_api.expect(page.locator(".fn-under-way")).to_be_hidden()
    settle(page)


def see_message(page: "Page", text: str) -> None:
    """Wait until the script above has recorded this text, even if it has disappeared since."""
    until(page, "text => window.messages.some((one) => one.includes(text))", text)
