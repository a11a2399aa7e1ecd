"""Typing a question in a real browser: Enter, Shift+Enter, and composing input methods."""

import pytest

from tests.browser.actions import answered_turn, ask, settle, typing_box

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# What an input method shows while a person types, and what it commits.
COMPOSED = {
    "korean": ("연차는 ", ("ㅁ", "며", "몇"), "몇", " 일인가요?"),
    "japanese": ("新入社員の", ("ゆ", "ゆう", "ゆうきゅう", "有給"), "有給", "は何日ですか？"),
}


@pytest.fixture
def chat(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The chat page, ready for typing."""
    page.goto(address)
    typing_box(page).click()
    settle(page)
    return page


class Composer:
    """An input method, simulated with the DevTools protocol."""

    def __init__(self, page: "sync_api.Page") -> None:
        self._send = page.context.new_cdp_session(page).send

    def show(self, text: str) -> None:
        """Show uncommitted text."""
        cursor = {"selectionStart": len(text), "selectionEnd": len(text)}
        self._send("Input.imeSetComposition", {"text": text, **cursor})

    def commit(self, text: str) -> None:
        self._send("Input.insertText", {"text": text})

    def press_enter(self) -> None:
        """Press Enter during composition, where it belongs to the input method."""
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
        self._send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
        self._send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


@pytest.mark.parametrize("language", COMPOSED)
def test_enter_during_composition_sends_nothing(chat: "sync_api.Page", language: str) -> None:
    before, steps, committed, after = COMPOSED[language]
    box, composer = typing_box(chat), Composer(chat)
    chat.evaluate(
        "addEventListener('keydown', e => (window.keys ??= []).push([e.key, e.isComposing]), true)"
    )
    composer.commit(before)
    for step in steps:
        composer.show(step)
    composer.press_enter()
    assert chat.evaluate("window.keys") == [["Enter", True]]
    sync_api.expect(box).to_have_value(before + steps[-1])
    composer.commit(committed)
    composer.commit(after)
    sync_api.expect(box).to_have_value(before + committed + after)
    chat.keyboard.press("Enter")
    answered_turn(chat, 1)
    sync_api.expect(chat.locator(".fn-question")).to_have_text([before + committed + after])
    sync_api.expect(box).to_have_value("")


def test_shift_enter_breaks_the_line(chat: "sync_api.Page") -> None:
    chat.keyboard.type("How many days of sick leave")
    chat.keyboard.press("Shift+Enter")
    chat.keyboard.type("need no note?")
    sync_api.expect(typing_box(chat)).to_have_value("How many days of sick leave\nneed no note?")
    chat.keyboard.press("Enter")
    turn = answered_turn(chat, 1)
    question = chat.locator(".fn-question")
    assert question.inner_text() == "How many days of sick leave\nneed no note?"
    sync_api.expect(turn.locator(".fn-source").first).to_be_visible()


def test_whitespace_is_not_sent(chat: "sync_api.Page") -> None:
    chat.keyboard.type("   ")
    chat.keyboard.press("Enter")
    ask(chat, "How do I roll back a deployment?")
    sync_api.expect(chat.locator(".fn-question")).to_have_count(1)
