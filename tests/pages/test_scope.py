"""The panel that says what is searched, over the real services."""

import datetime

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, Scope, SearchChoice, SearchMode
from tests.pages.asking import scope_page
from tests.pages.conftest import APP, served
from ui import words


@pytest.fixture
def services(monkeypatch, build_services, handbook):
    built = build_services(embed=True)
    built.directories.import_directory(LOCAL_USER, handbook, collection="HR", labels=["policy"])
    built.uploads.add(LOCAL_USER, [("a.txt", b"Contract of sale.")], box="Contracts")
    box = built.uploads.boxes(LOCAL_USER)[0]
    built.imports.run(LOCAL_USER, box, built.uploads.loader(box))
    yield from served(built, monkeypatch)


def opened(conversation=""):
    page = AppTest.from_function(scope_page, default_timeout=20)
    if conversation:
        page.query_params["conversation"] = conversation
    page.run()
    assert not page.exception
    return page


def field(page, kind, label):
    return next(one for one in getattr(page, kind) if one.label == label)


def label(page):
    """What the panel's button says; below an answer that found nothing there are others."""
    popovers = [one.proto.popover for one in page.get("popover")]
    return next(one.label for one in popovers if one.icon == ":material/tune:")


def chosen(page):
    assert not page.exception
    return page.session_state["chosen"]


def test_a_new_conversation_searches_everything_and_offers_what_there_is(services):
    page = opened()
    assert chosen(page) == SearchChoice()
    assert label(page) == words.SCOPE_EVERYWHERE
    assert field(page, "multiselect", words.SCOPE_COLLECTIONS).options == ["Contracts", "HR"]
    assert field(page, "multiselect", words.SCOPE_FORMATS).options == ["md", "txt"]
    assert field(page, "multiselect", words.SCOPE_LABELS).options == ["policy"]
    sources = field(page, "multiselect", words.SCOPE_SOURCES).options
    assert sorted(sources) == ["Contracts", "handbook"]


def test_what_is_chosen_is_told_in_few_words(services):
    page = opened()
    field(page, "multiselect", words.SCOPE_COLLECTIONS).set_value(["HR", "Contracts"])
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["md"])
    field(page, "date_input", words.SCOPE_SINCE).set_value(datetime.date(2026, 1, 1)).run()
    assert chosen(page).scope == Scope(
        collections=("HR", "Contracts"), formats=("md",), since="2026-01-01"
    )
    assert label(page) == "Search in: 2 collections, md, since 2026-01-01"


def test_it_is_remembered_with_the_conversation_and_given_back_on_reload(services):
    talk = services.conversations.begin(LOCAL_USER, "Leave").id
    page = opened(talk)
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["txt"])
    field(page, "selectbox", words.ADVANCED_MODE).set_value(SearchMode.BM25).run()
    again = opened(talk)
    assert chosen(again) == SearchChoice(Scope(formats=("txt",)), SearchMode.BM25)
    assert field(again, "multiselect", words.SCOPE_FORMATS).value == ["txt"]
    assert label(again) == "Search in: txt, Keywords (BM25)"
    other = opened(services.conversations.begin(LOCAL_USER, "Other").id)
    assert chosen(other) == SearchChoice()


def test_reset_searches_everything_again(services):
    talk = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(
        LOCAL_USER, talk, SearchChoice(Scope(formats=("md",), until="2026-11-21"), k=9)
    )
    page = opened(talk)
    assert field(page, "number_input", words.ADVANCED_PASSAGES).value == 9
    field(page, "button", words.SCOPE_RESET).click().run()
    assert chosen(page) == SearchChoice() == chosen(opened(talk))
    assert field(page, "date_input", words.SCOPE_UNTIL).value is None


def test_what_is_chosen_for_a_new_conversation_waits_while_another_is_looked_at(services):
    page = opened()
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["txt"]).run()
    page.query_params["conversation"] = services.conversations.begin(LOCAL_USER, "Leave").id
    assert chosen(page.run()) == SearchChoice()
    del page.query_params["conversation"]
    assert chosen(page.run()) == SearchChoice(Scope(formats=("txt",)))
    assert field(page, "multiselect", words.SCOPE_FORMATS).value == ["txt"]


def test_the_conversation_that_it_was_chosen_for_takes_it_along(services):
    page = AppTest.from_file(str(APP), default_timeout=30).run()
    field(page, "multiselect", words.SCOPE_FORMATS).set_value(["txt"]).run()
    page.chat_input[0].set_value("What does the contract say?").run()
    assert label(page) == "Search in: txt"
    assert page.query_params["conversation"]
    button = next(one for one in page.button if one.label == words.NEW_CONVERSATION)
    button.click().run()
    assert not page.exception
    assert label(page) == words.SCOPE_EVERYWHERE


def test_dates_that_contradict_each_other_are_said_at_once_and_not_kept(services):
    page = opened()
    field(page, "date_input", words.SCOPE_SINCE).set_value(datetime.date(2026, 5, 2)).run()
    field(page, "date_input", words.SCOPE_UNTIL).set_value(datetime.date(2026, 5, 1)).run()
    told = "".join(element.value for element in page.html)
    assert "swap the two dates" in told
    assert chosen(page).scope == Scope(since="2026-05-02")
    field(page, "date_input", words.SCOPE_UNTIL).set_value(datetime.date(2026, 5, 3)).run()
    assert chosen(page).scope == Scope(since="2026-05-02", until="2026-05-03")
    assert not page.html


def test_the_threshold_is_asked_for_only_where_it_matters(services):
    page = opened()
    thresholds = [one for one in page.number_input if one.label == words.ADVANCED_THRESHOLD]
    assert not thresholds
    mode = SearchMode.SIMILARITY_SCORE_THRESHOLD
    field(page, "selectbox", words.ADVANCED_MODE).set_value(mode).run()
    field(page, "number_input", words.ADVANCED_THRESHOLD).set_value(0.1).run()
    assert chosen(page) == SearchChoice(mode=mode, score_threshold=0.1)
    field(page, "selectbox", words.ADVANCED_MODE).set_value(SearchMode.MMR).run()
    assert chosen(page) == SearchChoice(mode=SearchMode.MMR)


def test_a_source_that_is_gone_stays_chosen_and_is_said(services):
    talk = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(LOCAL_USER, talk, SearchChoice(Scope(sources=("gone",))))
    page = opened(talk)
    assert chosen(page).scope.sources == ("gone",)
    assert label(page) == f"Search in: {words.SCOPE_GONE}"
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
def test_what_the_fields_cannot_hold_is_searched_and_kept_as_it_came(services, search):
    talk = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(LOCAL_USER, talk, search)
    page = opened(talk)
    for _ in range(2):
        page.run()
        assert chosen(page) == search
    assert services.conversations.get(LOCAL_USER, talk).search == search
    field(page, "selectbox", words.ADVANCED_MODE).set_value(SearchMode.BM25).run()
    assert chosen(page).k == search.k
    assert chosen(page).mode is SearchMode.BM25


def test_a_window_left_open_does_not_undo_what_is_chosen_in_another(services):
    talk = services.conversations.begin(LOCAL_USER, "Leave").id
    old, new = opened(talk), opened(talk)
    field(new, "multiselect", words.SCOPE_FORMATS).set_value(["txt"]).run()
    old.run()
    assert chosen(old).scope == Scope(formats=("txt",)) == chosen(opened(talk)).scope
    assert field(old, "multiselect", words.SCOPE_FORMATS).value == ["txt"]
    field(old, "multiselect", words.SCOPE_FORMATS).set_value(["md"]).run()
    new.run()
    assert field(new, "multiselect", words.SCOPE_FORMATS).value == ["md"]


def test_a_day_of_the_last_century_can_be_chosen(services):
    page = opened()
    field(page, "date_input", words.SCOPE_UNTIL).set_value(datetime.date(1999, 12, 31)).run()
    assert chosen(page).scope == Scope(until="1999-12-31")
