"""Whole paths with the keyboard alone: ask and check a citation, import a folder."""

from pathlib import Path

import pytest

from domain import ImportState
from tests.browser.actions import answered_turn, settle, typing_box
from tests.browser.importing import make_files, open_page, see_document_count, see_state
from tests.browser.program import Program
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of annual leave do new employees get?"
MOST_STEPS = 80
HAS_FOCUS = "element => element === document.activeElement"
IS_VISIBLY_FOCUSED = """element => {
  const style = getComputedStyle(element);
  return element.matches(":focus-visible")
    && (style.outlineStyle !== "none" || style.boxShadow !== "none");
}"""


def tab_to(page: "sync_api.Page", target: "sync_api.Locator") -> None:
    """Press Tab until the element has the focus."""
    target.wait_for()
    for _ in range(MOST_STEPS):
        if target.evaluate(HAS_FOCUS):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {target}")


def test_a_question_is_asked_and_its_citation_opened(page: "sync_api.Page", address: str) -> None:
    page.goto(address)
    settle(page)
    tab_to(page, typing_box(page))
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    turn = answered_turn(page, 1)
    citation = turn.locator("a.fn-cite").first
    tab_to(page, citation)
    assert citation.evaluate(IS_VISIBLY_FOCUSED)
    with page.context.expect_page() as new_page:
        page.keyboard.press("Enter")
    document = new_page.value
    sync_api.expect(document.locator(".fn-reading mark").first).to_be_in_viewport()
    document.close()
    assert citation.evaluate(HAS_FOCUS)  # reading continues where it was
    tab_to(page, typing_box(page))


def test_the_sources_of_an_answer_open_and_close(page: "sync_api.Page", address: str) -> None:
    page.goto(address)
    settle(page)
    tab_to(page, typing_box(page))
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    details = answered_turn(page, 1).locator("details").first
    before = details.evaluate("details => details.open")
    tab_to(page, details.locator("summary"))
    page.keyboard.press("Enter")
    assert details.evaluate("details => details.open") is not before


def test_a_folder_is_imported(page: "sync_api.Page", program: Program, tmp_path: Path) -> None:
    folder = make_files(tmp_path / "keyboard", {"a.md": "# A note\n\nTyped by hand."})
    open_page(page, program, "imports")
    tab_to(page, page.locator("summary", has_text=words.ADD_SOURCE))
    page.keyboard.press("Enter")
    settle(page)
    tab_to(page, page.get_by_label(words.SOURCE_FIELDS["path"]))
    page.keyboard.type(str(folder))
    tab_to(page, page.get_by_role("button", name=words.ADD_AND_IMPORT))
    page.keyboard.press("Enter")
    see_state(page, ImportState.COMPLETED)
    see_document_count(page, 1)
