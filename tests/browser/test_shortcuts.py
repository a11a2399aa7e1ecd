"""Keyboard shortcuts of the chat page in a real browser."""

from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser.actions import ask, press, settle, typing_box
from tests.browser.test_typing import Composer
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

QUESTION = "How many days of annual leave do new employees get?"
OTHER = "How do I roll back a deployment?"


@pytest.fixture
def chat(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The chat page, where nothing has the keyboard focus."""
    page.goto(address)
    typing_box(page).wait_for()
    settle(page)
    leave_fields(page)
    return page


def leave_fields(page: "sync_api.Page") -> None:
    page.evaluate("document.activeElement.blur()")


def search_field(page: "sync_api.Page") -> "sync_api.Locator":
    return page.get_by_placeholder(words.SEARCH_CONVERSATIONS)


def shortcuts(page: "sync_api.Page") -> "sync_api.Locator":
    return page.locator(".fn-keys")


def test_a_slash_goes_to_the_question_but_is_text_inside_it(chat: "sync_api.Page") -> None:
    chat.keyboard.press("/")
    sync_api.expect(typing_box(chat)).to_be_focused()
    sync_api.expect(typing_box(chat)).to_have_value("")
    chat.keyboard.type("and/or? ")
    sync_api.expect(typing_box(chat)).to_have_value("and/or? ")
    sync_api.expect(shortcuts(chat)).to_have_count(0)


def test_control_k_searches_conversations_from_the_question(chat: "sync_api.Page") -> None:
    typing_box(chat).focus()
    chat.keyboard.press("Control+k")
    sync_api.expect(search_field(chat)).to_be_focused()


def test_control_k_opens_a_collapsed_sidebar(chat: "sync_api.Page") -> None:
    chat.locator(".stSidebar").hover()
    chat.get_by_test_id("stSidebarCollapseButton").locator("button").click()
    sync_api.expect(search_field(chat)).to_be_hidden()
    leave_fields(chat)
    chat.keyboard.press("Control+k")
    sync_api.expect(search_field(chat)).to_be_visible()
    sync_api.expect(search_field(chat)).to_be_focused()


def test_keys_that_compose_a_letter_are_not_shortcuts(chat: "sync_api.Page") -> None:
    box, composer = typing_box(chat), Composer(chat)
    box.focus()
    composer.show("ㅁ")
    chat.keyboard.press("Control+k")
    sync_api.expect(box).to_be_focused()


def test_a_question_mark_or_the_button_lists_the_shortcuts(chat: "sync_api.Page") -> None:
    chat.keyboard.press("?")
    sync_api.expect(shortcuts(chat)).to_be_visible()
    sync_api.expect(shortcuts(chat)).to_contain_text(words.SHORTCUT_KEYS["/"])
    chat.keyboard.press("Escape")
    sync_api.expect(shortcuts(chat)).to_have_count(0)
    press(chat, words.SHORTCUTS)
    sync_api.expect(shortcuts(chat)).to_be_visible()


def test_arrows_move_from_the_search_through_the_list(chat: "sync_api.Page") -> None:
    ask(chat, QUESTION)
    press(chat, words.NEW_CONVERSATION)
    sync_api.expect(chat.locator(".fn-question")).to_have_count(0)
    ask(chat, OTHER)
    rows = chat.locator('.st-key-rows [class*="st-key-conversation-"] button')
    sync_api.expect(rows.nth(1)).to_be_visible()
    settle(chat)  # the list changes once more after the answer
    chat.keyboard.press("Control+k")
    sync_api.expect(search_field(chat)).to_be_focused()
    chat.keyboard.press("ArrowDown")
    sync_api.expect(rows.nth(0)).to_be_focused()
    chat.keyboard.press("ArrowDown")
    sync_api.expect(rows.nth(1)).to_be_focused()
    chat.keyboard.press("Home")
    sync_api.expect(rows.nth(0)).to_be_focused()
    chat.keyboard.press("ArrowUp")
    sync_api.expect(search_field(chat)).to_be_focused()
    chat.keyboard.press("ArrowDown")
    chat.keyboard.press("ArrowDown")
    before = parse_qs(urlparse(chat.url).query)["conversation"]
    chat.keyboard.press("Enter")
    sync_api.expect(chat.locator(".fn-question")).to_have_text(QUESTION)
    assert parse_qs(urlparse(chat.url).query)["conversation"] != before
