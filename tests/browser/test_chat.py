"""The main path in a real browser: ask in three languages, check the quotes, come back."""

from urllib.parse import urlparse

import pytest

from tests.browser.actions import (
    DESKTOP,
    PHONE,
    answered_turn,
    ask,
    screenshot,
    scrolls_sideways,
    typing_box,
)
from tests.fakes.openai import OpenAIServer, Text
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

QUESTIONS = {
    "english": (
        "How many days of annual leave do new employees get?",
        "New employees get 25 days of annual leave a year",
        "Leave policy",
    ),
    "korean": (
        "노트북을 잃어버리면 어떻게 해야 하나요?",
        "1시간 안에 보안팀 당직 전화 051-555-0142로 신고합니다",
        "보안 안내서",
    ),
    "japanese": (
        "障害のあと、ふりかえりの会はいつまでに開きますか？",
        "ふりかえりの会は、復旧から3営業日以内に開きます",
        "障害対応ガイド",
    ),
}


def test_a_page_opened_by_url_shows_its_frame_first(page: "sync_api.Page", address: str) -> None:
    page.goto(f"{address}/chat")
    page.get_by_role("heading", name="Footnote").wait_for()
    sync_api.expect(page).to_have_title("Ask – Footnote")
    page.goto(address)
    page.get_by_role("heading", name="Footnote").wait_for()
    screenshot(page, "first-questions")


@pytest.mark.parametrize("language", QUESTIONS)
def test_an_answer_cites_a_sentence_with_its_source(
    page: "sync_api.Page", address: str, language: str
) -> None:
    question, sentence, title = QUESTIONS[language]
    page.goto(address)
    turn = ask(page, question)
    sync_api.expect(turn.locator(".fn-activity")).to_contain_text(question)
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text(sentence)
    source = turn.locator(".fn-source", has=page.locator("mark", has_text=sentence)).first
    sync_api.expect(source).to_contain_text(title)
    sync_api.expect(source).to_contain_text("found in the document")
    screenshot(page, f"chat-{language}")
    page.set_viewport_size(PHONE)
    screenshot(page, f"chat-{language}-phone")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_each_question_stays_visible_with_its_answer_and_the_input(
    page: "sync_api.Page", address: str, size: dict[str, int]
) -> None:
    page.set_viewport_size(size)
    page.goto(address)
    for language in ("english", "korean"):
        question, sentence, _ = QUESTIONS[language]
        ask(page, question)
        sync_api.expect(page.locator(".fn-question").last).to_be_in_viewport(ratio=1)
        sync_api.expect(page.locator(".fn-turn .fn-answer").last).to_contain_text(sentence)
        sync_api.expect(page.locator(".fn-turn .fn-answer p").last).to_be_in_viewport()
        sync_api.expect(typing_box(page)).to_be_in_viewport(ratio=1)
    page.reload()
    page.locator(".fn-turn").nth(1).wait_for()
    sync_api.expect(page.locator(".fn-question").last).to_be_in_viewport(ratio=1)


def test_a_button_copies_the_answer_with_its_sources(page: "sync_api.Page", address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    question, sentence, title = QUESTIONS["english"]
    page.goto(address)
    ask(page, question).locator("button.fn-copy").click()
    sync_api.expect(page.locator("button.fn-copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert sentence in copied
    assert title in copied


def test_a_conversation_continues_after_a_reload(page: "sync_api.Page", address: str) -> None:
    page.goto(address)
    ask(page, QUESTIONS["japanese"][0])
    page.reload()
    page.locator(".fn-verdict").first.wait_for()
    turn = ask(page, "報告書は？")
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text("5営業日以内")
    sync_api.expect(page.locator(".fn-question")).to_have_count(2)
    screenshot(page, "conversation")


@pytest.mark.slow
def test_a_conversation_continues_after_its_first_question_is_stopped(
    page: "sync_api.Page", address_with_model: str, model_server: OpenAIServer
) -> None:
    model_server.will(Text(*["slow "] * 200, pause_s=0.1))
    page.goto(address_with_model)
    typing_box(page).fill("How many days of leave?")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator(".fn-answer")).to_contain_text("slow slow slow")
    assert "conversation=" in page.url  # while the answer is being written
    sync_api.expect(page.locator(".fn-answer")).to_contain_text("slow " * 15)
    page.get_by_test_id("stChatInputStopButton").click()
    page.get_by_text(words.STOPPED).wait_for()
    answered_turn(page, 1)  # the stored turn replaces the one that was being written
    sync_api.expect(page.locator(".fn-source").first).to_be_attached()
    address_before = page.url
    model_server.will(Text("How many days of sick leave?"), Text("Ten days."))
    turn = ask(page, "And sick leave?")
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text("Ten days.")
    questions = ["How many days of leave?", "And sick leave?"]
    sync_api.expect(page.locator(".fn-question")).to_have_text(questions)
    sync_api.expect(page.locator(".fn-answer").first).to_contain_text("slow slow slow")
    stopped = page.get_by_role("alert").filter(has_text=words.STOPPED)
    sync_api.expect(stopped).to_be_visible()
    assert page.url == address_before


def test_a_phone_does_not_scroll_sideways(page: "sync_api.Page", address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(address)
    ask(page, "What is the UDP port of each VPN gateway?")
    assert not scrolls_sideways(page)


def test_the_browser_makes_no_outside_requests(page: "sync_api.Page", address: str) -> None:
    page.goto(address)
    ask(page, "How do I roll back a deployment?")
    addresses = [urlparse(url) for url in page.requested]
    hosts = {address.hostname for address in addresses if address.scheme.startswith(("http", "ws"))}
    assert hosts == {"localhost"}
