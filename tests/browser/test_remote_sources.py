"""Confluence and Google Drive on the import page in a real browser, with fakes on loopback."""

import json
from collections.abc import Iterator

import pytest

from domain import ImportState
from tests.browser.actions import (
    PHONE,
    press,
    screenshot,
    scrolls_sideways,
    settle,
    wait_for_animations,
)
from tests.browser.importing import (
    choose,
    open_form,
    pick,
    see_document_count,
    see_state,
)
from tests.browser.program import Program, running
from tests.fakes.confluence import API_TOKEN, EMAIL, FakeConfluence
from tests.fakes.google_drive import IMPORTER, FakeDrive
from tests.fakes.loopback import LOOPBACK_SOURCES
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def drive() -> Iterator[FakeDrive]:
    with FakeDrive() as drive:
        yield drive
        assert drive.refused == []


@pytest.fixture(scope="module")
def program(
    chromium: str,
    clean_environment: dict[str, str],
    drive: FakeDrive,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Program]:
    """The program with Google's URLs set to the fake."""
    settings = {
        "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("remote")),
        "FOOTNOTE_GOOGLE_API_URL": drive.origin,
    }
    with running(clean_environment | LOOPBACK_SOURCES | settings) as program:
        yield program


@pytest.fixture
def site() -> Iterator[FakeConfluence]:
    with FakeConfluence(cloud=True) as site:
        site.add_space("DOC", "Documentation")
        site.guide = site.add("DOC", "Guide", "<p>Where everything begins.</p>")
        site.vpn = site.add("DOC", "VPN", "<p>Choose the Bristol gateway.</p>")
        yield site
        assert site.refused == []


def open_kind(page: "sync_api.Page", program: Program, kind: str) -> None:
    open_form(page, program)
    choose(page, words.SOURCE_KINDS[kind])
    page.get_by_label(words.SOURCE_FIELDS["login"]).wait_for()
    settle(page)
    wait_for_animations(page)


def fill_in(page: "sync_api.Page", **values: str) -> None:
    for name, value in values.items():
        page.get_by_label(words.SOURCE_FIELDS[name], exact=True).fill(value)


def refresh(page: "sync_api.Page", imports: int, **counts: int) -> None:
    """Import again, and wait until the last of `imports` runs shows these outcomes."""
    rows = page.locator(".fn-table tbody tr")
    sync_api.expect(rows).to_have_count(imports - 1)
    press(page, words.REFRESH_NOW)
    sync_api.expect(rows).to_have_count(imports)
    for outcome, n in counts.items():
        cell = rows.first.locator(f'td[data-head="{words.OUTCOMES[outcome]}"]')
        sync_api.expect(cell).to_have_text(str(n))


def test_a_confluence_site_is_tested_added_and_refreshed(
    page: "sync_api.Page", program: Program, site: FakeConfluence
) -> None:
    open_kind(page, program, "confluence")
    fill_in(page, url=site.url, email=EMAIL, api_token="not-the-token", spaces="DOC")
    press(page, words.TEST_SOURCE)
    sync_api.expect(page.locator(".fn-notice.fn-error")).to_contain_text("rejected the credentials")
    fill_in(page, api_token=API_TOKEN)
    press(page, words.TEST_SOURCE)
    page.get_by_text(words.count(words.TEST_PASSED, 2)).wait_for()
    sync_api.expect(page.locator(".fn-seen")).to_contain_text("Signed in as Kim")
    screenshot(page, "import-confluence")
    press(page, words.ADD_AND_IMPORT)
    page.get_by_role("heading", name="Documentation").wait_for()
    see_state(page, ImportState.COMPLETED)
    see_document_count(page, 2)
    assert API_TOKEN not in page.content()

    site.edit(site.guide, "<p>Where everything ends.</p>")
    refresh(page, 2, new=0, changed=1, gone=0)
    site.trash(site.vpn)
    refresh(page, 3, new=0, changed=0, gone=1)
    see_document_count(page, 1)

    page.set_viewport_size(PHONE)
    choose(page, words.EDIT_SOURCE)
    label = page.get_by_text(words.SOURCE_FIELDS["login"], exact=True)
    label.wait_for()
    assert label.bounding_box()["width"] > 40, "styles of other pages' keys must not hide it"


def test_typed_values_survive_switching_to_other_fields(
    page: "sync_api.Page", program: Program
) -> None:
    open_kind(page, program, "confluence")
    page.get_by_text(words.MORE_OPTIONS, exact=True).click()
    wait_for_animations(page)
    values = {"url": "https://a.example/wiki", "email": "kim@a.example", "skip_labels": "draft"}
    fill_in(page, **values)
    for scope in ("trees", "everything"):
        pick(page, words.SOURCE_FIELDS["scope"], words.SOURCE_CHOICES["scope"][scope])
        settle(page)
        for name, value in values.items():
            widget = page.get_by_label(words.SOURCE_FIELDS[name], exact=True)
            sync_api.expect(widget).to_have_value(value)
    sync_api.expect(page.get_by_label(words.SOURCE_FIELDS["spaces"])).to_have_count(0)


def test_a_google_drive_folder_is_tested_added_and_refreshed(
    page: "sync_api.Page", program: Program, drive: FakeDrive
) -> None:
    folder = drive.folder("Handbook")
    leave = drive.doc("Leave", "# Leave\n\n25 days a year.", folder)
    drive.doc("VPN", "# VPN\n\nChoose Bristol.", folder)
    open_kind(page, program, "google_drive")
    address = f"https://drive.google.com/drive/folders/{folder.id}"
    fill_in(page, service_account=json.dumps(drive.service_account(), indent=2), folders=address)
    press(page, words.TEST_SOURCE)
    error = page.locator(".fn-notice.fn-error")
    sync_api.expect(error).to_contain_text(f"share it with {IMPORTER}")
    drive.share(folder)
    press(page, words.TEST_SOURCE)
    page.get_by_text(words.count(words.TEST_PASSED, 2)).wait_for()
    press(page, words.ADD_AND_IMPORT)
    page.get_by_role("heading", name="Handbook").wait_for()
    see_state(page, ImportState.COMPLETED)
    see_document_count(page, 2)

    drive.edit(leave, "# Leave\n\n30 days a year.")
    refresh(page, 2, new=0, changed=1, gone=0)
    drive.trash(leave)
    refresh(page, 3, new=0, changed=0, gone=1)
    see_document_count(page, 1)


@pytest.mark.parametrize("kind", ["confluence", "google_drive"])
def test_the_forms_fit_on_a_phone(page: "sync_api.Page", program: Program, kind: str) -> None:
    page.set_viewport_size(PHONE)
    open_kind(page, program, kind)
    assert not scrolls_sideways(page)
