"""The list of conversations in a real browser: find, rename, export, delete, undo, import."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser.actions import PHONE, ask, press, screenshot, scrolls_sideways, settle
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of sick leave need no note?"
RENAMED = "병가 규정"


@pytest.fixture
def conversation(page: "sync_api.Page", address: str) -> str:
    """Ask one question; returns the id of its conversation."""
    page.goto(address)
    ask(page, QUESTION)
    return parse_qs(urlparse(page.url).query)["conversation"][0]


def choose(page: "sync_api.Page", conversation_id: str, action: str) -> "sync_api.Locator":
    """Choose an entry of the conversation's menu; returns the dialog that opens."""
    settle(page)  # redrawing the list closes its menus
    page.locator(f".st-key-menu-{conversation_id} button").click()
    page.get_by_role("menuitem", name=words.CONVERSATION_ACTIONS[action]).click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def row(page: "sync_api.Page", conversation_id: str) -> "sync_api.Locator":
    return page.locator(f".st-key-conversation-{conversation_id} button")


def rename(page: "sync_api.Page", conversation_id: str, title: str) -> None:
    dialog = choose(page, conversation_id, "rename")
    dialog.get_by_label(words.NEW_TITLE).fill(title)
    page.keyboard.press("Enter")
    dialog.wait_for(state="detached")


def test_a_conversation_is_renamed_found_deleted_and_restored(
    page: "sync_api.Page", conversation: str
) -> None:
    rename(page, conversation, RENAMED)
    sync_api.expect(row(page, conversation)).to_have_text(RENAMED)
    page.reload()
    sync_api.expect(row(page, conversation)).to_have_text(RENAMED)
    search_field = page.get_by_placeholder(words.SEARCH_CONVERSATIONS)
    search_field.fill("규정 NOTE")
    page.get_by_text(words.count(words.CONVERSATIONS_FOUND, 1)).wait_for()
    sync_api.expect(row(page, conversation)).to_be_visible()
    screenshot(page, "conversations")
    search_field.fill("")
    page.get_by_text(words.count(words.CONVERSATIONS_FOUND, 1)).wait_for(state="detached")
    press(choose(page, conversation, "delete"), words.DELETE)
    sync_api.expect(row(page, conversation)).to_have_count(0)
    assert "conversation=" not in page.url
    press(page, words.UNDO)
    sync_api.expect(row(page, conversation)).to_be_visible()
    page.locator(".fn-verdict").wait_for()
    assert conversation in page.url


def test_a_conversation_stays_open_after_visiting_another_page(
    page: "sync_api.Page", conversation: str
) -> None:
    page.get_by_role("link", name=words.LIBRARY_PAGE).click()
    page.get_by_role("heading", name=words.LIBRARY_TITLE).wait_for()
    page.get_by_role("link", name=words.ASK_PAGE).click()
    sync_api.expect(page.locator(".fn-question")).to_have_text(QUESTION)
    assert conversation in page.url
    press(page, words.NEW_CONVERSATION)
    sync_api.expect(page.locator(".fn-question")).to_have_count(0)
    assert conversation not in page.url


def test_an_exported_conversation_is_imported_with_its_citations(
    page: "sync_api.Page", conversation: str, tmp_path: Path
) -> None:
    rename(page, conversation, RENAMED)
    dialog = choose(page, conversation, "export")
    files = {}
    for form, name in words.EXPORT_FORMS.items():
        with page.expect_download() as download:
            press(dialog, name)
        files[form] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[form])
    dialog.get_by_label("Close").click()
    dialog.wait_for(state="detached")
    assert files["html"].name == "병가-규정.html"
    for form in ("md", "html"):
        assert QUESTION in files[form].read_text(encoding="utf-8")
    assert json.loads(files["json"].read_text(encoding="utf-8"))["version"] == 1
    press(page, words.IMPORT_CONVERSATION)
    field = page.get_by_test_id("stPopoverBody").locator("input[type=file]")
    field.set_input_files(files["json"])
    page.get_by_text(words.CONVERSATION_IMPORTED.format(title=RENAMED)).wait_for()
    page.wait_for_url(lambda url: conversation not in url and "conversation=" in url)
    settle(page)
    sync_api.expect(page.locator(".fn-question")).to_have_text([QUESTION])
    sync_api.expect(page.locator(".fn-source").first).to_contain_text("found in the document")


def test_on_a_phone_the_list_overlays_the_page_and_fits(
    page: "sync_api.Page", conversation: str
) -> None:
    page.set_viewport_size(PHONE)
    page.reload()
    page.get_by_test_id("stExpandSidebarButton").click()
    sync_api.expect(row(page, conversation)).to_be_visible()
    menu = page.locator(f".st-key-menu-{conversation} button")
    sync_api.expect(menu).to_be_in_viewport()
    sync_api.expect(menu).to_have_accessible_name(words.CONVERSATION_MENU.format(title=QUESTION))
    choose(page, conversation, "delete")
    assert not scrolls_sideways(page)
    screenshot(page, "conversations-phone")
