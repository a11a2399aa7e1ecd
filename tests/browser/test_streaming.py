"""What a real browser shows while a slow chat model is still writing."""

import pytest

from tests.browser.actions import answered_turn, settle, typing_box
from tests.fakes.openai import Held, OpenAIServer

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

QUESTION = "How many days of annual leave do new employees get?"
QUOTE = "New employees get 25 days of annual leave a year"


def test_a_checked_quote_is_shown_before_the_answer_ends(
    page: "sync_api.Page", address_with_model: str, model_server: OpenAIServer
) -> None:
    reply = Held(f'They get 25 days [1: "{QUOTE}"].', " Ask your manager for more.")
    model_server.will(reply)
    page.goto(address_with_model)
    settle(page)
    typing_box(page).fill(QUESTION)
    page.keyboard.press("Enter")
    live = page.locator(".st-key-live")
    try:
        sync_api.expect(live.locator(".fn-passage mark")).to_have_text(QUOTE)
        sync_api.expect(live.locator(".fn-verdict")).to_contain_text("1 quote found")
        sync_api.expect(live.locator(".fn-answer")).to_have_text("They get 25 days 1.")
        assert live.locator(".fn-title").get_attribute("href").startswith("document?id=")
        assert page.locator(".fn-turn").count() == 0, "the answer has ended already"
    finally:
        reply.released.set()
    turn = answered_turn(page, 1)
    sync_api.expect(turn.locator(".fn-passage mark")).to_have_text(QUOTE)
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text("Ask your manager for more.")
