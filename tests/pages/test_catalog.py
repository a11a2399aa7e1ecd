"""The catalog page without a browser, over a scripted catalog."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from domain import Aspect, CatalogFilters, FilterField, NamedValue
from domain.errors import InputError, ModelUnavailableError
from services.catalog.catalog_question import BY_WORDS
from services.catalog.catalogs import CatalogSummary
from tests.pages.conftest import install_services, page_in_frame, page_text
from tests.pages.places import DESCRIPTION, ScriptedCatalog, ScriptedPeople, place_hit
from ui.catalog.catalog_form import (
    LAST_QUESTION,
    PENDING,
    PlaceRequest,
    examples_of,
    placeholder_of,
)
from ui.catalog.catalog_page import LAST_SELECTED
from ui.catalog.catalog_search_view import LAST_SEARCH
from ui.catalog.catalog_words import field_label
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import LANGUAGE

PAGE = "catalogue.py"
QUESTION = "분위기 좋은 이탈리안"


class Sources:
    """The state of the only source."""

    current_run = None

    def get(self, principal, source_id):
        return SimpleNamespace(run=self.current_run, source=SimpleNamespace(id=source_id))


class Queue:
    """A queue without a live worker."""

    def expects_worker(self):
        return False

    def get(self, principal, import_id):
        return Sources.current_run


class Worker:
    """Imports immediately."""

    def __init__(self, catalog):
        self.catalog = catalog
        self.waited = []

    def wait(self, principal, import_id, on_progress):
        self.waited.append(import_id)
        self.catalog.summaries = ScriptedCatalog().summaries


@dataclass
class Services:
    sign_in = None
    catalog: ScriptedCatalog = field(default_factory=ScriptedCatalog)
    people: ScriptedPeople = field(default_factory=ScriptedPeople)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        self.queue, self.worker = Queue(), Worker(self.catalog)
        queued = SimpleNamespace(id="import1")
        self.catalog_imports = SimpleNamespace(queue_sample=lambda _: queued)

    def warm_up(self) -> None:
        pass


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setattr(st, "page_link", lambda _page, *, label, **_: st.write(label))
    yield from install_services(Services(), monkeypatch)


@pytest.fixture
def page(services: Services) -> AppTest:
    return page_in_frame(PAGE).run()


def button(page: AppTest, label: str):
    return next(one for one in page.button if one.label.replace("\\", "") == label)


def ask(page: AppTest, question: str = QUESTION) -> str:
    page.text_input(key="places_question").set_value(question)
    button(page, words.PLACES_ASK).click().run()
    return page_text(page)


def test_three_examples_are_offered_before_the_first_question(page, services):
    examples = [one.label.replace("\\", "") for one in page.button]
    examples = [label for label in examples if label in words.PLACES_EXAMPLES]
    assert examples == [words.PLACES_EXAMPLES[2], *words.PLACES_EXAMPLES[:2]]  # English first
    button(page, words.PLACES_EXAMPLES[1]).click().run()
    assert services.catalog.requests[0]["question"] == words.PLACES_EXAMPLES[1]
    assert page.text_input(key="places_question").value == words.PLACES_EXAMPLES[1]
    assert words.PLACES_FOR_EXAMPLE not in page_text(page)


def test_the_answer_links_to_the_quotes_it_cites(page):
    html = ask(page)
    assert "It is lovely" in html
    assert 'href="document?id=d1&amp;start=' in html
    assert "1 quote found in the documents." in html


def test_each_place_is_a_card_with_its_facts(page):
    html = ask(page)
    assert html.count('<article class="fn-found-place">') == 2
    assert '<h3 aria-label="Trattoria Lucia"><a class="fn-title"' in html
    assert "Trattoria Lucia" in html
    assert "Italian restaurant" in html
    assert "★ 4.5 of 5 (32 ratings)" in html
    assert f'<ul class="fn-tags" aria-label="{words.TAGS}"><li>Ambience</li>' in html


def test_results_are_in_groups_by_what_they_match(page, services):
    services.catalog.weights = {"ambience": 0.9}
    best = {"aspects": {"ambience": (8, 1)}}
    services.catalog.places = (
        place_hit(1, "Loud", aspects={"ambience": (1, 4)}),
        place_hit(2, "Lovely", **best),
        place_hit(3, "Elsewhere", types=("bar",), **best),
    )
    html = ask(page)
    headings = [
        words.MATCH_ALL.one,
        words.MATCH_BUT.one.format(missing="Ambience"),
        words.MATCH_BUT.one.format(missing="Italian restaurant"),
    ]
    groups = re.split("<h2", html)[-3:]
    for group, heading, title, n in zip(
        groups, headings, ("Lovely", "Loud", "Elsewhere"), "213", strict=True
    ):
        assert heading in group
        assert f'<span class="fn-n">{n}</span><h3 aria-label="{title}">' in group
    assert f"✓ {words.MATCHES_ALL}" in groups[0]
    assert f"≠ {words.MATCHES_BUT.format(missing='Ambience')}" in groups[1]


def test_without_a_recognized_request_results_have_no_groups_or_marks(page, services):
    services.catalog.filters, services.catalog.weights = CatalogFilters(), {}
    html = ask(page)
    assert "fn-matches" not in html
    assert "fn-match " not in html


def test_a_score_is_explained_in_words(page):
    html = ask(page)
    for sentence in (
        words.REASON_FIT["hybrid"][0],
        words.REASON_RATING.many.format(rating="4.5", scale="5", n=32),
        words.REASON_TYPE,
        words.REASON_FIT["cross_encoder"][1],
    ):
        assert f"<li>{escape(sentence)}</li>" in html


def test_the_score_is_shown_as_a_number_next_to_its_bar(page):
    html = ask(page)
    for part, share in (("Words and meaning", "0.90"), ("Rating", "0.24"), ("Type", "0.50")):
        assert f"{part} <b>{share}</b>" in html
    assert "Parts of the score of 2.50: Words and meaning 0.90, Rating 0.24" in html
    assert "width:23.7%" in html  # 0.9 of at most 3.8


def test_a_card_explains_its_rank(page):
    html = ask(page)
    assert words.SCORE_DETAILS in html
    assert "<td>0.43</td><td>2</td><td>0.86</td>" in html
    assert "<blockquote>The ambience is lovely." in html


def test_patterns_show_the_group_and_count_and_mark_untranslated_text(page):
    html = ask(page)
    assert "[Korean review]" in html
    assert words.PATTERN_COUNT.format(count=2, reviews=5) in html
    assert "“분위기가 좋아요.”" in html
    assert f'aria-label="{words.PATTERN_OPEN}: 분위기가 좋아요."' in html
    assert "<small>in Korean</small>" in html


def test_filters_are_chips_and_pressing_one_searches_without_it(page, services):
    ask(page)
    labels = {one.key: one.label for one in page.button if one.key and "chip-" in one.key}
    assert set(labels) == {
        "chip-field-borough_en",
        "chip-type-italian_restaurant",
        "chip-rating",
        "chip-aspect-ambience",
        "chip-aspect-price",
    }
    assert labels["chip-field-borough_en"] == rf"Borough\: Brooklyn *{words.CHIP_HELP}*"
    page.button(key="chip-rating").click().run()
    last_search = services.catalog.requests[-1]
    assert last_search["question"] == QUESTION
    assert last_search["analysis"].filters.min_rating is None
    assert last_search["analysis"].filters.fields == {"borough_en": "Brooklyn"}
    assert "chip-rating" not in {one.key for one in page.button}


def test_the_other_chips_stay_when_the_search_without_one_fails(page, services):
    ask(page)
    services.catalog.error = ModelUnavailableError("The model is down.")
    services.catalog.fails_after = 0
    page.button(key="chip-rating").click().run()
    for _ in range(2):
        chips = {one.key for one in page.button if one.key and "chip-" in one.key}
        assert len(chips) == 4
        assert "chip-rating" not in chips
        page.run()


def test_alternative_values_are_separate_chips(page, services):
    several = CatalogFilters({"borough_en": ("Brooklyn", "Queens")})
    services.catalog.filters, services.catalog.weights = several, {}
    ask(page)
    chips = {one.key: one.label for one in page.button if one.key and "chip-" in one.key}
    assert list(chips.values()) == [
        rf"Borough\: {each} *{words.CHIP_HELP}*" for each in ("Brooklyn", "Queens")
    ]
    page.button(key="chip-field-borough_en=Brooklyn").click().run()
    assert services.catalog.requests[-1]["analysis"].filters.fields == {"borough_en": "Queens"}
    page.button(key="chip-field-borough_en").click().run()
    assert services.catalog.requests[-1]["analysis"].filters.fields == {}


def test_an_excluded_type_is_a_chip_that_can_be_removed(page, services):
    services.catalog.filters = CatalogFilters(declined_types=("italian_restaurant", "bar"))
    ask(page)
    chips = {one.key: one.label for one in page.button if one.key and "chip-declined" in one.key}
    assert chips["chip-declined-italian_restaurant"].startswith("Not Italian restaurant ")
    page.button(key="chip-declined-italian_restaurant").click().run()
    assert services.catalog.requests[-1]["analysis"].filters.declined_types == ("bar",)


def test_a_preferred_aspect_can_be_removed(page, services):
    ask(page)
    page.button(key="chip-aspect-price").click().run()
    assert services.catalog.requests[-1]["analysis"].aspect_weights["price"] is None


def test_a_question_without_filters_is_reported(page, services):
    services.catalog.filters, services.catalog.weights = CatalogFilters(), {}
    assert words.UNDERSTOOD_NOTHING in ask(page)


def test_moving_a_slider_saves_the_preference(page, services):
    page.slider(key="preference-0-food").set_value(4.5).run()
    assert services.people.person.preferences == {"food": 4.5}
    ask(page)
    assert services.catalog.requests[-1]["user_id"] == "me"


def test_saved_preferences_set_the_sliders_and_can_be_cleared(page, services):
    services.people.patch(None, "me", {"price": 1.0})
    reopened = page_in_frame(PAGE)
    reopened.run()
    assert reopened.slider(key="preference-0-price").value == 1.0
    button(reopened, words.PREFERENCES_FORGET).click().run()
    assert services.people.person.preferences == {}
    assert reopened.slider(key="preference-1-price").value == 2.5


def test_a_question_can_be_repeated_after_a_preference_changes(page, services):
    ask(page)
    page.button(key="chip-rating").click().run()
    page.slider(key="preference-0-food").set_value(4.5).run()
    assert words.PREFERENCES_CHANGED in page_text(page)
    page.button(key="places-ask-again").click().run()
    last_search = services.catalog.requests[-1]
    assert last_search["user_id"] == "me"
    assert last_search["analysis"].filters.min_rating is None
    assert words.PREFERENCES_CHANGED not in page_text(page.run())


def test_an_interrupted_search_can_be_repeated(page, services):
    ask(page)
    page.session_state[LAST_SEARCH].answer = None
    assert words.PLACES_CUT_SHORT in page_text(page.run())
    page.button(key="places-ask-again").click().run()
    assert "It is lovely" in page_text(page)
    assert words.PLACES_CUT_SHORT not in page_text(page.run())


def after_another_page(page: AppTest) -> AppTest:
    """Rerun the page as after visiting another: Streamlit has dropped only its widget values."""
    reopened = page_in_frame(PAGE)
    for key in (LAST_QUESTION, LAST_SELECTED, LAST_SEARCH):
        if key in page.session_state:
            reopened.session_state[key] = page.session_state[key]
    return reopened.run()


def test_the_question_stays_in_its_field_after_another_page(page):
    ask(page)
    reopened = after_another_page(page)
    assert reopened.text_input(key="places_question").value == QUESTION
    assert "It is lovely" in page_text(reopened)


def homes(services: Services) -> CatalogSummary:
    """A second catalog."""
    allowed = NamedValue("allowed", {"en": ("pets allowed", "pet-friendly")})
    pets = FilterField("pets", "pets", (allowed, NamedValue("on request", {"en": ()})))
    description = replace(DESCRIPTION, name="Homes", types=(), filters=(pets,))
    values = {"pets": ["allowed", "on request"]}
    summary = CatalogSummary("c2", "Homes", 2, description, values, ["studio"])
    services.catalog.summaries.append(summary)
    return summary


def test_the_chosen_catalog_stays_after_another_page(page, services):
    homes(services)
    page.run().selectbox(key="places_catalog").select("c2").run()
    assert after_another_page(page).selectbox(key="places_catalog").value == "c2"


def test_examples_fall_back_to_the_words_of_the_catalog(services):
    summary = homes(services)
    assert examples_of(summary) == ["Studio, Pets allowed", "On request"]
    assert placeholder_of(summary) == "Studio, Pets allowed"


def test_a_value_is_shown_by_the_name_in_the_description(services):
    description = homes(services).description
    assert field_label(description, "pets", "allowed") == "Pets allowed"
    assert field_label(description, "pets", "on request") == "Pets: On request"


def test_an_aspect_is_shown_by_its_name_in_the_readers_language(services):
    quiet = Aspect("quiet", {"en": ("noise",), "ko": ("방음", "소음")}, {"en": ("silent",)})
    summary = services.catalog.summaries[0]
    description = replace(DESCRIPTION, aspects=(quiet, Aspect("price")))
    services.catalog.summaries = [replace(summary, description=description)]
    services.catalog.weights = {"quiet": 0.9, "price": 0.1}
    services.catalog.places = (replace(place_hit(1, "Alba"), tags=("quiet",)),)
    page = page_in_frame(PAGE)
    page.session_state[LANGUAGE] = "ko"
    page.session_state[PENDING] = PlaceRequest(QUESTION)
    html = page_text(page.run())
    assert [one.label.partition(" (")[0] for one in page.slider] == ["방음", "가격"]
    assert page.button(key="chip-aspect-quiet").label.startswith("방음")
    assert "<li>방음</li>" in html


def test_a_catalog_without_types_and_filters_has_no_examples(services):
    summary = replace(homes(services), filters={}, types=[])
    assert examples_of(summary) == []
    assert placeholder_of(summary) == ""


def test_no_person_is_created_before_a_preference_is_set(page, services):
    ask(page)
    assert services.catalog.requests[-1]["user_id"] == ""


def test_notices_for_the_operator_are_collapsed_below_the_results(page, services):
    services.catalog.notices = ("No reranker is set.",)
    results, _, details = ask(page).partition('<details class="fn-more fn-operator">')
    assert words.PLACES_DETAILS in details
    assert "No reranker is set." in details
    assert words.UNDERSTOOD_AS.format(query="italian with ambience") in details
    assert "No reranker is set." not in results
    assert "italian with ambience" not in results


def test_a_notice_that_helps_to_ask_is_shown_above_the_results(page, services):
    services.catalog.notices = (BY_WORDS,)
    html = ask(page)
    assert html.index(BY_WORDS) < html.index("fn-found-place")
    assert html.count(BY_WORDS) == 1


def test_without_matching_places_only_the_answer_says_so(page, services):
    services.catalog.places = ()
    html = ask(page)
    assert "It is lovely" in html
    assert words.PLACES_NOT_FOUND not in html
    assert "fn-found-place" not in html


def test_without_places_or_an_answer_the_page_suggests_what_to_do(page, services):
    services.catalog.places = ()
    services.catalog.error = ModelUnavailableError("The model is down.")
    services.catalog.fails_after = 2
    assert words.PLACES_NOT_FOUND in ask(page)


def test_without_coordinates_there_is_no_map(page, services):
    assert words.PLACES_MAP in ask(page)
    services.catalog.places = (place_hit(1, "Somewhere", latitude=None, longitude=None),)
    assert words.PLACES_MAP not in ask(page)


def test_many_places_are_collapsed_after_the_first(page, services):
    services.catalog.places = tuple(place_hit(n, f"Place {n}") for n in range(1, 21))
    assert words.count(words.PLACE_MORE, 12) in ask(page)


def test_a_rejected_question_shows_the_reason(page, services):
    services.catalog.error, services.catalog.fails_after = InputError("It is empty."), 0
    assert "It is empty." in ask(page, "")


def test_a_rejected_question_keeps_the_earlier_results(page, services):
    ask(page)
    services.catalog.error, services.catalog.fails_after = InputError("It is empty."), 0
    html = ask(page, "")
    assert "It is empty." in html
    assert "It is lovely" in html
    html = page_text(page.run())
    assert "It is empty." not in html
    assert "It is lovely" in html


def refuse(services: Services) -> None:
    services.catalog.places, services.catalog.is_refusal = (), True


def test_a_question_that_is_not_about_the_catalog_offers_examples(page, services):
    refuse(services)
    html = ask(page, "What is the capital of France?")
    assert "It is lovely" in html  # the scripted answer
    for absent in (words.PLACES_NOT_FOUND, words.UNDERSTOOD, 'class="fn-activity"', "fn-verdict"):
        assert absent not in html
    button(page, words.PLACES_EXAMPLES[0]).click().run()
    assert services.catalog.requests[-1]["question"] == words.PLACES_EXAMPLES[0]


def test_a_refused_question_can_be_searched_anyway(page, services):
    refuse(services)
    ask(page, "Where is Lucia?")
    page.run().button(key="places-anyway").click().run()
    last_search = services.catalog.requests[-1]
    assert last_search["question"] == "Where is Lucia?"
    assert last_search["analysis"].question == "Where is Lucia?"


def test_places_stay_visible_when_the_model_fails(page, services):
    services.catalog.error = ModelUnavailableError("The model is down.")
    services.catalog.fails_after = 3
    html = ask(page)
    assert "The model is down." in html
    assert "Trattoria Lucia" in html
    assert "The model is down." in page_text(page.run())


def test_results_stay_when_the_page_reruns(page, services):
    ask(page)
    html = page_text(page.run())
    assert "It is lovely" in html
    assert len(services.catalog.requests) == 1


def test_without_a_catalog_the_sample_can_be_added(page, services):
    services.catalog.summaries = []
    html = page_text(page.run())
    assert words.PLACES_NONE in html
    assert words.PLACES_ADD_OWN in html
    assert not page.text_input
    page.button(key="add-sample-catalog").click().run()
    assert services.worker.waited == ["import1"]
    assert page.text_input


def test_a_catalog_without_places_says_where_to_look(page, services):
    services.catalog.summaries = [
        one.__class__(one.id, one.name, 0, one.description, {}, [])
        for one in services.catalog.summaries
    ]
    assert words.PLACES_EMPTY.format(name="Restaurants") in page_text(page.run())


def test_markup_in_the_data_is_shown_as_text(page, services):
    services.catalog.places = (place_hit(1, "<img src=x onerror=alert(1)>"),)
    html = ask(page)
    assert "<img src=x" not in html
    assert "&lt;img" in html
