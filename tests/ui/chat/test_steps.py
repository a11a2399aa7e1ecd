"""The steps of an agent are described in words and escaped."""

import re
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import SearchChoice, Step, StepState, Turn, TurnState
from tests.pages.double import NOW, source
from ui.chat.live_answer import activity_html
from ui.chat.step_view import RESULT_CHARACTERS, steps_html
from ui.text import words

SOURCES = (
    source(1),
    source(2, title="Sick leave"),
    source(3, document_id="d1"),
    source(4, title="VPN"),
    source(5, title="Canteen"),
)
SEARCH = Step(1, "search_documents", {"query": "annual leave", "k": 5})
FINISHED = replace(SEARCH, state=StepState.DONE, result="[1] Leave", sources=(1, 2, 3))


def text_of(html):
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())


def step_text(step, sources=SOURCES, **options):
    return text_of(steps_html([step], sources, **options))


def test_a_running_and_a_finished_step_show_the_query_in_different_tenses():
    assert step_text(SEARCH, live=True) == "Searching for annual leave passages: at most 5"
    assert step_text(replace(FINISHED, milliseconds=412.0)).startswith(
        "Searched for annual leave passages: at most 5 0.4 s 3 passages"
    )


def test_only_a_running_step_is_animated():
    assert "fn-now" in steps_html([SEARCH], SOURCES, live=True)
    html = steps_html([SEARCH], SOURCES)
    assert "fn-now" not in html
    assert words.STEP_BROKEN_OFF in html


def test_passages_are_shown_by_number_and_document():
    assert "3 passages 1 3 Leave policy 2 Sick leave" in step_text(FINISHED)
    many = replace(FINISHED, sources=(1, 2, 4, 5))
    assert "1 Leave policy 2 Sick leave 4 VPN and 1 more document" in step_text(many)


def test_passages_missing_from_the_sources_are_counted_and_not_listed():
    assert (
        step_text(replace(FINISHED, result=""), sources=())
        == "Searched for annual leave passages: at most 5 3 passages"
    )


def test_only_a_search_tool_reports_that_nothing_was_found():
    empty = replace(FINISHED, sources=(), result="")
    assert words.NO_PASSAGE_FOUND in step_text(empty)
    assert words.NO_PASSAGE_FOUND not in step_text(
        replace(empty, tool="list_sources", arguments={})
    )


def test_an_opened_document_is_named_by_its_title_if_known():
    step = Step(1, "open_document", {"document_id": "d2", "start": 40}, StepState.DONE)
    assert step_text(step) == "Opened Sick leave from character 40"
    assert step_text(step, sources=()) == "Opened d2 from character 40"


@pytest.mark.parametrize(
    ("mode", "label"),
    [("bm25", words.MODES["bm25"]), ("guessing", "mode: guessing"), (["bm25"], 'mode: ["bm25"]')],
)
def test_a_known_search_mode_has_its_usual_name_and_an_unknown_one_is_shown_as_is(mode, label):
    step = replace(SEARCH, arguments={"query": "leave", "mode": mode})
    assert step_text(step, live=True) == f"Searching for leave {label}"


def test_an_external_tool_is_shown_by_its_own_name():
    step = Step(
        1, "jira_find", {"text": "납기", "most": 3, "in": ["A"], "by": None}, StepState.DONE
    )
    assert step_text(step) == 'jira_find text: 납기 most: 3 in: ["A"]'


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"words": "x"}])
def test_a_known_tool_without_its_required_arguments_is_shown_by_its_name(arguments):
    assert step_text(replace(SEARCH, arguments=arguments), live=True).startswith("search_documents")


def test_an_error_replaces_the_result():
    step = replace(SEARCH, state=StepState.FAILED, result="Failed: The index is damaged.")
    html = steps_html([step], SOURCES)
    assert '<p class="fn-trouble">The index is damaged.</p>' in html
    assert "<details" not in html


def test_the_beginning_of_a_result_can_be_expanded():
    html = steps_html([replace(FINISHED, result="x" * (RESULT_CHARACTERS + 1))], SOURCES)
    assert "3 passages" in text_of(html.split("<summary>")[1].split("</summary>")[0])
    assert words.STEP_RESULT in step_text(replace(FINISHED, tool="list_sources", sources=()))
    assert "x" * RESULT_CHARACTERS + "…" in html
    assert "x" * (RESULT_CHARACTERS + 1) not in html


def test_text_that_precedes_a_step_is_shown_above_it():
    html = steps_html([replace(FINISHED, said="먼저 찾아보겠습니다.")], SOURCES)
    assert html.index('<p class="fn-said" lang="ko">먼저') < html.index("fn-step")


markup = st.text("<>\"'&ab/= {}\n0")
values = markup | st.none() | st.integers() | st.lists(markup, max_size=2)


@given(markup, st.dictionaries(markup, values, max_size=3), markup, markup, markup)
def test_tool_names_arguments_results_and_titles_are_escaped(tool, more, result, text, title):
    arguments = {"query": result, **more}
    steps = [
        Step(1, name, arguments, state, result, (1,), text)
        for state in StepState
        for name in (tool, "search_documents")
    ]
    html = steps_html(steps, [source(1, title=title)])
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {"div", "span", "p", "strong", "details", "summary"}
    assert not re.search(r"<[^>]*\son\w+", html)


def turn(**changes):
    by_agent = SearchChoice(by_agent=True)
    agent_turn = Turn("t", "c", "Why?", TurnState.COMPLETE, NOW, answer="So.", search=by_agent)
    return replace(agent_turn, **changes)


def test_a_finished_turn_collapses_its_steps_into_one_line():
    failed = replace(SEARCH, n=2, state=StepState.FAILED, result="Failed: no")
    html = activity_html(
        turn(steps=(FINISHED, failed), sources=SOURCES[:3], timings_ms={"total": 2100.0})
    )
    summary, details = html.split("</summary>", 1)
    assert text_of(summary) == "2 steps · 1 failed · 3 passages in 2 documents · 2.1 s"
    assert "Searched for" in details


def test_a_turn_without_steps_says_that_nothing_was_searched():
    assert text_of(activity_html(turn(timings_ms={"total": 900.0}))) == (
        f"{words.NO_STEPS} · 0.9 s"
    )
    failed_turn = turn(answer="", state=TurnState.FAILED, timings_ms={"total": 900.0})
    assert text_of(activity_html(failed_turn)) == "0.9 s"
