"""What a person does on the import and the library page."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from domain import ImportState
from tests.browser.actions import settle, still, until
from tests.browser.program import Program
from ui import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


KEEPS_WHAT_IS_TOLD = """
window.told = [];
new MutationObserver(() => {
  for (const one of document.querySelectorAll(".fn-told")) window.told.push(one.innerText);
}).observe(document, {childList: true, subtree: true, characterData: true});
"""
"""A script for the page: what it tells goes away once it is done, which may be at once."""


def make_files(folder: Path, texts: Mapping[str, str]) -> Path:
    """The folder, with these files in it."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def open_page(page: "Page", program: Program, name: str) -> None:
    page.goto(f"{program.address}/{name}")
    page.get_by_role("heading", level=1).wait_for()
    settle(page)


def open_form(page: "Page", program: Program) -> None:
    """The import page with the form for another source unfolded."""
    open_page(page, program, "imports")
    page.get_by_text(words.ADD_SOURCE, exact=True).click()
    page.get_by_label(words.SOURCE_FIELDS["path"]).wait_for()
    settle(page)
    still(page)


def press(place: "Page | Locator", label: str) -> None:
    place.get_by_role("button", name=label).click()


def agree(page: "Page", place: "Locator", label: str) -> None:
    """Press it once the page has come to rest: a click on what is being scrolled to gets lost."""
    settle(page)
    still(page)
    press(place, label)


def add_folder(page: "Page", program: Program, folder: Path, button: str) -> None:
    open_form(page, program)
    page.get_by_label(words.SOURCE_FIELDS["path"]).fill(str(folder))
    press(page, button)
    sync_api.expect(page.get_by_role("heading", name=folder.name)).to_be_visible()


def import_folder(page: "Page", program: Program, folder: Path) -> None:
    """Add the folder and wait for the end of its import."""
    add_folder(page, program, folder, words.ADD_AND_IMPORT)
    see_state(page, ImportState.COMPLETED)


def see_state(page: "Page", state: ImportState) -> None:
    """Wait until the chosen source stands so."""
    shown = page.locator(".fn-source-head .fn-state").first
    sync_api.expect(shown).to_have_text(words.IMPORT_STATES[state])


def see_held(page: "Page", documents: int) -> None:
    """Wait until the chosen source holds so many documents."""
    told = f"{words.count(words.DOCUMENTS, documents)}, "
    sync_api.expect(
        page.locator(".st-key-chosen-source .fn-source-row", has_text=told)
    ).to_be_visible()


def see_counts(place: "Page | Locator", **counts: int) -> None:
    """Wait until so many documents had these outcomes, and no others."""
    told = [f"{words.OUTCOMES[outcome]}{n}" for outcome, n in counts.items()]
    shown = place.locator(".fn-counts").last.locator("div")
    sync_api.expect(shown).to_have_text(told, use_inner_text=False)


def choose(place: "Page | Locator", label: str) -> None:
    """Choose one of the segments or pills of that name."""
    place.get_by_test_id("stButtonGroup").get_by_role("radio", name=label).click()


def pick(page: "Page", label: str, option: str) -> None:
    """Pick an option of a box; once more where a run of the page has closed its list meanwhile."""
    found = page.get_by_role("option", name=option).first
    for _ in range(5):
        settle(page)
        page.get_by_label(label).click()
        try:
            found.click(timeout=5_000)
        except sync_api.TimeoutError:
            page.keyboard.press("Escape")
        else:
            return
    found.click()


def see_rows(page: "Page", rows: int) -> None:
    """Wait until the library's table has so many rows."""
    last = words.SHOWN_OF.format(first=1, last=rows, total=rows)
    sync_api.expect(page.get_by_text(last, exact=True)).to_be_visible()


def mark(page: "Page", row: int) -> None:
    """Mark a row of the table, which is drawn: there is nothing to click on but a place."""
    settle(page)
    page.get_by_test_id("stDataFrame").click(position={"x": 18, "y": 18 + 35 * (row + 1)})


def see_quiet(page: "Page") -> None:
    """Wait until the library page, which looks by itself, knows of no import at work any more."""
    sync_api.expect(page.locator(".fn-under-way")).to_be_hidden()
    settle(page)


def see_told(page: "Page", text: str) -> None:
    """Wait until the page, with the script above, has told this, be it gone again by now."""
    until(page, "text => window.told.some((one) => one.includes(text))", text)
