"""The retrieval lab in a real browser, opened by its URL."""

import pytest

from tests.browser.actions import (
    PHONE,
    click_when_idle,
    press,
    screenshot,
    scrolls_sideways,
    settle,
)
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def lab(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The lab after a comparison."""
    page.goto(f"{address}/retrieval_lab")
    page.get_by_label(words.LAB_QUESTION).fill("노트북을 잃어버리면 어떻게 해야 하나요?")
    press(page, words.LAB_COMPARE)
    page.locator(".fn-why").first.wait_for(state="attached")
    settle(page)
    return page


def test_the_lab_opens_by_url_and_shows_each_mode(lab: "sync_api.Page") -> None:
    lab.get_by_role("heading", name=words.LAB_TITLE).wait_for()
    for mode in ("similarity", "bm25", "ensemble", "convex"):
        lab.get_by_role("heading", name=words.MODES[mode], exact=True).wait_for()
    sync_api.expect(lab.locator("mark", has_text="노트북").first).to_be_attached()
    screenshot(lab, "retrieval-lab")


def test_labeling_a_passage_as_right_enables_measurement(lab: "sync_api.Page") -> None:
    lab.get_by_text(words.WHY).first.click()
    click_when_idle(lab.get_by_role("button", name=words.RIGHT_PASSAGE).first)
    lab.get_by_text(words.TAKE_BACK).first.wait_for()
    press(lab, words.MEASURE)
    lab.get_by_text("nDCG@10").first.wait_for()
    click_when_idle(lab.get_by_role("button", name=words.TAKE_BACK).first)
    lab.get_by_text(words.LABELED.many.format(n=0)).wait_for()


def test_the_lab_scrolls_only_vertically_on_a_phone(lab: "sync_api.Page") -> None:
    lab.set_viewport_size(PHONE)
    settle(lab)
    assert not scrolls_sideways(lab)
    screenshot(lab, "retrieval-lab-phone")
