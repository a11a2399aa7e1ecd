"""What is said and offered where an answer proves nothing, over the real services."""

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from domain import (
    LOCAL_USER,
    Explanation,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    Turn,
    TurnState,
)
from services.questions import MAX_QUESTION_CHARS
from tests.pages.asking import nothing_page
from tests.pages.conftest import served
from tests.pages.double import NOW, citation, source
from ui import words
from ui.again import Change

FOUND = source(why=Explanation(0.5, (ScorePart("dense", 1, 0.214, 0.5),)))
THRESHOLD = SearchMode.SIMILARITY_SCORE_THRESHOLD


@pytest.fixture
def services(monkeypatch, build_services):
    yield from served(build_services(embed=True), monkeypatch)


def opened(**changes):
    page = AppTest.from_function(nothing_page, default_timeout=20)
    turn = Turn("t1", "c1", "Why?", TurnState.COMPLETE, NOW, standalone_question="Why <so>?")
    page.session_state["turn"] = dataclasses.replace(turn, **changes)
    page.run()
    assert not page.exception
    return page


def test_it_says_what_was_searched_and_how_near_it_came(services):
    page = opened(sources=(FOUND,), search=SearchChoice(Scope(formats=("pdf",))))
    told = page.html[0].value
    assert words.NOTHING_RELEVANT in told
    assert "Why &lt;so&gt;?" in told
    assert "pdf" in told
    assert words.MODES["convex"] in told
    assert "0.21 of 1, below the threshold of 0.30" in told


def test_an_answer_with_proof_says_nothing_of_it(services):
    page = opened(sources=(FOUND,), citations=(citation(),))
    assert not page.html
    assert not page.button


def test_a_wider_search_is_offered_and_chosen_once(services):
    narrow = SearchChoice(Scope(formats=("pdf",)), THRESHOLD)
    page = opened(sources=(FOUND,), search=narrow)
    offered = [button.label for button in page.button]
    assert words.WIDEN_SCOPE in offered
    assert words.WIDEN_THRESHOLD.format(threshold="0.21") in offered
    assert words.WIDEN_MODE.format(mode=words.MODES["convex"]) in offered
    next(one for one in page.button if one.label == words.WIDEN_SCOPE).click().run()
    again = page.session_state["again"]
    assert again.turn.id == "t1"
    assert again.search == SearchChoice(mode=THRESHOLD, k=5, score_threshold=0.3)
    assert again.change is Change.NOTHING
    page.run()
    assert page.session_state["again"] is None


def test_the_question_is_edited_and_searched_again(services):
    page = opened(sources=(FOUND,))
    page.text_area[0].set_value("Which gateway?")
    page.button(key="widen-edit-t1").click().run()
    assert page.session_state["again"].change is Change.SEARCH
    assert page.session_state["again"].text == "Which gateway?"
    assert page.session_state["again"].search.mode is SearchMode.CONVEX


def test_an_empty_library_has_no_nearest_passage(services):
    assert words.BEST_UNKNOWN in opened().html[0].value
    assert services.library.status(LOCAL_USER).documents == 0


def test_a_question_as_long_as_may_be_can_be_edited_as_a_whole(services):
    longest = "q" * MAX_QUESTION_CHARS
    box = opened(standalone_question=longest).text_area[0]
    assert box.value == longest
    assert box.max_chars >= MAX_QUESTION_CHARS
