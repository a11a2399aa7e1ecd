"""Where an answer, its actions, and its sources are in a real browser, and the tab's title."""

import pytest

from tests.browser.actions import PHONE, ask, press, scrolls_sideways, settle, typing_box
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture
def answered_page(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The chat page after one answered question."""
    page.goto(address)
    ask(page, QUESTION)
    return page


def box(page: "sync_api.Page", selector: str) -> dict[str, float]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return found


def test_the_actions_are_under_the_answer_and_the_sources_beside_it(
    answered_page: "sync_api.Page",
) -> None:
    answer, actions, sources = (
        box(answered_page, one) for one in (".fn-answer", ".fn-copy", ".fn-source")
    )
    assert 0 <= actions["y"] - (answer["y"] + answer["height"]) < 60
    assert sources["x"] >= answer["x"] + answer["width"]
    thumbs = box(answered_page, '[role="radio"]')
    assert abs(thumbs["y"] - actions["y"]) < 20


def test_a_phone_collapses_the_sources_under_their_number(answered_page: "sync_api.Page") -> None:
    answered_page.set_viewport_size(PHONE)
    source = answered_page.locator(".fn-source").first
    sync_api.expect(source).to_be_hidden()
    sync_api.expect(answered_page.locator(".fn-verdict").first).to_be_visible()
    actions, verdict = box(answered_page, ".fn-copy"), box(answered_page, ".fn-verdict")
    assert actions["y"] + actions["height"] <= verdict["y"]
    answered_page.get_by_text(words.count(words.SOURCES_COUNTED, 1), exact=True).click()
    sync_api.expect(source).to_be_visible()
    assert not scrolls_sideways(answered_page)


def test_a_too_long_question_stays_in_the_input_and_can_become_a_file(
    page: "sync_api.Page", address: str
) -> None:
    text = "Why? " * 4001
    page.goto(address)
    typing_box(page).fill(text)
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="the limit is 20,000").wait_for()
    sync_api.expect(typing_box(page)).to_have_value(text.strip())
    press(page, words.ATTACH_QUESTION)
    page.get_by_role("button", name=words.FILES_OF_CONVERSATION.format(n=1)).wait_for()
    settle(page)
    sync_api.expect(typing_box(page)).to_have_value("")
    sync_api.expect(page.get_by_role("alert")).to_have_count(0)


def test_the_tab_is_named_after_the_conversation_and_then_after_the_page(
    answered_page: "sync_api.Page",
) -> None:
    title = words.TAB_TITLE.format(name=QUESTION)
    sync_api.expect(answered_page).to_have_title(title)
    answered_page.get_by_role("link", name=words.LIBRARY_PAGE).click()
    sync_api.expect(answered_page).to_have_title("Library – Footnote")
    answered_page.get_by_role("link", name=words.ASK_PAGE).click()
    sync_api.expect(answered_page).to_have_title(title)
    press(answered_page, words.NEW_CONVERSATION)
    sync_api.expect(answered_page).to_have_title("Ask – Footnote")
    settle(answered_page)


@pytest.mark.parametrize(("locale", "name"), [("ko-KR", "자료실"), ("ja-JP", "ライブラリ")])
def test_the_tab_is_named_in_the_readers_language(
    browser: "sync_api.Browser", address: str, locale: str, name: str
) -> None:
    with browser.new_context(locale=locale) as context:
        page = context.new_page()
        page.goto(f"{address}/library")
        sync_api.expect(page).to_have_title(f"{name} – Footnote")
