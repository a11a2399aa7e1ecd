"""Actions on an answer in a real browser: ask again, edit, search again, rate, reload."""

from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser.actions import (
    PHONE,
    ask,
    click_when_idle,
    screenshot,
    scrolls_sideways,
    settle,
)
from tests.fakes.openai import OpenAIServer, Text
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of annual leave do new employees get?"
ANSWER = "New employees get 25 days of annual leave a year"
FOLLOW_UP = "How many unused days can be carried over into the next year?"
NOT_COVERED = """button => {
  const { x, y, width, height } = button.getBoundingClientRect();
  return button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
OTHER = "What is the UDP port of each VPN gateway?"


@pytest.fixture
def answered_page(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The chat page after one answered question."""
    page.goto(address)
    ask(page, QUESTION)
    return page


def press_in_first_turn(page: "sync_api.Page", label: str) -> None:
    """Press a button of the first turn that has it."""
    messages = page.locator(".stChatMessage")
    click_when_idle(messages.get_by_role("button", name=label, exact=True).first)


def expect_version(page: "sync_api.Page", version: str) -> None:
    sync_api.expect(page.locator(".fn-version")).to_have_text(version)
    settle(page)


def questions(page: "sync_api.Page") -> "sync_api.LocatorAssertions":
    return sync_api.expect(page.locator(".fn-question"))


def test_a_regenerated_answer_becomes_a_second_version(answered_page: "sync_api.Page") -> None:
    press_in_first_turn(answered_page, words.ASK_AGAIN)
    expect_version(answered_page, "2/2")
    questions(answered_page).to_have_text([QUESTION])
    press_in_first_turn(answered_page, words.PREVIOUS_VERSION)
    expect_version(answered_page, "1/2")
    sync_api.expect(answered_page.locator(".fn-answer")).to_contain_text(ANSWER)
    answered_page.reload()
    expect_version(answered_page, "1/2")


def test_regenerating_an_answer_can_be_stopped(
    page: "sync_api.Page", address_with_model: str, model_server: OpenAIServer
) -> None:
    model_server.will(Text("Twenty-five days."), Text(*["slow "] * 200, pause_s=0.1))
    page.goto(address_with_model)
    ask(page, QUESTION)
    press_in_first_turn(page, words.ASK_AGAIN)
    sync_api.expect(page.locator(".fn-answer").last).to_contain_text("slow slow slow")
    sync_api.expect(page.locator(".fn-answer")).to_have_count(1)
    page.get_by_role("button", name=words.STOP, exact=True).click()
    expect_version(page, "2/2")
    stopped = page.get_by_role("alert").filter(has_text=words.STOPPED)
    sync_api.expect(stopped).to_be_visible()
    sync_api.expect(page.locator(".fn-answer")).to_contain_text("slow slow slow")
    sync_api.expect(page.get_by_role("button", name=words.STOP, exact=True)).to_have_count(0)


def test_editing_a_question_branches_and_keeps_the_original(answered_page: "sync_api.Page") -> None:
    ask(answered_page, FOLLOW_UP)
    press_in_first_turn(answered_page, words.EDIT_QUESTION)
    box = answered_page.get_by_label(words.YOUR_QUESTION)
    sync_api.expect(box).to_have_value(QUESTION)
    screenshot(answered_page, "edit-question")
    box.fill(OTHER)
    press_in_first_turn(answered_page, words.ASK)
    expect_version(answered_page, "2/2")
    questions(answered_page).to_have_text([OTHER])
    sync_api.expect(answered_page.locator(".fn-source").first).to_contain_text("VPN")
    press_in_first_turn(answered_page, words.PREVIOUS_VERSION)
    expect_version(answered_page, "1/2")
    questions(answered_page).to_have_text([QUESTION, FOLLOW_UP])
    sync_api.expect(answered_page.locator(".fn-turn")).to_have_count(2)
    press_in_first_turn(answered_page, words.NEXT_VERSION)
    expect_version(answered_page, "2/2")
    questions(answered_page).to_have_text([OTHER])
    screenshot(answered_page, "versions")


def test_the_search_query_can_be_edited(answered_page: "sync_api.Page") -> None:
    press_in_first_turn(answered_page, words.SEARCH_AGAIN)
    box = answered_page.get_by_label(words.SEARCHED_QUESTION)
    sync_api.expect(box).to_have_value(QUESTION)
    box.fill(FOLLOW_UP)
    screenshot(answered_page, "edit-search")
    press_in_first_turn(answered_page, words.SEARCH)
    expect_version(answered_page, "2/2")
    questions(answered_page).to_have_text([QUESTION])
    activity = answered_page.locator(".fn-turn .fn-activity")
    search_note = words.SEARCHED_FOR_EDITED.format(question=FOLLOW_UP)
    sync_api.expect(activity).to_contain_text(search_note)
    sync_api.expect(answered_page.locator(".fn-answer")).to_contain_text("carried over")
    press_in_first_turn(answered_page, words.PREVIOUS_VERSION)
    expect_version(answered_page, "1/2")
    sync_api.expect(activity).to_contain_text(words.SEARCHED_FOR.format(question=QUESTION))


def test_closing_the_editor_changes_nothing(answered_page: "sync_api.Page") -> None:
    press_in_first_turn(answered_page, words.EDIT_QUESTION)
    answered_page.get_by_label(words.YOUR_QUESTION).fill(OTHER)
    press_in_first_turn(answered_page, words.CANCEL)
    sync_api.expect(answered_page.get_by_label(words.YOUR_QUESTION)).to_have_count(0)
    questions(answered_page).to_have_text([QUESTION])
    sync_api.expect(answered_page.locator(".fn-version")).to_have_count(0)


def test_ask_again_works_with_the_keyboard_alone(answered_page: "sync_api.Page") -> None:
    button = answered_page.get_by_role("button", name=words.ASK_AGAIN, exact=True)
    settle(answered_page)
    for _ in range(60):
        answered_page.keyboard.press("Shift+Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    sync_api.expect(button).to_be_focused()
    assert button.evaluate("button => button.matches(':focus-visible')")
    assert button.evaluate(NOT_COVERED)
    screenshot(answered_page, "focus")
    answered_page.keyboard.press("Enter")
    expect_version(answered_page, "2/2")


def test_a_thumb_down_is_saved_with_its_reason(answered_page: "sync_api.Page") -> None:
    answered_page.get_by_role("radio", name="Thumbs down").click()
    reason, comment = words.REASONS["incomplete"], "경력 사원의 일수가 없습니다."
    answered_page.get_by_role("radio", name=reason).click()
    answered_page.get_by_label(words.COMMENT).fill(comment)
    screenshot(answered_page, "thumb-down")
    press_in_first_turn(answered_page, words.KEEP_REASON)
    expander = answered_page.locator(".stExpander summary", has_text=reason)
    expander.wait_for()
    answered_page.reload()
    sync_api.expect(answered_page.get_by_text(words.RATED_DOWN)).to_be_visible()
    expander.click()
    sync_api.expect(answered_page.get_by_label(words.COMMENT)).to_have_value(comment)


def test_a_reload_keeps_citations_and_quotes(answered_page: "sync_api.Page") -> None:
    ask(answered_page, "노트북을 잃어버리면 어떻게 해야 하나요?")
    before = evidence(answered_page)
    assert len(before["addresses"]) >= 2
    assert ANSWER in " ".join(before["quotes"])
    answered_page.reload()
    answered_page.locator(".fn-turn").nth(1).wait_for()
    settle(answered_page)
    assert evidence(answered_page) == before


def evidence(page: "sync_api.Page") -> dict[str, list[str]]:
    """All sources and quotes on the page."""
    markers = page.locator("a.fn-cite")
    return {
        "answers": page.locator(".fn-answer").all_inner_texts(),
        "verdicts": page.locator(".fn-verdict").all_inner_texts(),
        "quotes": page.locator(".fn-source mark").all_inner_texts(),
        "addresses": [marker.get_attribute("href") or "" for marker in markers.all()],
    }


def test_buttons_below_an_answer_fit_a_phone_and_have_names(
    answered_page: "sync_api.Page",
) -> None:
    press_in_first_turn(answered_page, words.ASK_AGAIN)
    expect_version(answered_page, "2/2")
    conversation = parse_qs(urlparse(answered_page.url).query)["conversation"]
    answered_page.set_viewport_size(PHONE)
    press_in_first_turn(answered_page, words.EDIT_QUESTION)
    sync_api.expect(answered_page.get_by_label(words.YOUR_QUESTION)).to_be_visible()
    for label in (words.ASK_AGAIN, words.SEARCH_AGAIN, words.PREVIOUS_VERSION):
        button = answered_page.get_by_role("button", name=label, exact=True).first
        sync_api.expect(button).to_be_visible()
        x, right = button.evaluate(
            "b => [b.getBoundingClientRect().x, b.getBoundingClientRect().right]"
        )
        assert 0 <= x < right <= PHONE["width"], label
    assert not scrolls_sideways(answered_page)
    assert parse_qs(urlparse(answered_page.url).query)["conversation"] == conversation
    screenshot(answered_page, "edit-question-phone")
