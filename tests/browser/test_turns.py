"""What is done with an answer, in a real browser: ask again, edit, search again, rate, reload."""

from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser.actions import PHONE, ask, screenshot, scrolls_sideways, settle
from tests.fakes.openai import OpenAIServer, Text
from ui import words

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
def asked(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The chat page after one answered question."""
    page.goto(address)
    ask(page, QUESTION)
    return page


def press(page: "sync_api.Page", label: str, *, turn: int = 0) -> None:
    """Press a button under an answer."""
    page.locator(".stChatMessage").get_by_role("button", name=label, exact=True).nth(turn).click()


def expect_version(page: "sync_api.Page", version: str) -> None:
    sync_api.expect(page.locator(".fn-version")).to_have_text(version)
    settle(page)


def questions(page: "sync_api.Page") -> "sync_api.LocatorAssertions":
    return sync_api.expect(page.locator(".fn-question"))


def test_an_answer_asked_for_again_is_kept_beside_the_first(asked: "sync_api.Page") -> None:
    press(asked, words.ASK_AGAIN)
    expect_version(asked, "2/2")
    questions(asked).to_have_text([QUESTION])
    press(asked, words.PREVIOUS_VERSION)
    expect_version(asked, "1/2")
    sync_api.expect(asked.locator(".fn-answer")).to_contain_text(ANSWER)
    asked.reload()
    expect_version(asked, "1/2")


def test_an_answer_asked_for_again_can_be_stopped(
    page: "sync_api.Page", address_with_model: str, model_server: OpenAIServer
) -> None:
    model_server.will(Text("Twenty-five days."), Text(*["slow "] * 200, pause_s=0.1))
    page.goto(address_with_model)
    ask(page, QUESTION)
    press(page, words.ASK_AGAIN)
    sync_api.expect(page.locator(".fn-answer").last).to_contain_text("slow slow slow")
    sync_api.expect(page.locator(".fn-answer")).to_have_count(1)
    page.get_by_role("button", name=words.STOP, exact=True).click()
    expect_version(page, "2/2")
    stopped = page.get_by_role("alert").filter(has_text=words.STOPPED)
    sync_api.expect(stopped).to_be_visible()
    sync_api.expect(page.locator(".fn-answer")).to_contain_text("slow slow slow")
    sync_api.expect(page.get_by_role("button", name=words.STOP, exact=True)).to_have_count(0)


def test_an_edited_question_branches_off_and_nothing_is_lost(asked: "sync_api.Page") -> None:
    ask(asked, FOLLOW_UP)
    press(asked, words.EDIT_QUESTION)
    box = asked.get_by_label(words.YOUR_QUESTION)
    sync_api.expect(box).to_have_value(QUESTION)
    screenshot(asked, "edit-question")
    box.fill(OTHER)
    press(asked, words.ASK)
    expect_version(asked, "2/2")
    questions(asked).to_have_text([OTHER])
    sync_api.expect(asked.locator(".fn-source").first).to_contain_text("VPN")
    press(asked, words.PREVIOUS_VERSION)
    expect_version(asked, "1/2")
    questions(asked).to_have_text([QUESTION, FOLLOW_UP])
    sync_api.expect(asked.locator(".fn-turn")).to_have_count(2)
    press(asked, words.NEXT_VERSION)
    expect_version(asked, "2/2")
    questions(asked).to_have_text([OTHER])
    screenshot(asked, "versions")


def test_one_searches_again_with_a_question_worded_by_hand(asked: "sync_api.Page") -> None:
    press(asked, words.SEARCH_AGAIN)
    box = asked.get_by_label(words.SEARCHED_QUESTION)
    sync_api.expect(box).to_have_value(QUESTION)
    box.fill(FOLLOW_UP)
    screenshot(asked, "edit-search")
    press(asked, words.SEARCH)
    expect_version(asked, "2/2")
    questions(asked).to_have_text([QUESTION])
    activity = asked.locator(".fn-turn .fn-activity")
    given = words.SEARCHED_FOR_GIVEN.format(question=FOLLOW_UP)
    sync_api.expect(activity).to_contain_text(given)
    sync_api.expect(asked.locator(".fn-answer")).to_contain_text("carried over")
    press(asked, words.PREVIOUS_VERSION)
    expect_version(asked, "1/2")
    sync_api.expect(activity).to_contain_text(words.SEARCHED_FOR.format(question=QUESTION))


def test_an_edit_that_is_left_changes_nothing(asked: "sync_api.Page") -> None:
    press(asked, words.EDIT_QUESTION)
    asked.get_by_label(words.YOUR_QUESTION).fill(OTHER)
    press(asked, words.CANCEL)
    sync_api.expect(asked.get_by_label(words.YOUR_QUESTION)).to_have_count(0)
    questions(asked).to_have_text([QUESTION])
    sync_api.expect(asked.locator(".fn-version")).to_have_count(0)


def test_the_keyboard_alone_reaches_and_presses_ask_again(asked: "sync_api.Page") -> None:
    button = asked.get_by_role("button", name=words.ASK_AGAIN, exact=True)
    settle(asked)
    for _ in range(60):
        asked.keyboard.press("Shift+Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    sync_api.expect(button).to_be_focused()
    assert button.evaluate("button => button.matches(':focus-visible')")
    assert button.evaluate(NOT_COVERED)
    screenshot(asked, "focus")
    asked.keyboard.press("Enter")
    expect_version(asked, "2/2")


def test_a_thumb_down_is_kept_with_its_reason(asked: "sync_api.Page") -> None:
    asked.get_by_role("radio", name="Thumbs down").click()
    reason, comment = words.REASONS["incomplete"], "경력 사원의 일수가 없습니다."
    asked.get_by_role("radio", name=reason).click()
    asked.get_by_label(words.COMMENT).fill(comment)
    screenshot(asked, "thumb-down")
    press(asked, words.KEEP_REASON)
    unfold = asked.locator(".stExpander summary", has_text=reason)
    unfold.wait_for()
    asked.reload()
    sync_api.expect(asked.get_by_text(words.RATED_DOWN)).to_be_visible()
    unfold.click()
    sync_api.expect(asked.get_by_label(words.COMMENT)).to_have_value(comment)


def test_a_reload_keeps_every_citation_and_quote(asked: "sync_api.Page") -> None:
    ask(asked, "노트북을 잃어버리면 어떻게 해야 하나요?")
    before = proof(asked)
    assert len(before["addresses"]) >= 2
    assert ANSWER in " ".join(before["quotes"])
    asked.reload()
    asked.locator(".fn-turn").nth(1).wait_for()
    settle(asked)
    assert proof(asked) == before


def proof(page: "sync_api.Page") -> dict[str, list[str]]:
    """Everything on the page that proves the answers."""
    markers = page.locator("a.fn-cite")
    return {
        "answers": page.locator(".fn-answer").all_inner_texts(),
        "verdicts": page.locator(".fn-verdict").all_inner_texts(),
        "quotes": page.locator(".fn-source mark").all_inner_texts(),
        "addresses": [marker.get_attribute("href") or "" for marker in markers.all()],
    }


def test_on_a_phone_the_buttons_under_an_answer_fit_and_have_names(
    asked: "sync_api.Page",
) -> None:
    press(asked, words.ASK_AGAIN)
    expect_version(asked, "2/2")
    conversation = parse_qs(urlparse(asked.url).query)["conversation"]
    asked.set_viewport_size(PHONE)
    press(asked, words.EDIT_QUESTION)
    sync_api.expect(asked.get_by_label(words.YOUR_QUESTION)).to_be_visible()
    for label in (words.ASK_AGAIN, words.SEARCH_AGAIN, words.PREVIOUS_VERSION):
        button = asked.get_by_role("button", name=label, exact=True).first
        sync_api.expect(button).to_be_visible()
        x, right = button.evaluate(
            "b => [b.getBoundingClientRect().x, b.getBoundingClientRect().right]"
        )
        assert 0 <= x < right <= PHONE["width"], label
    assert not scrolls_sideways(asked)
    assert parse_qs(urlparse(asked.url).query)["conversation"] == conversation
    screenshot(asked, "edit-question-phone")
