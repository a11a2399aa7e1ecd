"""The settings page: a chat model is tested, saved, and used without a restart."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.actions import PHONE, ask, click_when_idle, screenshot, scrolls_sideways, settle
from tests.browser.importing import open_page
from tests.browser.program import Program, running
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, OpenAIServer, Text
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KEY = "sk-typed-in-the-browser"


@pytest.fixture
def own_program(
    chromium: str, clean_environment: dict[str, str], embedder: OpenAIServer, tmp_path: Path
) -> Iterator[Program]:
    """The program without a chat model, over its own library."""
    embedding = {
        "FOOTNOTE_DATA_DIR": str(tmp_path),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    with running(clean_environment | embedding) as program:
        yield program


def field(page: "sync_api.Page", name: str) -> "sync_api.Locator":
    return page.get_by_label(words.SETTING_LABELS[name], exact=True)


def press_first(page: "sync_api.Page", label: str) -> None:
    """Press the button of the first form, the one for the chat model."""
    click_when_idle(page.get_by_role("button", name=label).first)


def test_a_chat_model_is_tested_saved_and_used_without_a_restart(
    page: "sync_api.Page", own_program: Program, model_server: OpenAIServer, tmp_path: Path
) -> None:
    model_server.api_key = KEY
    model_server.will(Text("Hello from the model."), Text("They get 25 days [1]."))
    open_page(page, own_program, "app_settings")
    field(page, "openai_base_url").fill(model_server.url)
    field(page, "openai_api_key").fill(KEY)
    press_first(page, words.LIST_MODELS)
    settle(page)
    field(page, "chat_model").click()
    page.get_by_role("option", name=MODEL, exact=True).click()
    press_first(page, words.TEST_MODEL)
    reply = page.get_by_role("status").filter(has_text="Hello from the model.")
    sync_api.expect(reply).to_contain_text(MODEL)
    assert not (tmp_path / "settings.json").exists()

    press_first(page, words.SAVE_SETTINGS)
    sync_api.expect(page.get_by_text(words.SETTINGS_SAVED)).to_be_visible()
    settle(page)  # the earlier form stays until the run ends
    assert KEY not in (tmp_path / "settings.json").read_text()
    sync_api.expect(field(page, "openai_api_key")).to_have_value("")
    fixed = page.get_by_role("textbox", name="FOOTNOTE_EMBEDDING_MODEL")
    sync_api.expect(fixed).to_be_disabled()
    screenshot(page, "settings")

    page.goto(own_program.address)
    sync_api.expect(page.get_by_text(words.ANSWERS_BY.format(model=MODEL))).to_be_visible()
    turn = ask(page, "How many days of annual leave do new employees get?")
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text("They get 25 days")


def test_the_page_fits_a_phone(page: "sync_api.Page", own_program: Program) -> None:
    page.set_viewport_size(PHONE)
    open_page(page, own_program, "app_settings")
    assert not scrolls_sideways(page)
    screenshot(page, "settings-phone")


def test_the_theme_of_the_menu_applies_to_pages_that_are_opened_by_their_address(
    page: "sync_api.Page", own_program: Program
) -> None:
    open_page(page, own_program, "app_settings")
    page.get_by_test_id("stMainMenu").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    open_page(page, own_program, "library")
    app = page.locator(".stApp")
    sync_api.expect(app).to_have_css("background-color", "rgb(18, 25, 30)")
