"""Files, scope, and empty results in a real browser."""

from pathlib import Path

import pytest

from tests.browser.actions import (
    PHONE,
    answered_turn,
    ask,
    drop,
    drop_files,
    press,
    screenshot,
    scrolls_sideways,
    settle,
    typing_box,
)
from tests.browser.importing import make_files
from tests.loaders.formats.files import pdf_file
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILES = {
    "canteen.pdf": (
        "When does the canteen in the lighthouse open?",
        "The canteen in the lighthouse opens at half past eleven",
        "# The lighthouse canteen\n\n{sentence}\nand closes at two. On Fridays it serves no meat.",
    ),
    "사내 식당.md": (
        "등대 구내식당은 몇 시에 문을 여나요?",
        "등대 구내식당은 11시 30분에 문을 열고 14시에 닫습니다",
        "# 등대 구내식당 안내\n\n{sentence}. 금요일에는 고기가 나오지 않습니다.\n",
    ),
}
LEAVE = "How many days of annual leave do new employees get?"
ANSWER = "New employees get 25 days of annual leave a year"


def write_file(folder: Path, name: str) -> Path:
    """Write the file in its format, and return its path."""
    _, sentence, form = FILES[name]
    text = form.format(sentence=sentence)
    path = folder / name
    path.write_bytes(pdf_file([text]) if name.endswith(".pdf") else text.encode())
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_dropped_file_is_searched_only_in_its_conversation(
    page: "sync_api.Page", address: str, tmp_path: Path, name: str
) -> None:
    question, sentence, _ = FILES[name]
    page.goto(address)
    settle(page)
    drop_files(page, write_file(tmp_path, name))
    sync_api.expect(page.get_by_test_id("stChatInput")).to_contain_text(name)
    typing_box(page).fill(question)
    page.keyboard.press("Enter")
    turn = answered_turn(page, 1)
    quote = page.locator("mark", has_text=sentence)
    sync_api.expect(turn.locator(".fn-source", has=quote)).to_contain_text("found in the document")
    press(page, words.FILES_OF_CONVERSATION.format(n=1))
    sync_api.expect(page.get_by_test_id("stPopoverBody")).to_contain_text(name)
    screenshot(page, f"files-{Path(name).suffix[1:]}")
    page.keyboard.press("Escape")

    press(page, words.NEW_CONVERSATION)
    sync_api.expect(page.locator(".fn-turn")).to_have_count(0)
    ask(page, question)
    sync_api.expect(quote).to_have_count(0)
    sync_api.expect(page.get_by_text(sentence)).to_have_count(0)


def test_a_dropped_folder_keeps_its_subfolders(
    page: "sync_api.Page", address: str, tmp_path: Path
) -> None:
    folder = make_files(tmp_path / "office", {"rules.md": "# Office\n\nDogs may come on Fridays."})
    make_files(folder / "travel", {"rules.md": "# Travel\n\nTrains are booked in second class."})
    page.goto(address)
    settle(page)
    drop(page, page.get_by_test_id("stChatInput"), folder)
    page.locator('[data-testid="stChatInputSubmitButton"]:enabled').click()
    press(page, words.FILES_OF_CONVERSATION.format(n=2))
    files = page.get_by_test_id("stPopoverBody")
    sync_api.expect(files).to_contain_text("office/rules.md")
    sync_api.expect(files).to_contain_text("office/travel/rules.md")


@pytest.fixture
def narrow_page(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The chat page limited to PDFs, after a question that no PDF answers."""
    page.goto(address)
    press(scope(page), words.SCOPE_EVERYWHERE)
    page.get_by_label(words.SCOPE_FORMATS).click()
    page.get_by_role("option", name="pdf", exact=True).click()
    sync_api.expect(scope(page)).to_contain_text(words.SCOPE_LABEL.format(what="pdf"))
    screenshot(page, "scope")
    page.keyboard.press("Escape")  # closes the list,
    page.keyboard.press("Escape")  # and the panel around it
    ask(page, LEAVE)
    return page


def scope(page: "sync_api.Page") -> "sync_api.Locator":
    """The label next to the input."""
    return page.locator(".st-key-scope")


def test_a_conversation_remembers_its_scope(narrow_page: "sync_api.Page") -> None:
    narrow_page.reload()
    sync_api.expect(scope(narrow_page)).to_contain_text(words.SCOPE_LABEL.format(what="pdf"))
    sync_api.expect(narrow_page.get_by_text(ANSWER)).to_have_count(0)
    press(narrow_page, words.NEW_CONVERSATION)
    sync_api.expect(scope(narrow_page)).to_contain_text(words.SCOPE_EVERYWHERE)


def test_when_nothing_is_found_the_page_explains_and_offers_a_wider_search(
    narrow_page: "sync_api.Page",
) -> None:
    panel = narrow_page.locator(".fn-nothing")
    sync_api.expect(panel).to_contain_text(words.NOTHING_TITLE)
    sync_api.expect(panel).to_contain_text(LEAVE)
    sync_api.expect(panel).to_contain_text("pdf")
    screenshot(narrow_page, "nothing-found")
    narrow_page.set_viewport_size(PHONE)
    assert not scrolls_sideways(narrow_page)
    screenshot(narrow_page, "nothing-found-phone")
    press(narrow_page, words.WIDEN_SCOPE)
    sync_api.expect(narrow_page.locator(".fn-version")).to_have_text("2/2")
    sync_api.expect(narrow_page.locator(".fn-answer")).to_contain_text(ANSWER)
    sync_api.expect(panel).to_have_count(0)
