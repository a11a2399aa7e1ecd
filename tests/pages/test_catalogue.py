"""The page of places, run without a browser over a catalogue that plays a script."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from catalog.catalogues import CatalogueSummary
from domain import Aspect, CatalogueFilters, FilterField, NamedValue
from errors import InputError, ModelUnavailableError
from tests.pages.conftest import framed, served, shown
from tests.pages.places import DESCRIPTION, ScriptedCatalogue, ScriptedPeople, found
from ui import words
from ui.catalogue import LAST_CHOSEN
from ui.catalogue_examples import examples_of, placeholder_of
from ui.catalogue_form import LAST_QUESTION, PENDING, PlacesAsked
from ui.catalogue_map import place_map
from ui.catalogue_places import SHOWN
from ui.catalogue_words import field_label
from ui.language import LANGUAGE

PAGE = "catalogue.py"
QUESTION = "분위기 좋은 이탈리안"


class Sources:
    """How the only source stands."""

    job = None

    def get(self, principal, source_id):
        return SimpleNamespace(job=self.job, source=SimpleNamespace(id=source_id))


class Queue:
    """Imports at once what is queued, where there is no worker."""

    def __init__(self, catalogue):
        self.catalogue = catalogue
        self.waited = []

    def expects_worker(self):
        return False

    def wait(self, principal, import_id, on_progress):
        self.waited.append(import_id)
        self.catalogue.known = ScriptedCatalogue().known

    def get(self, principal, import_id):
        return Sources.job


@dataclass
class Services:
    catalogue: ScriptedCatalogue = field(default_factory=ScriptedCatalogue)
    people: ScriptedPeople = field(default_factory=ScriptedPeople)
    sources: Sources = field(default_factory=Sources)

    def __post_init__(self) -> None:
        self.queue = Queue(self.catalogue)
        queued = SimpleNamespace(id="import1")
        self.catalogue_imports = SimpleNamespace(queue_sample=lambda _: queued)

    def warm_up(self) -> None:
        pass


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setattr(st, "page_link", lambda _page, *, label, icon: st.write(label))
    yield from served(Services(), monkeypatch)


@pytest.fixture
def page(services: Services) -> AppTest:
    return framed(PAGE).run()


def button(page: AppTest, label: str):
    return next(one for one in page.button if one.label.replace("\\", "") == label)


def ask(page: AppTest, question: str = QUESTION) -> str:
    page.text_input(key="places_question").set_value(question)
    button(page, words.PLACES_ASK).click().run()
    return shown(page)


def test_before_a_question_three_examples_can_be_asked(page, services):
    assert all(button(page, example) for example in words.PLACES_EXAMPLES)
    button(page, words.PLACES_EXAMPLES[1]).click().run()
    assert services.catalogue.asked[0]["question"] == words.PLACES_EXAMPLES[1]
    assert page.text_input(key="places_question").value == words.PLACES_EXAMPLES[1]
    assert words.PLACES_FOR_EXAMPLE not in shown(page)


def test_the_answer_links_to_the_words_it_cites(page):
    html = ask(page)
    assert "It is lovely" in html
    assert 'href="document?id=d1&amp;start=' in html
    assert words.QUOTES_FOUND.one in html


def test_each_place_is_a_card_with_what_it_is(page):
    html = ask(page)
    assert html.count('<article class="fn-found-place">') == 2
    assert '<h3 aria-label="Trattoria Lucia"><a class="fn-title"' in html
    assert "Trattoria Lucia" in html
    assert "Italian restaurant" in html
    assert "★ 4.5 of 5 (32 ratings)" in html
    assert f'<ul class="fn-tags" aria-label="{words.TAGS}"><li>Ambience</li>' in html


def test_the_score_is_told_in_numbers_beside_its_bar(page):
    html = ask(page)
    for part, share in (("Words and meaning", "0.90"), ("Rating", "0.24"), ("Type", "0.50")):
        assert f"{part} <b>{share}</b>" in html
    assert "What the score of 2.50 is made of: Words and meaning 0.90, Rating 0.24" in html
    assert "width:23.7%" in html  # 0.9 of at most 3.8


def test_a_card_tells_why_the_place_is_there(page):
    html = ask(page)
    assert words.WHY_PLACE in html
    assert "<td>0.43</td><td>2</td><td>0.86</td>" in html
    assert "<blockquote>The ambience is lovely." in html


def test_patterns_tell_the_group_the_count_and_mark_what_is_not_translated(page):
    html = ask(page)
    assert "[Korean review]" in html
    assert words.PATTERN_COUNT.format(count=2, reviews=5) in html
    assert "“분위기가 좋아요.”" in html
    assert f'aria-label="{words.PATTERN_OPEN}: 분위기가 좋아요."' in html
    assert f"<small>{words.PATTERN_ORIGINAL}</small>" in html


def test_what_was_understood_are_chips_and_pressing_one_searches_without_it(page, services):
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
    again = services.catalogue.asked[-1]
    assert again["question"] == QUESTION
    assert again["understood"].filters.min_rating is None
    assert again["understood"].filters.fields == {"borough_en": "Brooklyn"}
    assert "chip-rating" not in {one.key for one in page.button}


def test_the_other_chips_stay_where_the_search_without_one_fails_at_once(page, services):
    ask(page)
    services.catalogue.error = ModelUnavailableError("The model is down.")
    services.catalogue.fails_after = 0
    page.button(key="chip-rating").click().run()
    for _ in range(2):
        chips = {one.key for one in page.button if one.key and "chip-" in one.key}
        assert len(chips) == 4
        assert "chip-rating" not in chips
        page.run()


def test_each_value_of_which_any_will_do_is_a_chip_of_its_own(page, services):
    several = CatalogueFilters({"borough_en": ("Brooklyn", "Queens")})
    services.catalogue.filters, services.catalogue.weights = several, {}
    ask(page)
    chips = {one.key: one.label for one in page.button if one.key and "chip-" in one.key}
    assert list(chips.values()) == [
        rf"Borough\: {each} *{words.CHIP_HELP}*" for each in ("Brooklyn", "Queens")
    ]
    page.button(key="chip-field-borough_en=Brooklyn").click().run()
    assert services.catalogue.asked[-1]["understood"].filters.fields == {"borough_en": "Queens"}
    page.button(key="chip-field-borough_en").click().run()
    assert services.catalogue.asked[-1]["understood"].filters.fields == {}


def test_a_declined_type_is_a_chip_that_can_be_taken_out(page, services):
    services.catalogue.filters = CatalogueFilters(declined_types=("italian_restaurant", "bar"))
    ask(page)
    chips = {one.key: one.label for one in page.button if one.key and "chip-declined" in one.key}
    assert chips["chip-declined-italian_restaurant"].startswith("Not Italian restaurant ")
    page.button(key="chip-declined-italian_restaurant").click().run()
    assert services.catalogue.asked[-1]["understood"].filters.declined_types == ("bar",)


def test_a_wish_can_be_taken_out_as_well(page, services):
    ask(page)
    page.button(key="chip-aspect-price").click().run()
    assert services.catalogue.asked[-1]["understood"].aspect_weights["price"] is None


def test_where_nothing_was_understood_it_is_said(page, services):
    services.catalogue.filters, services.catalogue.weights = CatalogueFilters(), {}
    assert words.UNDERSTOOD_NOTHING in ask(page)


def test_a_preference_is_kept_when_its_slider_is_moved(page, services):
    page.slider(key="preference-food").set_value(4.5).run()
    assert services.people.kept.preferences == {"food": 4.5}
    ask(page)
    assert services.catalogue.asked[-1]["user_id"] == "me"


def test_kept_preferences_stand_on_the_sliders_and_can_be_forgotten(page, services):
    services.people.patch(None, "me", {"price": 1.0})
    again = framed(PAGE)
    again.run()
    assert again.slider(key="preference-price").value == 1.0
    button(again, words.PREFERENCES_FORGET).click().run()
    assert services.people.kept.preferences == {}
    assert again.slider(key="preference-price").value == 2.5


def test_after_a_preference_has_changed_the_same_can_be_asked_again(page, services):
    ask(page)
    page.button(key="chip-rating").click().run()
    page.slider(key="preference-food").set_value(4.5).run()
    assert words.PREFERENCES_CHANGED in shown(page)
    page.button(key="places-ask-again").click().run()
    again = services.catalogue.asked[-1]
    assert again["user_id"] == "me"
    assert again["understood"].filters.min_rating is None
    assert words.PREFERENCES_CHANGED not in shown(page.run())


def test_a_search_that_was_cut_short_can_be_asked_again(page, services):
    ask(page)
    page.session_state[SHOWN].answer = None
    assert words.PLACES_CUT_SHORT in shown(page.run())
    page.button(key="places-ask-again").click().run()
    assert "It is lovely" in shown(page)
    assert words.PLACES_CUT_SHORT not in shown(page.run())


def after_another_page(page: AppTest) -> AppTest:
    """The page once more; Streamlit has dropped what its fields held, and nothing else."""
    again = framed(PAGE)
    for key in (LAST_QUESTION, LAST_CHOSEN, SHOWN):
        if key in page.session_state:
            again.session_state[key] = page.session_state[key]
    return again.run()


def test_the_question_stands_in_its_field_after_another_page(page):
    ask(page)
    again = after_another_page(page)
    assert again.text_input(key="places_question").value == QUESTION
    assert "It is lovely" in shown(again)


def homes(services: Services) -> CatalogueSummary:
    """Another catalogue, beside the restaurants."""
    allowed = NamedValue("allowed", {"en": ("pets allowed", "pet-friendly")})
    pets = FilterField("pets", "pets", (allowed, NamedValue("on request", {"en": ()})))
    description = replace(DESCRIPTION, name="Homes", types=(), filters=(pets,))
    values = {"pets": ["allowed", "on request"]}
    known = CatalogueSummary("c2", "Homes", 2, description, values, ["studio"])
    services.catalogue.known.append(known)
    return known


def test_the_catalogue_that_was_chosen_stays_so_after_another_page(page, services):
    homes(services)
    page.run().selectbox(key="places_catalogue").select("c2").run()
    assert after_another_page(page).selectbox(key="places_catalogue").value == "c2"


def test_examples_are_made_of_the_words_of_a_catalogue_that_the_written_ones_do_not_fit(services):
    known = homes(services)
    assert examples_of(known) == ["Studio, Pets allowed", "On request"]
    assert placeholder_of(known) == "Studio, Pets allowed"


def test_a_value_is_called_what_its_description_calls_it(services):
    description = homes(services).description
    assert field_label(description, "pets", "allowed") == "Pets allowed"
    assert field_label(description, "pets", "on request") == "Pets: On request"


def test_an_aspect_of_the_catalogue_is_called_by_its_own_words_in_the_readers_language(services):
    quiet = Aspect("quiet", {"en": ("noise",), "ko": ("방음", "소음")}, {"en": ("silent",)})
    known = services.catalogue.known[0]
    description = replace(DESCRIPTION, aspects=(quiet, Aspect("price")))
    services.catalogue.known = [replace(known, description=description)]
    services.catalogue.weights = {"quiet": 0.9, "price": 0.1}
    services.catalogue.places = (replace(found(1, "Alba"), tags=("quiet",)),)
    page = framed(PAGE)
    page.session_state[LANGUAGE] = "ko"
    page.session_state[PENDING] = PlacesAsked(QUESTION)
    html = shown(page.run())
    assert [one.label.partition(" (")[0] for one in page.slider] == ["방음", "가격"]
    assert page.button(key="chip-aspect-quiet").label.startswith("방음")
    assert "<li>방음</li>" in html


def test_a_catalogue_without_types_and_filters_has_no_examples(services):
    known = replace(homes(services), filters={}, types=[])
    assert examples_of(known) == []
    assert placeholder_of(known) == ""


def test_nobody_is_named_before_a_preference_was_set(page, services):
    ask(page)
    assert services.catalogue.asked[-1]["user_id"] == ""


def test_notices_are_told(page, services):
    services.catalogue.notices = ("No reranker is set.",)
    assert "No reranker is set." in ask(page)


def test_where_no_place_fits_it_is_left_to_the_answer_to_say_so(page, services):
    services.catalogue.places = ()
    html = ask(page)
    assert "It is lovely" in html
    assert words.PLACES_NOT_FOUND not in html
    assert "fn-found-place" not in html


def test_where_no_place_fits_and_no_answer_comes_it_says_what_to_do(page, services):
    services.catalogue.places = ()
    services.catalogue.error = ModelUnavailableError("The model is down.")
    services.catalogue.fails_after = 2
    assert words.PLACES_NOT_FOUND in ask(page)


def test_without_coordinates_there_is_no_map(page, services):
    assert words.PLACES_MAP in ask(page)
    services.catalogue.places = (found(1, "Somewhere", latitude=None, longitude=None),)
    assert words.PLACES_MAP not in ask(page)


def test_many_places_are_folded_after_the_first(page, services):
    services.catalogue.places = tuple(found(n, f"Place {n}") for n in range(1, 21))
    assert words.count(words.PLACE_MORE, 12) in ask(page)


def test_a_question_that_is_refused_says_why(page, services):
    services.catalogue.error, services.catalogue.fails_after = InputError("It is empty."), 0
    assert "It is empty." in ask(page, "")


def test_a_question_that_is_refused_leaves_what_was_found_before(page, services):
    ask(page)
    services.catalogue.error, services.catalogue.fails_after = InputError("It is empty."), 0
    html = ask(page, "")
    assert "It is empty." in html
    assert "It is lovely" in html
    again = shown(page.run())
    assert "It is empty." not in again
    assert "It is lovely" in again


def test_a_model_that_fails_leaves_the_places_on_the_page(page, services):
    services.catalogue.error = ModelUnavailableError("The model is down.")
    services.catalogue.fails_after = 3
    html = ask(page)
    assert "The model is down." in html
    assert "Trattoria Lucia" in html
    assert "The model is down." in shown(page.run())


def test_what_was_found_stays_when_the_page_runs_again(page, services):
    ask(page)
    html = shown(page.run())
    assert "It is lovely" in html
    assert len(services.catalogue.asked) == 1


def test_without_a_catalogue_the_sample_can_be_added(page, services):
    services.catalogue.known = []
    html = shown(page.run())
    assert words.PLACES_NONE in html
    assert words.PLACES_ADD_OWN in html
    assert not page.text_input
    page.button(key="add-sample-catalogue").click().run()
    assert services.queue.waited == ["import1"]
    assert page.text_input


def test_a_catalogue_without_places_says_where_to_look(page, services):
    services.catalogue.known = [
        one.__class__(one.id, one.name, 0, one.description, {}, [])
        for one in services.catalogue.known
    ]
    assert words.PLACES_EMPTY.format(name="Restaurants") in shown(page.run())


def test_markup_in_the_data_is_shown_as_text(page, services):
    services.catalogue.places = (found(1, "<img src=x onerror=alert(1)>"),)
    html = ask(page)
    assert "<img" not in html
    assert "&lt;img" in html


def points(places):
    """By the number of its card, where each place is drawn."""
    drawn = place_map(places, DESCRIPTION).to_dict()
    rows = [layer["data"]["values"][0] for layer in drawn["layer"]]
    return {row["rank"]: (row["longitude"], row["latitude"]) for row in rows}


def test_the_map_draws_the_best_place_last_so_that_it_lies_on_top():
    drawn = place_map([found(1, "Best"), found(2, "Second")], DESCRIPTION).to_dict()
    ranks = [layer["data"]["values"][0]["rank"] for layer in drawn["layer"]]
    assert ranks == [2, 2, 1, 1]


def test_the_map_tells_who_cannot_see_it_which_places_are_on_it():
    drawn = place_map([found(1, "Best"), found(2, "Second")], DESCRIPTION).to_dict()
    assert drawn["description"] == f"{words.PLACES_MAP}: 1 Best, 2 Second"


def test_places_that_are_apart_are_drawn_where_they_are():
    places = [found(n, f"Place {n}") for n in (1, 2, 3)]
    assert points(places)[2] == (places[1].place.longitude, places[1].place.latitude)


def test_places_at_one_address_are_drawn_beside_each_other():
    here = {"latitude": 40.7, "longitude": -73.9}
    together = [found(n, f"Place {n}", **here) for n in (1, 2)]
    drawn = points([*together, found(9, "Far away")])
    assert drawn[1][0] < drawn[2][0]
    assert drawn[1][1] == drawn[2][1] == 40.7


def test_a_place_without_coordinates_keeps_its_number_and_is_left_out_of_the_map():
    lost = found(1, "Lost", latitude=None, longitude=None)
    assert set(points([lost, found(2, "Known"), found(5, "Far")])) == {2, 3}
