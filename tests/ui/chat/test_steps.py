"""The steps of an agent, in words and safe on the page."""

import re
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import SearchChoice, Step, StepState, Turn, TurnState
from tests.pages.double import NOW, source
from ui.chat.live_answer import RESULT_CHARACTERS, activity_html, steps_html
from ui.text import words

SOURCES = (
    source(1),
    source(2, title="Sick leave"),
    source(3, document_id="d1"),
    source(4, title="VPN"),
    source(5, title="Canteen"),
)
SEARCH = Step(1, "search_documents", {"query": "annual leave", "k": 5})
FOUND = replace(SEARCH, state=StepState.DONE, result="[1] Leave", sources=(1, 2, 3))


def text(html):
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())


def told(step, sources=SOURCES, **how):
    return text(steps_html([step], sources, **how))


def test_a_step_that_runs_says_what_is_asked_and_a_step_that_is_done_what_was():
    assert told(SEARCH, live=True) == "Searching for annual leave passages: at most 5"
    assert told(replace(FOUND, milliseconds=412.0)).startswith(
        "Searched for annual leave passages: at most 5 0.4 s 3 passages"
    )


def test_only_a_step_that_still_runs_moves():
    assert "fn-now" in steps_html([SEARCH], SOURCES, live=True)
    html = steps_html([SEARCH], SOURCES)
    assert "fn-now" not in html
    assert words.STEP_BROKEN_OFF in html


def test_the_passages_are_told_by_number_and_document():
    assert "3 passages 1 3 Leave policy 2 Sick leave" in told(FOUND)
    many = replace(FOUND, sources=(1, 2, 4, 5))
    assert "1 Leave policy 2 Sick leave 4 VPN and 1 more document" in told(many)


def test_numbers_that_no_source_has_are_counted_and_not_shown():
    assert (
        told(replace(FOUND, result=""), sources=())
        == "Searched for annual leave passages: at most 5 3 passages"
    )


def test_a_search_without_a_passage_says_so_and_other_tools_have_none_to_find():
    empty = replace(FOUND, sources=(), result="")
    assert words.NOTHING_FOUND in told(empty)
    assert words.NOTHING_FOUND not in told(replace(empty, tool="list_sources", arguments={}))


def test_an_opened_document_is_called_by_its_title_where_it_is_known():
    step = Step(1, "open_document", {"document_id": "d2", "start": 40}, StepState.DONE)
    assert told(step) == "Opened Sick leave from character 40"
    assert told(step, sources=()) == "Opened d2 from character 40"


@pytest.mark.parametrize(
    ("mode", "told_as"),
    [("bm25", words.MODES["bm25"]), ("guessing", "mode: guessing"), (["bm25"], 'mode: ["bm25"]')],
)
def test_a_search_mode_is_called_as_everywhere_and_one_that_there_is_not_as_it_was_told(
    mode, told_as
):
    step = replace(SEARCH, arguments={"query": "leave", "mode": mode})
    assert told(step, live=True) == f"Searching for leave {told_as}"


def test_a_tool_of_others_has_its_own_name():
    step = Step(
        1, "jira_find", {"text": "납기", "most": 3, "in": ["A"], "by": None}, StepState.DONE
    )
    assert told(step) == 'jira_find text: 납기 most: 3 in: ["A"]'


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"words": "x"}])
def test_a_known_tool_called_without_what_it_needs_is_named(arguments):
    assert told(replace(SEARCH, arguments=arguments), live=True).startswith("search_documents")


def test_an_error_is_said_in_place_of_what_came_back():
    step = replace(SEARCH, state=StepState.FAILED, result="Failed: The index is damaged.")
    html = steps_html([step], SOURCES)
    assert '<p class="fn-trouble">The index is damaged.</p>' in html
    assert "<details" not in html


def test_the_beginning_of_what_came_back_can_be_unfolded():
    html = steps_html([replace(FOUND, result="x" * (RESULT_CHARACTERS + 1))], SOURCES)
    assert "3 passages" in text(html.split("<summary>")[1].split("</summary>")[0])
    assert words.STEP_RESULT in told(replace(FOUND, tool="list_sources", sources=()))
    assert "x" * RESULT_CHARACTERS + "…" in html
    assert "x" * (RESULT_CHARACTERS + 1) not in html


def test_what_was_said_before_a_step_stands_above_it():
    html = steps_html([replace(FOUND, said="먼저 찾아보겠습니다.")], SOURCES)
    assert html.index('<p class="fn-said" lang="ko">먼저') < html.index("fn-step")


hostile = st.text("<>\"'&ab/= {}\n0")
values = hostile | st.none() | st.integers() | st.lists(hostile, max_size=2)


@given(hostile, st.dictionaries(hostile, values, max_size=3), hostile, hostile, hostile)
def test_no_markup_comes_from_tools_arguments_results_or_titles(tool, given_, result, said, title):
    asked = {"query": result, **given_}
    steps = [
        Step(1, name, asked, state, result, (1,), said)
        for state in StepState
        for name in (tool, "search_documents")
    ]
    html = steps_html(steps, [source(1, title=title)])
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {"div", "span", "p", "strong", "details", "summary"}
    assert not re.search(r"<[^>]*\son\w+", html)


def turn(**changes):
    by_agent = SearchChoice(by_agent=True)
    asked = Turn("t", "c", "Why?", TurnState.COMPLETE, NOW, answer="So.", search=by_agent)
    return replace(asked, **changes)


def test_afterwards_one_line_counts_the_steps_and_unfolds_them():
    failed = replace(SEARCH, n=2, state=StepState.FAILED, result="Failed: no")
    html = activity_html(
        turn(steps=(FOUND, failed), sources=SOURCES[:3], timings_ms={"total": 2100.0})
    )
    line, unfolded = html.split("</summary>", 1)
    assert text(line) == "2 steps · 1 failed · 3 passages in 2 documents · 2.1 s"
    assert "Searched for" in unfolded


def test_an_agent_that_took_no_step_did_not_search():
    assert text(activity_html(turn(timings_ms={"total": 900.0}))) == (f"{words.NO_STEPS} · 0.9 s")
    failed = turn(answer="", state=TurnState.FAILED, timings_ms={"total": 900.0})
    assert text(activity_html(failed)) == "0.9 s"
