"""The retrieval lab through a real browser, opened by its own address."""

import pytest

from tests.browser.actions import PHONE, screenshot, scrolls_sideways, settle, still
from ui import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def lab(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The lab after a comparison."""
    page.goto(f"{address}/retrieval_lab")
    page.get_by_label(words.LAB_QUESTION).fill("노트북을 잃어버리면 어떻게 해야 하나요?")
    page.get_by_role("button", name=words.LAB_COMPARE).click()
    page.locator(".fn-why").first.wait_for(state="attached")
    settle(page)
    return page


def test_it_is_there_by_its_own_address_and_shows_each_mode(lab: "sync_api.Page") -> None:
    lab.get_by_role("heading", name=words.LAB_TITLE).wait_for()
    for mode in ("similarity", "bm25", "ensemble", "convex"):
        lab.get_by_role("heading", name=words.MODES[mode], exact=True).wait_for()
    sync_api.expect(lab.locator("mark", has_text="노트북").first).to_be_attached()
    screenshot(lab, "retrieval-lab")


def test_a_passage_marked_as_right_is_measured(lab: "sync_api.Page") -> None:
    lab.get_by_text(words.WHY).first.click()
    still(lab)
    lab.get_by_role("button", name=words.RIGHT_PASSAGE).first.click()
    lab.get_by_text(words.TAKE_BACK).first.wait_for()
    lab.get_by_role("button", name=words.MEASURE).click()
    lab.get_by_text("nDCG@10").first.wait_for()
    lab.get_by_role("button", name=words.TAKE_BACK).first.click()
    lab.get_by_text(words.LABELLED.many.format(n=0)).wait_for()


def test_on_a_phone_it_scrolls_down_only(lab: "sync_api.Page") -> None:
    lab.set_viewport_size(PHONE)
    settle(lab)
    assert not scrolls_sideways(lab)
    screenshot(lab, "retrieval-lab-phone")
