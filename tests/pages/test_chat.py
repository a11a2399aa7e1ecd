"""The chat page without a browser, over a scripted service."""

import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

import bootstrap
from domain import LOCAL_USER, Explanation, Move, SearchChoice, TurnState
from domain.errors import (
    ConfigError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    StorageError,
    StorageUnavailableError,
)
from tests.pages.conftest import APP, Services, ask, page_text
from tests.pages.double import QUOTE, Script, source
from ui.chat.conversation_list import STARTED_TURN
from ui.chat.turn_actions import PAGE_TURNS, PENDING_VERSION, Change, NewVersion
from ui.text import words


def test_the_page_opens_with_sample_questions_and_names_the_answerer(page: AppTest) -> None:
    html = page_text(page)
    assert all(question in html for question in words.SAMPLE_QUESTIONS)
    assert "no language model" in html


def test_an_answer_shows_its_standalone_question_its_quote_and_its_source(page: AppTest) -> None:
    html = ask(page)
    assert "How many days? (standalone)" in html
    assert f"“{QUOTE}”" in html
    assert "1 quote found in the documents" in html
    assert f"<mark>{QUOTE}</mark>" in html
    assert "Leave policy › Annual leave" in html
    assert "page 2" in html
    assert "handbook/leave-policy.md" in html
    assert words.QUOTED in html


def test_the_marker_in_the_answer_opens_the_document_at_the_quote(page: AppTest) -> None:
    html = ask(page)
    address = (
        f"document?id=d1&amp;start=0&amp;end={len(QUOTE)}&amp;conversation=c1&amp;turn=t1&amp;n=1"
    )
    link = f'href="{address}" target="_blank" rel="noopener"'
    assert f'<a class="fn-cite" {link}' in html
    assert f'<a class="fn-title" {link}' in html


def test_clicking_a_sample_question_asks_it(page: AppTest, services: Services) -> None:
    page.button(key=f"sample-{words.SAMPLE_QUESTIONS[1]}").click().run()
    assert services.chat.questions == [words.SAMPLE_QUESTIONS[1]]
    assert words.SAMPLE_QUESTIONS[1] in page_text(page)
    assert words.WELCOME not in page_text(page)


def test_a_second_question_continues_the_conversation(page: AppTest, services: Services) -> None:
    ask(page, "First?")
    html = ask(page, "Second?")
    assert [turn.question for turn in services.chat.stored["c1"]] == ["First?", "Second?"]
    assert "First?" in html


def test_a_reload_shows_the_conversation_in_the_url(page: AppTest) -> None:
    ask(page, "Will you remember?")
    assert page.query_params["conversation"] == "c1"
    reloaded = AppTest.from_file(str(APP), default_timeout=20)
    reloaded.query_params["conversation"] = "c1"
    html = page_text(reloaded.run())
    assert "Will you remember?" in html
    assert f"<mark>{QUOTE}</mark>" in html


def test_a_missing_conversation_is_reported_and_the_page_starts_over(services: Services) -> None:
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.query_params["conversation"] = "gone"
    assert words.LOST_CONVERSATION in page_text(page.run())
    assert words.WELCOME in page_text(page)


def test_the_sidebar_opens_a_new_conversation_and_returns(page: AppTest) -> None:
    ask(page, "First?")
    next(button for button in page.button if button.label == words.NEW_CONVERSATION).click().run()
    assert words.WELCOME in page_text(page)
    page.button(key="conversation-c1").click().run()
    assert "First? (standalone)" in page_text(page)


@pytest.mark.parametrize(
    "error",
    [
        ModelError("The model refused the key. Check OPENAI_API_KEY."),
        ModelUnavailableError("The model can't be reached at http://localhost:1."),
        StorageError("The data folder /data can't be written."),
    ],
)
def test_an_error_message_is_shown_next_to_the_question(
    page: AppTest, services: Services, error: Exception
) -> None:
    services.chat.script = Script(error=error, at_once=True)
    html = ask(page, "Why?")
    assert "Why?" in html
    assert str(error).replace("'", "&#x27;") in html
    assert (words.RETRYABLE in html) == getattr(error, "retryable", False)


def test_an_error_of_a_server_is_shown_without_its_address(
    page: AppTest, services: Services
) -> None:
    error = StorageUnavailableError("postgresql://db.example:5432 can't be used")
    error.public_message = "The database can't be used."
    services.chat.script = Script(error=error, at_once=True)
    html = ask(page, "Why?")
    assert "The database can&#x27;t be used." in html
    assert "db.example" not in html


def test_an_interrupted_answer_keeps_its_text(page: AppTest, services: Services) -> None:
    services.chat.script = Script(pieces=("Half an ", "answer"), error=ModelError("It broke off."))
    html = ask(page, "Why?")
    assert "Half an answer" in html
    assert "It broke off." in html
    html = page_text(page.run())  # now from the stored turn
    assert "Half an answer" in html
    assert "It broke off." in html
    assert words.INCOMPLETE in html


def test_an_unexpected_error_shows_no_traceback(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=RuntimeError("secret internals"), at_once=True)
    page.chat_input[0].set_value("Why?").run()
    assert [error.stack_trace for error in page.exception] == [[]]
    assert "secret internals" not in page.exception[0].message
    assert not any(words.STOPPED in element.value for element in page.html)


def test_asking_a_missing_turn_again_shows_the_error_and_not_a_stop(
    page: AppTest, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_missing(*_: object, **__: object) -> None:
        raise NotFoundError("It is gone: begin another one.")

    ask(page)
    monkeypatch.setattr(services.chat, "ask_again", raise_missing)
    html = press(page, "again-t1")
    assert "It is gone: begin another one." in html
    assert words.STOPPED not in html


def test_stopping_an_answer_closes_the_stream_of_the_service(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(pieces=("slow ",) * 100, pause_s=0.1)
    with pytest.raises(RuntimeError, match="timed out"):
        page.chat_input[0].set_value("Slowly?").run(timeout=4)
    assert services.chat.closed.wait(5)


def test_a_failed_first_question_has_a_conversation(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=ModelError("It broke off."))
    ask(page, "First?")
    services.chat.script = Script()
    html = ask(page, "Second?")
    assert "First?" in html
    assert [turn.question for turn in services.chat.stored["c1"]] == ["First?", "Second?"]


def test_a_new_conversation_after_an_error_is_empty(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=ModelError("No."), at_once=True)
    ask(page, "First?")
    next(button for button in page.button if button.label == words.NEW_CONVERSATION).click().run()
    services.chat.script = Script()
    ask(page, "Second?")
    assert set(services.chat.stored) == {"c1", "c2"}


def test_an_empty_library_says_how_to_fill_it(services: Services) -> None:
    services.library.now.documents = 0
    page = AppTest.from_file(str(APP), default_timeout=20).run()
    html = page_text(page)
    assert words.LIBRARY_EMPTY in html
    assert words.EMPTY_SAMPLES in html


def test_a_question_to_an_empty_library_is_answered_with_how_to_fill_it(
    services: Services,
) -> None:
    services.library.now.documents = 0
    page = AppTest.from_file(str(APP), default_timeout=20).run()
    html = ask(page, "How <many>?")
    assert "How &lt;many&gt;?" in html
    assert words.EMPTY_LIBRARY in html
    assert not services.chat.questions
    services.library.now.documents = 1
    ask(page, "How many?")
    assert services.chat.questions == ["How many?"]


def test_a_long_conversation_shows_the_latest_questions_and_more_on_request(
    page: AppTest, services: Services
) -> None:
    for n in range(PAGE_TURNS + 2):
        list(services.chat.stream(LOCAL_USER, f"Question {n}?", "c1" if n else None))
    page.query_params["conversation"] = "c1"
    html = page_text(page.run())
    assert "Question 1?" not in html
    assert "Question 2?" in html
    button = page.button(key="earlier-turns-button")
    assert button.label == "Show 2 earlier questions"
    assert "Question 0?" in page_text(button.click().run())
    assert "earlier-turns-button" not in [one.key for one in page.button]


def test_a_library_notice_is_shown(services: Services) -> None:
    services.library.now.notices = ("The embedding changed: re-embed 44 passages.",)
    assert "re-embed 44 passages" in page_text(
        AppTest.from_file(str(APP), default_timeout=20).run()
    )


def test_sample_questions_are_offered_only_with_the_sample_documents(services: Services) -> None:
    services.library.now.has_only_samples = False
    html = page_text(AppTest.from_file(str(APP), default_timeout=20).run())
    assert words.WELCOME in html
    assert "(9 documents in the library)" in html
    assert not any(question in html for question in words.SAMPLE_QUESTIONS)


def test_an_invalid_setting_is_reported_instead_of_a_broken_page(
    monkeypatch: pytest.MonkeyPatch, services: Services
) -> None:
    def fail() -> None:
        raise ConfigError("OPENAI_MODEL is missing.")

    monkeypatch.setattr(bootstrap, "build_services", fail)
    assert "OPENAI_MODEL is missing." in page_text(
        AppTest.from_file(str(APP), default_timeout=20).run()
    )


def test_a_very_long_question_is_truncated_when_repeated(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=ModelError("It broke off."), at_once=True)
    html = ask(page, "x" * 100_000)
    assert "It broke off." in html
    assert "98,000 more characters" in html
    assert "x" * 2001 not in html


def press(page: AppTest, key: str) -> str:
    page.button(key=key).click().run()
    return page_text(page)


def test_the_status_line_shows_the_steps_and_duration(page: AppTest, services: Services) -> None:
    html = ask(page)
    assert "Searched for <strong>How many days? (standalone)</strong>" in html
    assert "2 passages in 2 documents" in html
    assert "2.3 s" in html


def test_a_reranker_without_effect_is_reported_with_its_reason(
    page: AppTest, services: Services
) -> None:
    late = Explanation(0.5, (), move=Move(skipped="Reranking took longer than 1 s."))
    services.chat.script = Script(sources=(source(1, why=late), source(2, why=late)))
    assert "Not reranked: Reranking took longer than 1 s." in ask(page)
    explanation = Explanation(0.5, (), move=Move(0.9, 2, 1))
    services.chat.script = Script(sources=(source(1, why=explanation), source(2, why=late)))
    assert "Not reranked" not in ask(AppTest.from_file(str(APP), default_timeout=20).run())


def test_asking_again_adds_a_version_and_keeps_the_earlier_one(
    page: AppTest, services: Services
) -> None:
    ask(page)
    services.chat.script = Script(pieces=("Another answer.",))
    html = press(page, "again-t1")
    assert services.chat.questions == ["How many days?"] * 2
    assert "Another answer." in html
    assert "2/2" in html
    assert f"“{QUOTE}”" not in html
    html = press(page, "previous-t2")
    assert f"“{QUOTE}”" in html
    assert "1/2" in html
    assert page.button(key="previous-t1").disabled
    assert "Another answer." in press(page, "next-t1")


def test_editing_a_question_branches_and_keeps_the_original(
    page: AppTest, services: Services
) -> None:
    ask(page, "First?")
    ask(page, "Second?")
    press(page, "edit-t1")
    page.text_area(key="editor-question-t1").set_value("Really first?")
    html = press_button(page, words.ASK)
    assert "Really first?" in html
    assert "Second?" not in html
    html = press(page, "previous-t3")
    assert "Second?" in html
    assert [turn.question for turn in services.chat.stored["c1"]] == [
        "First?",
        "Second?",
        "Really first?",
    ]


def press_button(page: AppTest, label: str) -> str:
    next(button for button in page.button if button.label == label).click().run()
    return page_text(page)


def test_an_edited_query_keeps_the_typed_question_and_is_shown(
    page: AppTest, services: Services
) -> None:
    ask(page)
    press(page, "search-t1")
    page.text_area(key="editor-search-t1").set_value("annual leave days")
    html = press_button(page, words.SEARCH)
    assert "Searched for <strong>annual leave days</strong>, as you worded it" in html
    assert services.chat.questions == ["How many days?"] * 2


def test_closing_or_emptying_the_editor_asks_nothing(page: AppTest, services: Services) -> None:
    ask(page)
    press(page, "edit-t1")
    page.text_area(key="editor-question-t1").set_value("  ")
    press_button(page, words.ASK)
    assert page.text_area
    press_button(page, words.CANCEL)
    assert not page.text_area
    assert services.chat.questions == ["How many days?"]


def test_a_failed_answer_can_be_retried_immediately(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=ModelError("It broke off."), at_once=True)
    ask(page)
    services.chat.script = Script()
    html = press(page, "again-t1")
    assert f"“{QUOTE}”" in html
    assert "2/2" in html


def test_an_answer_is_copied_with_the_sources_it_cites(page: AppTest) -> None:
    html = ask(page)
    copied = html.split('data-copy="')[1].split('"')[0]
    assert copied.endswith("[1] Leave policy (leave-policy.md)")
    assert "Sick leave" not in copied


def test_a_stopped_answer_can_be_retried_immediately(page: AppTest, services: Services) -> None:
    services.chat.script = Script(pieces=("slow ",) * 100, pause_s=0.1)
    with pytest.raises(RuntimeError, match="timed out"):
        page.chat_input[0].set_value("Slowly?").run(timeout=4)
    assert services.chat.closed.wait(5)
    services.chat.script = Script()
    reloaded = AppTest.from_file(str(APP), default_timeout=20)
    reloaded.query_params["conversation"] = "c1"
    reloaded.run()
    assert words.STOPPED in page_text(reloaded)
    html = press(reloaded, "again-t1")
    assert f"“{QUOTE}”" in html
    assert "2/2" in html


def test_an_answer_interrupted_by_a_press_is_shown_as_stored(
    page: AppTest, services: Services
) -> None:
    ask(page)
    turns = services.chat.stored["c1"]
    stopped = replace(turns[0], state=TurnState.STOPPED)
    turns[0] = replace(turns[0], state=TurnState.RUNNING, answer="")
    page.session_state[STARTED_TURN] = stopped.id
    timer = threading.Timer(0.3, turns.__setitem__, (0, stopped))
    timer.start()
    html = page_text(page.run())
    timer.join()
    assert words.STOPPED in html
    assert words.RUNNING not in html


@pytest.mark.parametrize("standalone", [None, "annual leave days"])
def test_a_wider_search_repeats_the_question_with_the_chosen_scope(
    page: AppTest, services: Services, standalone: str | None
) -> None:
    ask(page)
    turn = services.chat.stored["c1"][0]
    change = Change.SEARCH if standalone else Change.NOTHING
    page.session_state[PENDING_VERSION] = NewVersion(
        turn, change, standalone or "", SearchChoice(k=9)
    )
    html = page_text(page.run())
    assert services.chat.searches == [SearchChoice(), SearchChoice(k=9)]
    assert f"<strong>{standalone or 'How many days? (standalone)'}</strong>" in html
    assert "2/2" in html
