"""The pages in the browser's language, on a phone, in dark mode."""

from collections.abc import Iterator

import pytest

from tests.browser.actions import (
    DESKTOP,
    PHONE,
    WAIT_MS,
    ask,
    screenshot,
    scrolls_sideways,
    settle,
)
from ui.text import words
from ui.text.words import translations

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LINK, SIDEBAR = '[data-testid="stSidebarNavLink"]', ".stSidebar"


@pytest.fixture(params=["ko-KR", "ja-JP"])
def locale(request: pytest.FixtureRequest) -> str:
    """The language setting of the browser."""
    return request.param


@pytest.fixture
def phone(browser: "sync_api.Browser", address: str, locale: str) -> Iterator["sync_api.Page"]:
    """The chat page in that language, on a phone in dark mode."""
    context = browser.new_context(viewport=PHONE, locale=locale, color_scheme="dark")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(address)
    page.locator("textarea").wait_for()
    settle(page)
    yield page
    context.close()


def test_the_pages_follow_the_language_of_the_browser(phone: "sync_api.Page", locale: str) -> None:
    language = locale[:2]
    assert phone.evaluate("document.documentElement.lang") == language
    welcome, *_ = translations(language)[words.WELCOME]
    phone.get_by_role("heading", name=welcome).wait_for()


def test_choosing_a_page_on_a_phone_closes_the_sidebar(phone: "sync_api.Page", locale: str) -> None:
    pages = phone.locator(LINK).count()
    assert pages >= 4
    for n in reversed(range(pages)):
        phone.get_by_test_id("stExpandSidebarButton").first.click()
        phone.locator(LINK).nth(n).click()
        sync_api.expect(phone.locator(SIDEBAR)).to_have_attribute("data-collapsed", "true")
        settle(phone)
        assert not scrolls_sideways(phone)
        screenshot(phone, f"page-{n + 1}-{locale[:2]}-phone-dark")


def test_an_answer_and_its_actions_are_in_the_readers_language(
    phone: "sync_api.Page", locale: str
) -> None:
    messages = translations(locale[:2])
    phone.set_viewport_size(DESKTOP)
    turn = ask(phone, "노트북을 잃어버리면 어떻게 해야 하나요?")
    sync_api.expect(turn.locator(".fn-source").first).to_contain_text("051-555-0142")
    badge, *_ = messages[words.STATES["verified"]]
    sync_api.expect(turn.locator(".fn-badge").first).to_have_text(badge)
    for text in (words.ASK_AGAIN, words.EDIT_QUESTION, words.SEARCH_AGAIN):
        translated, *_ = messages[text]
        sync_api.expect(phone.get_by_role("button", name=translated, exact=True)).to_be_visible()
    screenshot(phone, f"chat-{locale[:2]}-dark")


def test_the_tab_key_skips_the_collapsed_sidebar(phone: "sync_api.Page") -> None:
    for _ in range(8):
        phone.keyboard.press("Tab")
        assert not phone.evaluate("!!document.activeElement.closest('.stSidebar')")
