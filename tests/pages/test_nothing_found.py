"""What the page explains and offers when an answer cites nothing, over real services."""

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from domain import (
    EXTRACTIVE,
    LOCAL_USER,
    Scope,
    SearchChoice,
    SearchMode,
    Turn,
    TurnState,
)
from services.texts import MAX_QUESTION_CHARS
from tests.pages.conftest import install_services
from tests.pages.double import NOW, citation, source
from tests.pages.question_pages import nothing_page
from ui.chat.turn_actions import Change
from ui.text import words

PASSAGE = source()
NO_ANSWER = "I found no clear answer to this question in the documents."
THRESHOLD = SearchMode.SIMILARITY_SCORE_THRESHOLD


@pytest.fixture
def services(monkeypatch, build_services):
    yield from install_services(build_services(embed=True), monkeypatch)


def open_panel(**changes):
    page = AppTest.from_function(nothing_page, default_timeout=20)
    turn = Turn("t1", "c1", "Why?", TurnState.COMPLETE, NOW, standalone_question="Why <so>?")
    unanswered = dataclasses.replace(turn, answer=NO_ANSWER, model=EXTRACTIVE)
    page.session_state["turn"] = dataclasses.replace(unanswered, **changes)
    page.run()
    assert not page.exception
    return page


def test_the_page_shows_what_was_searched(services):
    page = open_panel(sources=(PASSAGE,), search=SearchChoice(Scope(formats=("pdf",))))
    panel = page.html[0].value
    assert words.NOTHING_TITLE in panel
    assert "Why &lt;so&gt;?" in panel
    assert "pdf" in panel
    assert words.MODES["convex"] in panel
    assert words.NOTHING_BEST not in panel


def test_the_panel_is_not_shown_for_an_answer_with_citations(services):
    page = open_panel(sources=(PASSAGE,), citations=(citation(),))
    assert not page.html
    assert not page.button


def test_a_wider_search_is_offered_once(services):
    narrow = SearchChoice(Scope(formats=("pdf",)), THRESHOLD)
    page = open_panel(sources=(PASSAGE,), search=narrow)
    labels = [button.label for button in page.button]
    assert words.WIDEN_SCOPE in labels
    assert words.WIDEN_THRESHOLD.format(threshold="0.15") in labels
    assert words.WIDEN_MODE.format(mode=words.MODES["convex"]) in labels
    next(one for one in page.button if one.label == words.WIDEN_SCOPE).click().run()
    repeated = page.session_state["again"]
    assert repeated.turn.id == "t1"
    assert repeated.search == SearchChoice(mode=THRESHOLD, k=5, score_threshold=0.3)
    assert repeated.change is Change.NOTHING
    page.run()
    assert page.session_state["again"] is None


def test_the_question_can_be_edited_and_searched_again(services):
    page = open_panel(sources=(PASSAGE,))
    page.text_area[0].set_value("Which gateway?")
    page.button(key="widen-edit-t1").click().run()
    assert page.session_state["again"].change is Change.SEARCH
    assert page.session_state["again"].text == "Which gateway?"
    assert page.session_state["again"].search.mode is SearchMode.CONVEX


def test_the_closest_passage_is_named_only_if_the_minimum_excluded_it(services, handbook):
    services.directories.import_directory(LOCAL_USER, handbook)
    search = SearchChoice(mode=THRESHOLD, score_threshold=0.99)
    panel = open_panel(search=search).html[0].value
    assert words.NOTHING_BEST in panel
    assert "below the minimum of 0.99" in panel
    assert words.NOTHING_BEST not in open_panel(search=search, sources=(PASSAGE,)).html[0].value
    assert words.NOTHING_BEST not in open_panel().html[0].value


def test_a_question_of_maximum_length_can_be_edited(services):
    longest = "q" * MAX_QUESTION_CHARS
    box = open_panel(standalone_question=longest).text_area[0]
    assert box.value == longest
    assert box.max_chars >= MAX_QUESTION_CHARS
