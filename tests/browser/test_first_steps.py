"""The first hour in a real browser: add documents, ask about them, remove the samples."""

import zipfile
from pathlib import Path

import pytest

from domain import ImportState
from tests.browser.actions import (
    DESKTOP,
    PHONE,
    ask,
    drop,
    press,
    scrolls_sideways,
    settle,
)
from tests.browser.importing import (
    choose,
    make_files,
    open_form,
    see_document_count,
    see_state,
)
from tests.browser.program import Program
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

RULES = "# Canteen rules\n\n## Breakfast\n\nThe canteen serves breakfast from 7 to 9 o'clock.\n"
TRAVEL = (
    "# Travel rules\n\n## Trains\n\nThe office pays for trains, and the traveler for the rest.\n"
)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_documents_can_be_added_beside_the_example_questions(
    page: "sync_api.Page", address: str, size: dict[str, int]
) -> None:
    page.set_viewport_size(size)
    page.goto(address)
    main = page.get_by_test_id("stMainBlockContainer")  # the sidebar may list the same question
    example = main.get_by_role("button", name=words.SAMPLE_QUESTIONS[0])
    example.wait_for()
    assert not scrolls_sideways(page)
    page.get_by_role("link", name=words.ADD_DOCUMENTS).click()
    page.get_by_role("heading", name=words.IMPORT_TITLE, level=1).wait_for()


@pytest.mark.slow
def test_an_uploaded_archive_leads_to_a_question_about_it(
    page: "sync_api.Page", program: Program, tmp_path: Path
) -> None:
    archive = tmp_path / "canteen.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("rules/breakfast.md", RULES)
        written.writestr("규정/출장.md", TRAVEL)
    open_form(page, program)
    choose(page, words.SOURCE_KINDS["upload"])
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(archive)
    page.get_by_label(words.SOURCE_FIELDS["box"], exact=True).fill("Canteen")
    press(page, words.UPLOAD_AND_IMPORT)
    page.get_by_role("heading", name="Canteen").wait_for()
    see_state(page, ImportState.COMPLETED)
    see_document_count(page, 2)
    press(page, words.ASK_ABOUT_SOURCE)
    page.get_by_role("button", name=words.SCOPE_LABEL.format(what="Canteen")).wait_for()
    turn = ask(page, "When does the canteen serve breakfast?")
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text("breakfast from 7 to 9")


def test_a_folder_is_uploaded_with_its_subfolders(
    page: "sync_api.Page", program: Program, tmp_path: Path
) -> None:
    folder = make_files(tmp_path / "office", {"canteen.md": RULES})
    make_files(folder / "travel", {"trains.md": TRAVEL})
    open_form(page, program)
    choose(page, words.SOURCE_KINDS["upload"])
    page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(folder)
    page.get_by_label(words.SOURCE_FIELDS["box"], exact=True).fill("Office")
    press(page, words.UPLOAD_AND_IMPORT)
    page.get_by_role("heading", name="Office").wait_for()
    see_document_count(page, 2)
    choose_report(page)
    sync_api.expect(page.locator(".fn-table").last).to_contain_text("office/travel/trains.md")


@pytest.mark.slow
@pytest.mark.parametrize("box", [0, 1], ids=["files", "folder"])
def test_a_folder_and_an_archive_are_dropped_with_their_subfolders(
    page: "sync_api.Page", program: Program, tmp_path: Path, box: int
) -> None:
    folder = make_files(tmp_path / "office", {"rules.md": RULES})
    make_files(folder / "travel", {"rules.md": TRAVEL})
    archive = tmp_path / "pets.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("dogs/rules.md", "# Dogs\n\nDogs may come on Fridays.\n")
    open_form(page, program)
    choose(page, words.SOURCE_KINDS["upload"])
    drop(page, page.get_by_test_id("stFileUploaderDropzone").nth(box), folder, archive)
    page.get_by_label(words.SOURCE_FIELDS["box"], exact=True).fill(f"Dropped on {box}")
    press(page, words.UPLOAD_AND_IMPORT)
    page.get_by_role("heading", name=f"Dropped on {box}").wait_for()
    see_document_count(page, 3)
    choose_report(page)
    for name in ("office/rules.md", "office/travel/rules.md", "pets/dogs/rules.md"):
        sync_api.expect(page.locator(".fn-table").last).to_contain_text(name)


def choose_report(page: "sync_api.Page") -> None:
    """Open the report of the only import."""
    see_state(page, ImportState.COMPLETED)
    settle(page)
    page.get_by_label(words.HISTORY_CHOOSE).click()
    page.get_by_role("option").first.click()


@pytest.mark.slow
def test_the_samples_are_removed_with_one_button(page: "sync_api.Page", program: Program) -> None:
    page.goto(f"{program.address}/imports")
    press(page, words.SAMPLES_REMOVE)
    page.get_by_text(words.SAMPLES_REMOVE_EFFECT).wait_for()
    press(page, words.SAMPLES_REMOVE_NOW)
    page.get_by_role("button", name=words.EMPTY_SAMPLES).wait_for()
    press(page, words.EMPTY_SAMPLES)
    page.get_by_role("button", name=words.SAMPLES_REMOVE).wait_for()
