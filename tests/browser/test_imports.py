"""Sources on the import page in a real browser: test, dry run, import, edit, delete."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from domain import ImportState
from tests.browser.actions import (
    PHONE,
    WAIT_MS,
    press,
    screenshot,
    scrolls_sideways,
    settle,
)
from tests.browser.importing import (
    add_folder,
    choose,
    import_folder,
    make_files,
    open_form,
    open_page,
    pick,
    see_counts,
    see_document_count,
    see_state,
)
from tests.browser.program import Program
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NUMBERS = count(1)
TEXTS = {
    "leave.md": "# Leave policy\n\nNew employees get 25 days of annual leave a year.\n",
    "vpn.md": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.\n",
    "休暇.md": "# 休暇規程\n\n新入社員には年次有給休暇が12日付与されます。\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents in a folder with a unique name."""
    return make_files(tmp_path / f"handbook{next(NUMBERS):02}", TEXTS)


def test_testing_a_connection_saves_nothing(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    open_form(page, program)
    path = page.get_by_label(words.SOURCE_FIELDS["path"])
    path.fill(f"{folder}-elsewhere")
    press(page, words.TEST_SOURCE)
    sync_api.expect(page.locator(".fn-notice.fn-error")).to_contain_text(f"{folder}-elsewhere")
    path.fill(str(folder))
    press(page, words.TEST_SOURCE)
    page.get_by_text(words.count(words.TEST_PASSED, 3)).wait_for()
    sync_api.expect(page.locator(".fn-seen")).to_contain_text("leave.md")
    screenshot(page, "import-test")
    page.reload()
    settle(page)
    page.get_by_role("button", name="documents").first.wait_for()
    sync_api.expect(page.get_by_role("button", name=folder.name)).to_have_count(0)


def test_an_import_makes_the_changes_that_the_dry_run_counted(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 is not all there")
    add_folder(page, program, folder, words.ADD_AND_DRY_RUN)
    dry_run = page.locator(".st-key-dry-run")
    see_counts(dry_run, new=3, failed=1)
    see_document_count(page, 0)
    screenshot(page, "import-dry-run")
    press(dry_run, words.count(words.IMPORT_CHANGES, 3))
    see_state(page, ImportState.COMPLETED_WITH_ERRORS)
    see_document_count(page, 3)
    pick(page, words.HISTORY_CHOOSE, words.RUN_KINDS["import"])
    see_counts(page, new=3, failed=1)
    reason = page.locator(".fn-table tr", has_text="broken.pdf")
    sync_api.expect(reason).to_contain_text(words.OUTCOMES["failed"])
    assert reason.locator("td").last.inner_text()
    screenshot(page, "import-report")


def test_mostly_deleted_sources_remove_nothing_without_confirmation(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    make_files(folder, {f"note-{n}.md": f"# Note {n}\n\nIt says {n}.\n" for n in range(9)})
    import_folder(page, program, folder)
    for file in folder.glob("note-*.md"):
        file.unlink()
    press(page, words.REFRESH_NOW)
    see_state(page, ImportState.NEEDS_CONFIRMATION)
    sync_api.expect(page.locator(".fn-notice")).to_contain_text(
        words.count(words.REMOVALS_WITHHELD, 9)
    )
    see_document_count(page, 12)
    screenshot(page, "import-held-back")
    press(page, words.count(words.CONFIRM_REMOVALS, 9))
    see_state(page, ImportState.COMPLETED)
    see_document_count(page, 3)
    history = page.locator(".fn-table tbody tr")
    sync_api.expect(history).to_have_count(3)
    sync_api.expect(history.nth(0)).to_contain_text(words.IMPORT_STATES["completed"])
    sync_api.expect(history.nth(1)).to_contain_text(words.IMPORT_STATES["needs confirmation"])


def test_files_can_be_added_to_an_upload_source(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    open_form(page, program)
    choose(page, words.SOURCE_KINDS["upload"])
    files = page.get_by_test_id("stFileUploaderDropzoneInput").first
    files.set_input_files([folder / "leave.md", folder / "vpn.md"])
    page.get_by_label(words.SOURCE_FIELDS["box"], exact=True).fill(folder.name)
    press(page, words.UPLOAD_AND_IMPORT)
    page.get_by_role("heading", name=folder.name).wait_for()
    see_state(page, ImportState.COMPLETED)
    see_document_count(page, 2)
    choose(page, words.EDIT_SOURCE)
    files.set_input_files(folder / "休暇.md")
    press(page, words.EDIT_SAVE)
    see_document_count(page, 3)
    screenshot(page, "import-upload")


def test_a_source_is_renamed_scheduled_and_paused(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    import_folder(page, program, folder)
    choose(page, words.EDIT_SOURCE)
    page.get_by_label(words.SOURCE_NAME, exact=True).fill("복지 안내")
    pick(page, words.SOURCE_SCHEDULE, words.SCHEDULES["daily"])
    screenshot(page, "import-edit")
    press(page, words.EDIT_SAVE)
    page.get_by_text(words.EDIT_SAVED).first.wait_for()
    page.reload()
    page.get_by_role("heading", name="복지 안내").wait_for()
    soon = words.SOURCE_NEXT.format(ago="")
    sync_api.expect(page.locator(".st-key-chosen-source")).to_contain_text(soon)
    press(page, words.PAUSE_SOURCE)
    badges = page.locator(".fn-source-head .fn-state")
    sync_api.expect(badges.last).to_have_text(words.IMPORT_STATES["paused"])
    press(page, words.ALL_SOURCES)
    press(page, "복지 안내")
    press(page, words.RESUME_SOURCE)
    see_state(page, ImportState.COMPLETED)
    sync_api.expect(badges).to_have_count(1)


def test_deleting_a_source_removes_its_passages_but_no_files(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    import_folder(page, program, folder)
    choose(page, words.DELETE_SOURCE)
    notice = page.locator(".fn-notice.fn-warning")
    sync_api.expect(notice).to_contain_text(words.count(words.DOCUMENTS, 3))
    sync_api.expect(notice).to_contain_text(words.DELETE_KEEPS_FILES)
    screenshot(page, "import-delete")
    press(page, words.DELETE_NOW)
    page.get_by_role("button", name="documents").first.wait_for()
    sync_api.expect(page.get_by_role("button", name=folder.name)).to_have_count(0)
    assert sorted(one.name for one in folder.iterdir()) == sorted(TEXTS)


def test_a_source_is_added_on_a_phone_without_sideways_scrolling(
    page: "sync_api.Page", program: Program, folder: Path
) -> None:
    page.set_viewport_size(PHONE)
    open_page(page, program, "imports")
    assert not scrolls_sideways(page)
    screenshot(page, "imports-phone")
    open_form(page, program)
    assert not scrolls_sideways(page)
    screenshot(page, "import-form-phone")
    import_folder(page, program, folder)
    for view in (words.HISTORY, words.EDIT_SOURCE, words.DELETE_SOURCE):
        choose(page, view)
        settle(page)
        assert not scrolls_sideways(page)
        screenshot(page, f"import-source-{view.split()[0].lower()}-phone")


@pytest.fixture
def japanese(
    browser: "sync_api.Browser", monkeypatch: pytest.MonkeyPatch
) -> Iterator["sync_api.Page"]:
    """A page of a browser set to Japanese; the test expects Japanese texts."""
    monkeypatch.setattr(words, "language", lambda: "ja")
    context = browser.new_context(viewport=PHONE, locale="ja-JP")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    yield page
    context.close()


def test_a_folder_is_imported_in_japanese(
    japanese: "sync_api.Page", program: Program, folder: Path
) -> None:
    import_folder(japanese, program, folder)
    see_document_count(japanese, 3)
    assert words.IMPORT_TITLE == "取り込み"
    japanese.get_by_role("heading", name=words.IMPORT_TITLE, level=1).wait_for()
    assert not scrolls_sideways(japanese)
    screenshot(japanese, "import-source-ja-phone")
