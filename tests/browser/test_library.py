"""The library in a real browser: search, read, reimport, exclude, fix failures."""

import shutil
from itertools import count
from pathlib import Path

import pytest

from domain import ImportState
from tests.browser.actions import PHONE, press, screenshot, scrolls_sideways, wait_for_animations
from tests.browser.importing import (
    RECORD_MESSAGES,
    add_folder,
    choose,
    import_folder,
    make_files,
    open_page,
    pick,
    see_message,
    see_no_import,
    see_rows,
    see_state,
    select_row,
)
from tests.browser.program import ROOT, Program
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORD_FILE = ROOT / "samples" / "documents" / "expenses.docx"
NUMBERS = count(1)
SENTENCE = "The kettle of the {name} kitchen is to be descaled each month."


@pytest.fixture
def kitchen() -> str:
    """A name that occurs only in this test's documents."""
    return f"kitchen{next(NUMBERS):02}"


@pytest.fixture
def folder(tmp_path: Path, kitchen: str) -> Path:
    """Two documents."""
    kettle = " ".join(SENTENCE.format(name=f"{kitchen} {n}th") for n in range(30))
    texts = {
        f"{kitchen}-kettle.md": f"# Kettle of {kitchen}\n\n{kettle}\n",
        f"{kitchen}-oven.md": f"# Oven of {kitchen}\n\nIt is hot.\n",
    }
    return make_files(tmp_path / kitchen, texts)


@pytest.fixture
def library(page: "sync_api.Page", program: Program, folder: Path, kitchen: str) -> "sync_api.Page":
    """The library page filtered to the test's two documents."""
    page.add_init_script(RECORD_MESSAGES)
    import_folder(page, program, folder)
    find(page, program, kitchen)
    see_rows(page, 2)
    return page


def find(page: "sync_api.Page", program: Program, text: str) -> None:
    open_page(page, program, "library")
    field = page.get_by_label(words.FIND_DOCUMENTS)
    field.fill(text)
    field.press("Enter")


def test_documents_are_searched_filtered_and_opened_at_a_passage(
    library: "sync_api.Page", kitchen: str
) -> None:
    library.get_by_text(words.LIBRARY_NARROW, exact=True).click()
    wait_for_animations(library)
    pick(library, words.BY_LANGUAGE, words.SCRIPT_NAMES["latin"])
    library.get_by_text(words.LIBRARY_NARROWED, exact=True).wait_for()
    see_rows(library, 2)
    library.keyboard.press("Escape")
    library.get_by_label(words.BY_LANGUAGE).wait_for(state="detached")
    see_rows(library, 2)
    screenshot(library, "library")
    library.get_by_label(words.FIND_DOCUMENTS).fill(f"kettle {kitchen}")
    library.keyboard.press("Enter")
    see_rows(library, 1)
    select_row(library, 0)
    press(library, words.SHOW_PASSAGES)
    passages = library.locator(".fn-chunk")
    sync_api.expect(passages.nth(1).locator("mark").first).to_be_visible()  # the overlap
    screenshot(library, "library-passages")
    passages.nth(1).get_by_role("link", name=words.READ_HERE).click()
    library.get_by_role("heading", name=f"Kettle of {kitchen}", level=1).wait_for()
    sync_api.expect(library.locator(".fn-reading .fn-focus").first).to_be_in_viewport()


def test_selected_documents_are_reimported_even_if_unchanged(
    library: "sync_api.Page", program: Program, kitchen: str
) -> None:
    library.get_by_text(words.DOCUMENTS_CHOOSE_ALL.format(n=2)).click()
    press(library, words.READ_AGAIN)
    see_message(library, words.count(words.WILL_IMPORT, 2))
    open_page(library, program, "imports")
    press(library, kitchen)
    history = library.locator(".fn-table tbody tr")
    sync_api.expect(history).to_have_count(2)
    sync_api.expect(history.first.locator("td").nth(5)).to_have_text("2")  # changed


def test_a_removed_document_stays_excluded_until_it_is_restored(
    library: "sync_api.Page", program: Program, folder: Path, kitchen: str
) -> None:
    select_row(library, 0)
    press(library, words.LIBRARY_REMOVE)
    removal = library.locator(".st-key-library-removal")
    sync_api.expect(removal).to_contain_text(words.count(words.LIBRARY_REMOVE_ASK, 1))
    screenshot(library, "library-remove")
    press(removal, words.count(words.LIBRARY_REMOVE_NOW, 1))
    see_message(library, words.count(words.WILL_REMOVE, 1))
    see_rows(library, 1)  # without a click
    see_no_import(library)
    assert len(list(folder.iterdir())) == 2
    choose(library, words.LIBRARY_VIEWS["left out"])
    press(library, words.count(words.TAKE_BACK_ALL, 1))
    see_message(library, words.count(words.WILL_TAKE_BACK, 1))
    see_no_import(library)
    find(library, program, kitchen)
    see_rows(library, 2)


def test_a_failed_file_is_retried_after_a_fix_or_dismissed(
    page: "sync_api.Page", program: Program, folder: Path, kitchen: str
) -> None:
    for name in ("one", "two"):
        (folder / f"{kitchen}-{name}.docx").write_bytes(b"not a document")
    add_folder(page, program, folder, words.ADD_AND_IMPORT)
    see_state(page, ImportState.COMPLETED_WITH_ERRORS)
    shutil.copy(WORD_FILE, folder / f"{kitchen}-one.docx")
    open_page(page, program, "library")
    choose(page, words.LIBRARY_VIEWS["failures"])
    failures = page.locator("canvas td", has_text=f"{kitchen}-")
    sync_api.expect(failures).to_have_count(2)
    screenshot(page, "library-failures")
    page.locator(".st-key-retry-failed button").click()
    sync_api.expect(failures).to_have_count(1)
    sync_api.expect(failures).to_have_text(f"{kitchen}-two.docx")
    page.locator(".st-key-dismiss-failed button").click()
    page.get_by_text(words.NO_FAILURES).wait_for()
    find(page, program, kitchen)
    see_rows(page, 3)


def test_the_charts_are_drawn(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "library")
    choose(page, words.LIBRARY_VIEWS["figures"])
    charts = page.get_by_test_id("stVegaLiteChart")
    sync_api.expect(charts).to_have_count(4)
    for n in range(4):
        sync_api.expect(charts.nth(n).locator("canvas, svg").first).to_be_visible()
    screenshot(page, "library-figures")


def test_every_library_tab_scrolls_only_vertically_on_a_phone(
    library: "sync_api.Page", program: Program, kitchen: str
) -> None:
    library.set_viewport_size(PHONE)
    find(library, program, kitchen)
    see_rows(library, 2)
    assert not scrolls_sideways(library)
    screenshot(library, "library-phone")
    select_row(library, 0)
    press(library, words.SHOW_PASSAGES)
    library.locator(".fn-chunk").first.wait_for()
    assert not scrolls_sideways(library)
    screenshot(library, "library-passages-phone")
    press(library, words.BACK_TO_LIBRARY)
    choose(library, words.LIBRARY_VIEWS["figures"])
    library.get_by_test_id("stVegaLiteChart").nth(3).wait_for()
    assert not scrolls_sideways(library)
    screenshot(library, "library-figures-phone")
