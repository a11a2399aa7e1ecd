"""The search scope panel, over real services."""

import datetime

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, Scope, SearchChoice, SearchMode
from tests.pages.conftest import APP, install_services
from tests.pages.question_pages import scope_page
from ui.text import words


@pytest.fixture
def services(monkeypatch, build_services, handbook):
    built = build_services(embed=True)
    built.directories.import_directory(LOCAL_USER, handbook, collection="HR", labels=["policy"])
    built.uploads.add(LOCAL_USER, [("a.txt", b"Contract of sale.")], box="Contracts")
    box = built.uploads.boxes(LOCAL_USER)[0]
    built.imports.run(LOCAL_USER, box, built.uploads.loader(box))
    yield from install_services(built, monkeypatch)


def open_page(conversation=""):
    page = AppTest.from_function(scope_page, default_timeout=20)
    if conversation:
        page.query_params["conversation"] = conversation
    page.run()
    assert not page.exception
    return page


def field(page, kind, label):
    return next(one for one in getattr(page, kind) if one.label == label)


def label(page):
    """The label of the panel's button; an answer that found nothing shows other buttons."""
    popovers = [one.proto.popover for one in page.get("popover")]
    return next(one.label for one in popovers if one.icon == ":material/tune:")


def choice_of(page):
    assert not page.exception
    return page.session_state["chosen"]


def test_a_new_conversation_searches_everything_and_offers_all_filters(services):
    page = open_page()
    assert choice_of(page) == SearchChoice()
    assert label(page) == words.SCOPE_EVERYWHERE
    assert field(page, "multiselect", words.SCOPE_COLLECTIONS).options == ["Contracts", "HR"]
    assert field(page, "multiselect", words.SCOPE_FORMATS).options == ["md", "txt"]
    assert field(page, "multiselect", words.SCOPE_LABELS).options == ["policy"]
    sources = field(page, "multiselect", words.SCOPE_SOURCES).options
    assert sorted(sources) == ["Contracts", "handbook"]


def test_the_chosen_scope_is_summarized(services):
    page = open_page()
    field(page, "multiselect", words.SCOPE_COLLECTIONS).set_value(["HR", "Contracts"])
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["md"])
    field(page, "date_input", words.SCOPE_SINCE).set_value(datetime.date(2026, 1, 1)).run()
    assert choice_of(page).scope == Scope(
        collections=("HR", "Contracts"), formats=("md",), since="2026-01-01"
    )
    assert label(page) == "Search in: 2 collections, md, since 2026-01-01"


def test_the_scope_is_stored_with_the_conversation_and_restored_on_reload(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    page = open_page(conversation_id)
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["txt"])
    field(page, "selectbox", words.ADVANCED_MODE).set_value(SearchMode.BM25).run()
    reopened = open_page(conversation_id)
    assert choice_of(reopened) == SearchChoice(Scope(formats=("txt",)), SearchMode.BM25)
    assert field(reopened, "multiselect", words.SCOPE_FORMATS).value == ["txt"]
    assert label(reopened) == "Search in: txt, Keywords (BM25)"
    other = open_page(services.conversations.begin(LOCAL_USER, "Other").id)
    assert choice_of(other) == SearchChoice()


def test_reset_clears_the_scope(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(
        LOCAL_USER, conversation_id, SearchChoice(Scope(formats=("md",), until="2026-11-21"), k=9)
    )
    page = open_page(conversation_id)
    assert field(page, "number_input", words.ADVANCED_PASSAGES).value == 9
    field(page, "button", words.SCOPE_RESET).click().run()
    assert choice_of(page) == SearchChoice() == choice_of(open_page(conversation_id))
    assert field(page, "date_input", words.SCOPE_UNTIL).value is None


def test_the_scope_of_a_new_conversation_waits_while_another_is_open(services):
    page = open_page()
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["txt"]).run()
    page.query_params["conversation"] = services.conversations.begin(LOCAL_USER, "Leave").id
    assert choice_of(page.run()) == SearchChoice()
    del page.query_params["conversation"]
    assert choice_of(page.run()) == SearchChoice(Scope(formats=("txt",)))
    assert field(page, "multiselect", words.SCOPE_FORMATS).value == ["txt"]


def test_the_scope_of_a_new_conversation_moves_into_it(services):
    page = AppTest.from_file(str(APP), default_timeout=30).run()
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["txt"]).run()
    page.chat_input[0].set_value("What does the contract say?").run()
    assert label(page) == "Search in: txt"
    assert page.query_params["conversation"]
    button = next(one for one in page.button if one.label == words.NEW_CONVERSATION)
    button.click().run()
    assert not page.exception
    assert label(page) == words.SCOPE_EVERYWHERE


def test_contradictory_dates_are_reported_immediately_and_not_saved(services):
    page = open_page()
    field(page, "date_input", words.SCOPE_SINCE).set_value(datetime.date(2026, 5, 2)).run()
    field(page, "date_input", words.SCOPE_UNTIL).set_value(datetime.date(2026, 5, 1)).run()
    html = "".join(element.value for element in page.html)
    assert "swap the two dates" in html
    assert choice_of(page).scope == Scope(since="2026-05-02")
    field(page, "date_input", words.SCOPE_UNTIL).set_value(datetime.date(2026, 5, 3)).run()
    assert choice_of(page).scope == Scope(since="2026-05-02", until="2026-05-03")
    assert not page.html


def test_the_threshold_is_shown_only_where_it_applies(services):
    page = open_page()
    thresholds = [one for one in page.number_input if one.label == words.ADVANCED_THRESHOLD]
    assert not thresholds
    mode = SearchMode.SIMILARITY_SCORE_THRESHOLD
    field(page, "selectbox", words.ADVANCED_MODE).set_value(mode).run()
    field(page, "number_input", words.ADVANCED_THRESHOLD).set_value(0.1).run()
    assert choice_of(page) == SearchChoice(mode=mode, score_threshold=0.1)
    field(page, "selectbox", words.ADVANCED_MODE).set_value(SearchMode.MMR).run()
    assert choice_of(page) == SearchChoice(mode=SearchMode.MMR)


def test_a_deleted_source_stays_selected_and_is_reported(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(
        LOCAL_USER, conversation_id, SearchChoice(Scope(sources=("gone",)))
    )
    page = open_page(conversation_id)
    assert choice_of(page).scope.sources == ("gone",)
    assert label(page) == f"Search in: {words.SCOPE_DELETED}"
    assert "There is no source" in page.html[0].value


@pytest.mark.parametrize(
    "search",
    [
        SearchChoice(k=400),
        SearchChoice(Scope(since="20261121T10:00", until="9999-12-31")),
        SearchChoice(Scope(since="1850-05-01T00:00Z", formats=("md", "md"))),
        SearchChoice(score_threshold=0.5),
    ],
    ids=["many passages", "a moment", "long ago", "a threshold without its mode"],
)
def test_a_scope_that_the_fields_cannot_show_is_searched_and_stays_unchanged(services, search):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(LOCAL_USER, conversation_id, search)
    page = open_page(conversation_id)
    for _ in range(2):
        page.run()
        assert choice_of(page) == search
    assert services.conversations.get(LOCAL_USER, conversation_id).search == search
    field(page, "selectbox", words.ADVANCED_MODE).set_value(SearchMode.BM25).run()
    assert choice_of(page).k == search.k
    assert choice_of(page).mode is SearchMode.BM25


def test_an_open_window_does_not_undo_a_choice_in_another(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    old, new = open_page(conversation_id), open_page(conversation_id)
    field(new, "multiselect", words.SCOPE_FORMATS).set_value(["txt"]).run()
    old.run()
    assert (
        choice_of(old).scope
        == Scope(formats=("txt",))
        == choice_of(open_page(conversation_id)).scope
    )
    assert field(old, "multiselect", words.SCOPE_FORMATS).value == ["txt"]
    field(old, "multiselect", words.SCOPE_FORMATS).set_value(["md"]).run()
    new.run()
    assert field(new, "multiselect", words.SCOPE_FORMATS).value == ["md"]


def test_a_date_in_the_last_century_can_be_chosen(services):
    page = open_page()
    field(page, "date_input", words.SCOPE_UNTIL).set_value(datetime.date(1999, 12, 31)).run()
    assert choice_of(page).scope == Scope(until="1999-12-31")
