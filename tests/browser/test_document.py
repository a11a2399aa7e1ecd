"""Opening the document of a citation in a real browser."""

from pathlib import Path

import pytest

from tests.browser.actions import PHONE, ask, click_when_idle, press, screenshot, scrolls_sideways
from tests.browser.importing import (
    import_folder,
    make_files,
    open_page,
    see_rows,
    select_row,
)
from tests.browser.program import Program
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "노트북을 잃어버리면 어떻게 해야 하나요?"
QUOTE = "1시간 안에 보안팀 당직 전화 051-555-0142로 신고합니다"


@pytest.fixture
def document(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The document page, opened from a marker in an answer; the chat stays open."""
    page.goto(address)
    turn = ask(page, QUESTION)
    chat = page.url
    with page.context.expect_page() as new_page:
        turn.locator("a.fn-cite").first.click()
    assert page.url == chat
    return new_page.value


def test_a_marker_opens_the_document_at_the_quote_next_to_the_original_page(
    document: "sync_api.Page",
) -> None:
    mark = document.locator(".fn-reading mark")
    sync_api.expect(mark).to_contain_text(QUOTE)
    sync_api.expect(mark).to_be_in_viewport()
    sync_api.expect(document.get_by_role("heading", name="보안 안내서", level=1)).to_be_visible()
    sync_api.expect(document.get_by_role("img", name="보안 안내서")).to_be_visible()
    screenshot(document, "document")

    document.set_viewport_size(PHONE)
    document.reload()
    sync_api.expect(mark).to_be_in_viewport()
    assert not scrolls_sideways(document)
    screenshot(document, "document-phone")


def test_a_source_title_opens_a_document_without_pages_at_the_quote(
    page: "sync_api.Page", address: str
) -> None:
    page.goto(address)
    turn = ask(page, "How many days of annual leave do new employees get?")
    with page.context.expect_page() as new_page:
        turn.locator("a.fn-title").first.click()
    document = new_page.value
    mark = document.locator(".fn-reading mark").first
    sync_api.expect(mark).to_contain_text("New employees get 25 days of annual leave a year")
    sync_api.expect(mark).to_be_in_viewport()
    sync_api.expect(
        document.get_by_role("heading", name="Leave policy (Bristol)", level=1)
    ).to_be_visible()
    sync_api.expect(document.get_by_test_id("stImage")).to_have_count(0)
    screenshot(document, "document-text")


def test_words_are_found_in_the_document(document: "sync_api.Page") -> None:
    field = document.get_by_placeholder(words.FIND_IN_DOCUMENT)
    field.fill("보안팀")
    field.press("Enter")
    current = document.locator(".fn-reading .fn-current")
    sync_api.expect(current).to_have_text("보안팀")
    sync_api.expect(current).to_be_in_viewport()
    before = document.locator(".fn-place").inner_text()
    press(document, words.NEXT_MATCH)
    sync_api.expect(document.locator(".fn-place")).not_to_have_text(before)
    sync_api.expect(current).to_be_in_viewport()


def test_an_entry_of_the_outline_leads_to_its_heading(document: "sync_api.Page") -> None:
    outline = document.locator(".fn-outline.fn-narrow")  # the picture leaves no room beside it
    sync_api.expect(outline.locator("nav")).to_be_hidden()
    outline.locator("summary").click()
    entry = outline.locator("nav a").last
    entry.click()
    heading = document.locator(".fn-reading").get_by_role("heading", name=entry.inner_text())
    sync_api.expect(heading.last).to_be_in_viewport()


def test_from_another_part_of_a_long_document_a_button_leads_back_to_the_passage(
    page: "sync_api.Page", program: Program, tmp_path: Path
) -> None:
    sections = [f"# Section {n} of marathon\n\n" + "Many words fill it. " * 450 for n in range(20)]
    folder = make_files(tmp_path / "marathon", {"marathon.md": "\n\n".join(sections)})
    import_folder(page, program, folder)
    open_page(page, program, "library")
    page.get_by_label(words.FIND_DOCUMENTS).fill("marathon")
    page.keyboard.press("Enter")
    see_rows(page, 1)
    select_row(page, 0)
    press(page, words.SHOW_PASSAGES)
    click_when_idle(page.get_by_role("link", name=words.READ_HERE).nth(3))
    passage = page.locator(".fn-reading .fn-focus")
    sync_api.expect(passage.first).to_be_in_viewport()

    press(page, words.LATER_PART)
    sync_api.expect(passage).to_have_count(0)
    sync_api.expect(page.locator(".fn-reading h2").first).to_be_in_viewport()
    press(page, words.BACK_TO_PASSAGE)
    sync_api.expect(passage.first).to_be_in_viewport()

    page.locator(".fn-outline a:visible", has_text="Section 19 of marathon").click()
    heading = page.locator(".fn-reading h2", has_text="Section 19 of marathon")
    sync_api.expect(heading).to_be_in_viewport()
    press(page, words.BACK_TO_PASSAGE)
    sync_api.expect(passage.first).to_be_in_viewport()


def test_a_marker_shows_its_quote_on_hover_and_focus(page: "sync_api.Page", address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(address)
    turn = ask(page, QUESTION)
    marker = turn.locator("a.fn-cite").first
    quote = turn.get_by_role("tooltip").first
    sync_api.expect(quote).to_be_hidden()
    marker.focus()
    sync_api.expect(quote).to_be_visible()
    sync_api.expect(quote).to_contain_text(QUOTE)
    assert not scrolls_sideways(page)
    page.keyboard.press("Escape")
    sync_api.expect(quote).to_be_hidden()
