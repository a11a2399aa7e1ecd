"""A conversation with the agent in a real browser: its steps, live and afterwards."""

import threading
from urllib.parse import urljoin

import pytest

from tests.browser.actions import (
    PHONE,
    WAIT_MS,
    answered_turn,
    screenshot,
    scrolls_sideways,
    settle,
    typing_box,
    until,
)
from tests.fakes.openai import Call, OpenAIServer, Text, ToolCalls
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of leave do new employees get here, in Busan and in Yokohama?"
FIRST_TEXT = "I look into the leave policy first."
QUERIES = (
    "annual leave days of new employees",
    "신규 입사자의 첫해 연차 휴가 일수",
    "新入社員の年次有給休暇の日数",
)
QUOTE = "New employees get 25 days of annual leave a year"
ANSWER = f'In Bristol it is 25 days [1: "{QUOTE}"].'
RECORD_FIRST_RUN = """app => {
  new MutationObserver((_, watch) => {
    if (app.dataset.testScriptState !== "running") return;
    watch.disconnect();
    window.ran = true;
  }).observe(app, { attributes: true });
}"""
NARROW = {"width": 360, "height": 780}


@pytest.fixture
def reply_permits() -> threading.Semaphore:
    """The replies that the model may send: one at first, and one for each release."""
    return threading.Semaphore(1)


@pytest.fixture
def chat(
    page: "sync_api.Page",
    address_with_model: str,
    model_server: OpenAIServer,
    reply_permits: threading.Semaphore,
) -> "sync_api.Page":
    """The chat page with the agent on; its model takes four steps and then answers."""

    def answer(body: dict) -> Text:
        assert reply_permits.acquire(timeout=2 * WAIT_MS / 1000)
        results = sum(message["role"] == "tool" for message in body["messages"])
        if results < len(QUERIES):
            text = "" if results else FIRST_TEXT
            call = Call("search_documents", {"query": QUERIES[results], "k": 2, "mode": "bm25"})
            return ToolCalls(call, text=text)
        if results == len(QUERIES):
            return ToolCalls(Call("open_document", {"document_id": "<b>none</b>"}))
        return Text(ANSWER)

    model_server.answer = answer
    page.goto(address_with_model)
    settle(page)
    page.get_by_test_id("stApp").evaluate(RECORD_FIRST_RUN)
    switch(page).focus()
    page.keyboard.press("Space")
    # A question sent before its run starts could not be stopped.
    until(page, "window.ran")
    settle(page)
    sync_api.expect(switch(page)).to_be_checked()
    return page


def switch(page: "sync_api.Page") -> "sync_api.Locator":
    return page.get_by_role("switch", name=words.AGENT)


def send(page: "sync_api.Page") -> None:
    typing_box(page).fill(QUESTION)
    page.keyboard.press("Enter")


def steps(page: "sync_api.Page") -> "sync_api.Locator":
    return page.locator(".fn-step")


def expect_all_steps(page: "sync_api.Page") -> None:
    """The labels of finished steps."""
    expect = sync_api.expect(steps(page))
    expect.to_have_count(4)
    for n, query in enumerate(QUERIES):
        sync_api.expect(steps(page).nth(n)).to_contain_text(
            words.STEPS_ENDED["search_documents"].format(what=query)
        )
        sync_api.expect(steps(page).nth(n)).to_contain_text(words.count(words.PASSAGES, 2))
    sync_api.expect(steps(page).nth(3)).to_contain_text("<b>none</b>")
    sync_api.expect(page.locator(".fn-step.fn-failed")).to_have_count(1)
    sync_api.expect(page.locator(".fn-said")).to_have_text(FIRST_TEXT)


def test_steps_appear_live_and_are_collapsed_afterwards(
    chat: "sync_api.Page", reply_permits: threading.Semaphore
) -> None:
    send(chat)
    sync_api.expect(steps(chat).first).to_contain_text(QUERIES[0])
    sync_api.expect(chat.locator(".fn-step.fn-done .fn-cite").first).to_have_text("1")
    sync_api.expect(chat.locator(".fn-now")).to_have_text(words.DECIDING)
    sync_api.expect(chat.locator(".fn-turn")).to_have_count(0)
    reply_permits.release(2)
    sync_api.expect(chat.locator(".fn-step.fn-done")).to_have_count(3)
    sync_api.expect(chat.locator(".fn-said")).to_have_text(FIRST_TEXT)
    sync_api.expect(chat.locator(".fn-answer")).to_have_text("")
    screenshot(chat, "agent-at-work")

    reply_permits.release(2)
    answered_turn(chat, 1)
    collapsed = chat.locator(".fn-taken > details")
    sync_api.expect(collapsed.locator("> summary")).to_contain_text(
        "4 steps · 1 failed · 6 passages"
    )
    sync_api.expect(steps(chat).first).not_to_be_visible()
    sync_api.expect(chat.locator(".fn-answer")).to_contain_text("In Bristol it is 25 days")
    sync_api.expect(chat.locator(".fn-source mark").first).to_have_text(QUOTE)
    sync_api.expect(chat.get_by_role("button", name=words.SEARCH_AGAIN)).to_have_count(0)

    chat.reload()
    settle(chat)
    sync_api.expect(switch(chat)).to_be_checked()
    collapsed.locator("> summary").click()
    expect_all_steps(chat)
    result = steps(chat).first.locator(".fn-result")
    result.locator("summary").click()
    sync_api.expect(result).to_contain_text(QUOTE)
    screenshot(chat, "agent-steps")


def test_the_steps_fit_a_narrow_phone(
    chat: "sync_api.Page", reply_permits: threading.Semaphore
) -> None:
    reply_permits.release(2)
    chat.set_viewport_size(NARROW)
    send(chat)
    sync_api.expect(chat.locator(".fn-step.fn-done")).to_have_count(3)
    assert not scrolls_sideways(chat)
    reply_permits.release(2)
    answered_turn(chat, 1)
    chat.locator(".fn-taken summary").first.click()
    expect_all_steps(chat)
    for n in range(len(QUERIES)):
        steps(chat).nth(n).locator(".fn-result summary").click()
    assert not scrolls_sideways(chat)
    too_wide = "steps => steps.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert steps(chat).evaluate_all(too_wide) == 0
    chat.set_viewport_size(PHONE)
    screenshot(chat, "agent-phone")


def test_stopping_midway_keeps_the_finished_steps_and_ends_the_animation(
    chat: "sync_api.Page", reply_permits: threading.Semaphore
) -> None:
    reply_permits.release(1)
    send(chat)
    sync_api.expect(chat.locator(".fn-step.fn-done")).to_have_count(2)
    chat.get_by_test_id("stChatInputStopButton").click()
    until(chat, "document.querySelector('[data-test-script-state=stopRequested]')")
    # The press has been sent; a server that answers a later request has read it.
    assert chat.request.get(urljoin(chat.url, "/_stcore/health")).ok
    reply_permits.release(1)  # the script sees the press at the next event of the model
    settle(chat)
    sync_api.expect(chat.get_by_text(words.STOPPED).first).to_be_visible()
    moving = "document.getAnimations().filter((one) => one.animationName === 'fn-pulse').length"
    assert chat.evaluate(moving) == 0
    chat.reload()
    settle(chat)
    sync_api.expect(chat.get_by_text(words.STOPPED)).to_be_visible()
    sync_api.expect(chat.locator(".fn-taken > details > summary")).to_contain_text("3 steps")
    chat.locator(".fn-taken summary").first.click()
    sync_api.expect(steps(chat).last).to_contain_text(words.STEP_BROKEN_OFF)


def test_without_a_chat_model_the_switch_is_disabled_and_names_the_setting(
    page: "sync_api.Page", address: str
) -> None:
    page.goto(address)
    sync_api.expect(switch(page)).to_be_disabled()
    page.locator(".st-key-scope").get_by_role("button", name="Help for").last.focus()
    sync_api.expect(page.get_by_role("tooltip")).to_contain_text("FOOTNOTE_CHAT_MODEL")
