"""The catalog page in a real browser: ask, remove a chip, check a quote, also on a phone."""

import re
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.browser.actions import (
    PHONE,
    press,
    screenshot,
    scrolls_sideways,
    until,
    wait_for_animations,
)
from tests.browser.program import ROOT, START_S, running
from tests.fakes.openai import EMBEDDING_MODEL, OpenAIServer
from tests.fakes.restaurants import write_restaurants
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "분위기 좋은 브루클린 이탈리안"


@pytest.fixture(scope="module")
def with_embedder(clean_environment: dict[str, str], embedder: OpenAIServer) -> dict[str, str]:
    return clean_environment | {
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }


@pytest.fixture(scope="module")
def address(
    chromium: str, with_embedder: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The base URL of the program over a library with four restaurants."""
    folder = tmp_path_factory.mktemp("places")
    environment = with_embedder | {"FOOTNOTE_DATA_DIR": str(folder / "data")}
    path = write_restaurants(folder / "restaurants")
    command = [sys.executable, "cli.py", "catalog", "add", str(path)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=START_S)
    with running(environment) as program:
        yield f"{program.address}/catalogue"


@pytest.fixture
def places(page: "sync_api.Page", address: str) -> "sync_api.Page":
    """The catalog page before the first question."""
    page.goto(address)
    question(page).wait_for()
    return page


def question(page: "sync_api.Page") -> "sync_api.Locator":
    return page.get_by_label(words.PLACES_QUESTION)


def ask(page: "sync_api.Page", text: str) -> None:
    """Ask and wait for the checked answer."""
    question(page).fill(text)
    page.keyboard.press("Enter")
    page.locator(".fn-verdict").wait_for()
    wait_for_animations(page)


def cards(page: "sync_api.Page") -> "sync_api.Locator":
    return page.locator(".fn-found-place")


def chip(page: "sync_api.Page", text: str) -> "sync_api.Locator":
    return page.locator(".st-key-understood").get_by_role("button", name=text)


def test_a_question_gets_an_answer_cards_and_a_map_without_outside_requests(places):
    ask(places, QUESTION)
    sync_api.expect(cards(places).filter(has_text="Trattoria Lucia")).to_have_count(1)
    picture = places.locator("img.fn-map")
    sync_api.expect(picture).to_be_visible()
    until(places, "document.querySelector('img.fn-map').naturalWidth > 0")
    assert {urlsplit(url).hostname for url in places.requested if url.startswith("http")} == {
        "localhost"
    }


def test_a_marker_opens_the_document_at_the_quote(places):
    ask(places, QUESTION)
    with places.context.expect_page() as new_page:
        places.locator("a.fn-cite[aria-label$='Trattoria Lucia']").last.click()
    sync_api.expect(new_page.value.locator(".fn-reading mark").first).to_be_visible()
    sync_api.expect(new_page.value.locator("h1")).to_contain_text("Trattoria Lucia")


def test_pressing_a_chip_searches_without_its_filter(places):
    ask(places, QUESTION)
    sync_api.expect(cards(places)).to_have_count(2)  # the places in Brooklyn
    chip(places, "Borough: Brooklyn").click()
    sync_api.expect(cards(places)).to_have_count(4)
    sync_api.expect(chip(places, "Borough: Brooklyn")).to_have_count(0)
    sync_api.expect(chip(places, "Italian restaurant")).to_have_count(1)


def test_a_chip_describes_its_action_to_screen_readers(places):
    ask(places, QUESTION)
    name = f"Borough: Brooklyn {words.CHIP_HELP}"
    button = places.get_by_role("button", name=name, exact=True)
    sync_api.expect(button).to_have_count(1)
    assert button.locator("em").bounding_box()["width"] <= 1


def test_focus_moves_to_the_next_chip_and_results_are_announced(places):
    ask(places, QUESTION)
    chip(places, "Borough: Brooklyn").press("Enter")
    sync_api.expect(cards(places)).to_have_count(4)
    sync_api.expect(places.get_by_role("status").get_by_text("4 places")).to_be_visible()
    places.keyboard.press("Tab")
    sync_api.expect(chip(places, "Italian restaurant")).to_be_focused()


def test_a_card_expands_to_explain_its_rank(places):
    ask(places, QUESTION)
    first = cards(places).first
    first.get_by_text(words.SCORE_DETAILS).click()
    sync_api.expect(first.get_by_role("cell", name=words.PARTS["hybrid"])).to_be_visible()
    sync_api.expect(first.locator("blockquote").first).to_be_visible()


def service_slider(page: "sync_api.Page") -> "sync_api.Locator":
    page.get_by_text(words.PREFERENCES, exact=True).click()
    return page.get_by_role("slider", name="Service")


def test_a_preference_survives_a_reload(places):
    slider = service_slider(places)
    sync_api.expect(slider).to_have_value("2.5")
    slider.press("ArrowRight")
    sync_api.expect(places.get_by_text("Service", exact=True)).to_be_visible()  # now it is set
    places.reload()
    sync_api.expect(service_slider(places)).to_have_value("3")


def test_a_question_can_be_repeated_after_a_preference_changes(places):
    ask(places, QUESTION)
    service_slider(places).press("ArrowRight")
    places.get_by_text(words.PREFERENCES_CHANGED).wait_for()
    press(places, words.ASK_AGAIN)
    sync_api.expect(places.get_by_text(words.PREFERENCES_CHANGED)).to_have_count(0)
    places.locator(".fn-verdict").wait_for()


def test_the_question_and_results_survive_a_visit_to_another_page(places):
    ask(places, QUESTION)
    places.get_by_role("link", name=words.LIBRARY_PAGE).first.click()
    sync_api.expect(question(places)).to_have_count(0)
    places.get_by_role("link", name=words.PLACES_PAGE).first.click()
    sync_api.expect(question(places)).to_have_value(QUESTION)
    sync_api.expect(cards(places)).to_have_count(2)


def test_screen_readers_get_a_description_of_the_map_and_a_results_heading(places):
    ask(places, QUESTION)
    name = re.compile("Brooklyn.*Trattoria Lucia")
    sync_api.expect(places.get_by_role("img", name=name)).to_be_visible()
    sync_api.expect(places.get_by_role("heading", name=words.PLACES_MAP, level=2)).to_be_visible()
    heading = places.get_by_role("heading", name="Trattoria Lucia", level=3, exact=True)
    sync_api.expect(heading).to_have_count(1)


def test_headings_form_an_outline_without_gaps(places):
    ask(places, QUESTION)
    headings = places.locator(".stMain").locator("h1, h2, h3, h4, h5, h6")
    outline = headings.evaluate_all("all => all.map((one) => `${one.tagName} ${one.textContent}`)")
    assert [one for one in outline if "H3" not in one] == [
        f"H1 {words.PLACES_TITLE}",
        f"H2 {words.PLACES_ANSWER}",
        f"H2 {words.PLACES_MAP}",
        *(f"H2 {one.text_content()}" for one in places.locator(".fn-matches").all()),
    ]
    assert outline[2].startswith("H3 1. ")


def test_each_card_says_what_its_place_matches(places):
    ask(places, QUESTION)
    sync_api.expect(places.locator(".fn-matches").first).to_contain_text("match")
    sync_api.expect(cards(places).locator(".fn-match")).to_have_count(2)


def test_a_question_about_something_else_is_refused_and_can_be_searched_anyway(places):
    question(places).fill("What is the capital of France?")
    places.keyboard.press("Enter")
    anyway = places.get_by_role("button", name=words.PLACES_ANYWAY)
    anyway.wait_for()
    sync_api.expect(cards(places)).to_have_count(0)
    anyway.click()
    places.locator(".fn-verdict").wait_for()
    sync_api.expect(cards(places)).to_have_count(4)


def test_cards_form_one_column_on_a_phone_without_sideways_scrolling(places):
    places.set_viewport_size(PHONE)
    ask(places, QUESTION)
    left_edges = {round(card.bounding_box()["x"]) for card in cards(places).all()}
    assert len(left_edges) == 1
    assert not scrolls_sideways(places)
    for summary in cards(places).first.locator("summary").all():
        summary.click()
    assert not scrolls_sideways(places)


def test_importing_the_sample_catalog_shows_its_progress(
    page, chromium, clean_environment, tmp_path
):
    environment = clean_environment | {"FOOTNOTE_DATA_DIR": str(tmp_path / "data")}
    with running(environment) as program:
        page.goto(f"{program.address}/catalogue")
        menu = page.get_by_role("link", name=words.PLACES_PAGE)
        page.get_by_role("button", name=words.PLACES_ADD_SAMPLE).wait_for()
        sync_api.expect(menu).to_have_count(0)
        press(page, words.PLACES_ADD_SAMPLE)
        page.get_by_text(words.PLACES_IMPORTING).wait_for()
        sync_api.expect(menu.first).to_be_visible()
        question(page).wait_for(timeout=180_000)
        press(page, words.PLACES_EXAMPLES[2])
        page.locator(".fn-verdict").wait_for()
        sync_api.expect(cards(page).first).to_contain_text("Queens")
        screenshot(page, "places")
        page.set_viewport_size(PHONE)
        screenshot(page, "places-phone")
        assert not scrolls_sideways(page)
