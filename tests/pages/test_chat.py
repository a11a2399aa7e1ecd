"""The chat page, run without a browser over a service that plays a script."""

import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

import bootstrap
from domain import LOCAL_USER, Explanation, Move, SearchChoice, TurnState
from errors import (
    ConfigError,
    InputError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    StorageError,
)
from tests.pages.conftest import APP, Services, ask, shown
from tests.pages.double import QUOTE, Script, source
from ui import words
from ui.again import WANTED, Again, Change
from ui.conversations import BEGUN
from ui.earlier import SHOWN


def test_the_page_opens_with_first_questions_and_says_who_answers(page: AppTest) -> None:
    html = shown(page)
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


def test_a_sample_question_is_asked_by_pressing_it(page: AppTest, services: Services) -> None:
    page.button(key=f"sample-{words.SAMPLE_QUESTIONS[1]}").click().run()
    assert services.chat.asked == [words.SAMPLE_QUESTIONS[1]]
    assert words.SAMPLE_QUESTIONS[1] in shown(page)
    assert words.WELCOME not in shown(page)


def test_a_second_question_goes_on_in_the_same_conversation(
    page: AppTest, services: Services
) -> None:
    ask(page, "First?")
    html = ask(page, "Second?")
    assert [turn.question for turn in services.chat.stored["c1"]] == ["First?", "Second?"]
    assert "First?" in html


def test_a_reload_shows_the_conversation_in_the_address(page: AppTest) -> None:
    ask(page, "Will you remember?")
    assert page.query_params["conversation"] == "c1"
    reloaded = AppTest.from_file(str(APP))
    reloaded.query_params["conversation"] = "c1"
    html = shown(reloaded.run())
    assert "Will you remember?" in html
    assert f"<mark>{QUOTE}</mark>" in html


def test_a_conversation_that_is_gone_is_said_and_the_page_starts_anew(services: Services) -> None:
    page = AppTest.from_file(str(APP))
    page.query_params["conversation"] = "gone"
    assert words.LOST_CONVERSATION in shown(page.run())
    assert words.WELCOME in shown(page)


def test_the_sidebar_leads_to_a_new_conversation_and_back(page: AppTest) -> None:
    ask(page, "First?")
    next(button for button in page.button if button.label == words.NEW_CONVERSATION).click().run()
    assert words.WELCOME in shown(page)
    page.button(key="conversation-c1").click().run()
    assert "First? (standalone)" in shown(page)


@pytest.mark.parametrize(
    "error",
    [
        InputError("The question is empty."),
        ModelError("The model refused the key. Check OPENAI_API_KEY."),
        ModelUnavailableError("The model can't be reached at http://localhost:1."),
        StorageError("The data folder /data can't be written."),
    ],
)
def test_an_error_is_shown_in_its_own_words_beside_the_question(
    page: AppTest, services: Services, error: Exception
) -> None:
    services.chat.script = Script(error=error, at_once=True)
    html = ask(page, "Why?")
    assert "Why?" in html
    assert str(error).replace("'", "&#x27;") in html
    assert (words.RETRYABLE in html) == getattr(error, "retryable", False)


def test_a_broken_off_answer_keeps_what_was_written(page: AppTest, services: Services) -> None:
    services.chat.script = Script(pieces=("Half an ", "answer"), error=ModelError("It broke off."))
    html = ask(page, "Why?")
    assert "Half an answer" in html
    assert "It broke off." in html
    html = shown(page.run())  # now from what was stored
    assert "Half an answer" in html
    assert "It broke off." in html
    assert words.INCOMPLETE in html


def test_an_unexpected_error_shows_no_traceback(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=RuntimeError("secret internals"), at_once=True)
    page.chat_input[0].set_value("Why?").run()
    assert [error.stack_trace for error in page.exception] == [[]]
    assert "secret internals" not in page.exception[0].message
    assert not any(words.STOPPED in element.value for element in page.html)


def test_a_version_of_what_is_gone_tells_so_and_of_no_stop(
    page: AppTest, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise NotFoundError("It is gone: begin another one.")

    ask(page)
    monkeypatch.setattr(services.chat, "ask_again", gone)
    html = press(page, "again-t1")
    assert "It is gone: begin another one." in html
    assert words.STOPPED not in html


def test_a_stopped_answer_closes_the_service_so_that_it_keeps_the_text(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(pieces=("slow ",) * 100, pause_s=0.1)
    with pytest.raises(RuntimeError, match="timed out"):
        page.chat_input[0].set_value("Slowly?").run(timeout=1)
    assert services.chat.closed.wait(5)


def test_a_first_question_that_failed_has_its_conversation(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(error=ModelError("It broke off."))
    ask(page, "First?")
    services.chat.script = Script()
    html = ask(page, "Second?")
    assert "First?" in html
    assert [turn.question for turn in services.chat.stored["c1"]] == ["First?", "Second?"]


def test_a_new_conversation_after_an_error_is_a_new_one(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=ModelError("No."), at_once=True)
    ask(page, "First?")
    next(button for button in page.button if button.label == words.NEW_CONVERSATION).click().run()
    services.chat.script = Script()
    ask(page, "Second?")
    assert set(services.chat.stored) == {"c1", "c2"}


def test_an_empty_library_says_how_to_fill_it(services: Services) -> None:
    services.library.now.documents = 0
    page = AppTest.from_file(str(APP)).run()
    html = shown(page)
    assert words.LIBRARY_EMPTY in html
    assert words.EMPTY_SAMPLES in html


def test_a_question_asked_of_an_empty_library_is_answered_by_where_documents_come_from(
    services: Services,
) -> None:
    services.library.now.documents = 0
    page = AppTest.from_file(str(APP)).run()
    html = ask(page, "How <many>?")
    assert "How &lt;many&gt;?" in html
    assert words.EMPTY_ASKED in html
    assert not services.chat.asked
    services.library.now.documents = 1
    ask(page, "How many?")
    assert services.chat.asked == ["How many?"]


def test_of_a_long_conversation_the_latest_questions_are_shown_and_earlier_ones_on_request(
    page: AppTest, services: Services
) -> None:
    for n in range(SHOWN + 2):
        list(services.chat.stream(LOCAL_USER, f"Question {n}?", "c1" if n else None))
    page.query_params["conversation"] = "c1"
    html = shown(page.run())
    assert "Question 1?" not in html
    assert "Question 2?" in html
    button = page.button(key="earlier-turns-button")
    assert button.label == "Show 2 earlier questions"
    assert "Question 0?" in shown(button.click().run())
    assert "earlier-turns-button" not in [one.key for one in page.button]


def test_a_notice_of_the_library_is_shown(services: Services) -> None:
    services.library.now.notices = ("The embedding changed: re-embed 44 passages.",)
    assert "re-embed 44 passages" in shown(AppTest.from_file(str(APP)).run())


def test_only_a_library_with_the_samples_offers_questions_about_them(services: Services) -> None:
    services.library.now.has_samples = False
    html = shown(AppTest.from_file(str(APP)).run())
    assert words.WELCOME in html
    assert "(9 documents in the library)" in html
    assert not any(question in html for question in words.SAMPLE_QUESTIONS)


def test_a_wrong_setting_is_named_instead_of_a_page_that_cannot_work(
    monkeypatch: pytest.MonkeyPatch, services: Services
) -> None:
    def refuse() -> None:
        raise ConfigError("OPENAI_MODEL is missing.")

    monkeypatch.setattr(bootstrap, "build_services", refuse)
    assert "OPENAI_MODEL is missing." in shown(AppTest.from_file(str(APP)).run())


def test_of_a_very_long_question_only_the_beginning_is_repeated(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(error=InputError("The question is too long."), at_once=True)
    html = ask(page, "x" * 100_000)
    assert "The question is too long." in html
    assert "98,000 more characters" in html
    assert "x" * 2001 not in html


def press(page: AppTest, key: str) -> str:
    page.button(key=key).click().run()
    return shown(page)


def test_the_line_above_the_answer_tells_what_was_done_and_how_long_it_took(
    page: AppTest, services: Services
) -> None:
    html = ask(page)
    assert "Searched for <strong>How many days? (standalone)</strong>" in html
    assert "2 passages in 2 documents" in html
    assert "2.3 s" in html


def test_a_reranker_that_did_nothing_is_told_with_its_reason(
    page: AppTest, services: Services
) -> None:
    late = Explanation(0.5, (), move=Move(skipped="Reranking took longer than 1 s."))
    services.chat.script = Script(sources=(source(1, why=late), source(2, why=late)))
    assert "Not reranked: Reranking took longer than 1 s." in ask(page)
    done = Explanation(0.5, (), move=Move(0.9, 2, 1))
    services.chat.script = Script(sources=(source(1, why=done), source(2, why=late)))
    assert "Not reranked" not in ask(AppTest.from_file(str(APP), default_timeout=20).run())


def test_asking_again_gives_another_version_and_the_earlier_one_can_be_shown(
    page: AppTest, services: Services
) -> None:
    ask(page)
    services.chat.script = Script(pieces=("Another answer.",))
    html = press(page, "again-t1")
    assert services.chat.asked == ["How many days?"] * 2
    assert "Another answer." in html
    assert "2/2" in html
    assert f"“{QUOTE}”" not in html
    html = press(page, "previous-t2")
    assert f"“{QUOTE}”" in html
    assert "1/2" in html
    assert page.button(key="previous-t1").disabled
    assert "Another answer." in press(page, "next-t1")


def test_an_edited_question_begins_another_branch_and_nothing_is_lost(
    page: AppTest, services: Services
) -> None:
    ask(page, "First?")
    ask(page, "Second?")
    press(page, "edit-t1")
    page.text_area(key="editor-question-t1").set_value("Really first?")
    html = press_labelled(page, words.ASK)
    assert "Really first?" in html
    assert "Second?" not in html
    html = press(page, "previous-t3")
    assert "Second?" in html
    assert [turn.question for turn in services.chat.stored["c1"]] == [
        "First?",
        "Second?",
        "Really first?",
    ]


def press_labelled(page: AppTest, label: str) -> str:
    next(button for button in page.button if button.label == label).click().run()
    return shown(page)


def test_an_edited_search_keeps_the_typed_question_and_is_told(
    page: AppTest, services: Services
) -> None:
    ask(page)
    press(page, "search-t1")
    page.text_area(key="editor-search-t1").set_value("annual leave days")
    html = press_labelled(page, words.SEARCH)
    assert "Searched for <strong>annual leave days</strong>, as you worded it" in html
    assert services.chat.asked == ["How many days?"] * 2


def test_an_editor_that_is_left_or_emptied_asks_nothing(page: AppTest, services: Services) -> None:
    ask(page)
    press(page, "edit-t1")
    page.text_area(key="editor-question-t1").set_value("  ")
    press_labelled(page, words.ASK)
    assert page.text_area
    press_labelled(page, words.CANCEL)
    assert not page.text_area
    assert services.chat.asked == ["How many days?"]


def test_a_failed_answer_can_be_asked_again_at_once(page: AppTest, services: Services) -> None:
    services.chat.script = Script(error=ModelError("It broke off."), at_once=True)
    ask(page)
    services.chat.script = Script()
    html = press(page, "again-t1")
    assert f"“{QUOTE}”" in html
    assert "2/2" in html


def test_an_answer_is_copied_with_the_sources_it_cites(page: AppTest) -> None:
    html = ask(page)
    copied = html.split('data-copy="')[1].split('"')[0]
    assert copied.endswith("[1] Leave policy (handbook/leave-policy.md)")
    assert "Sick leave" not in copied


def test_a_stopped_answer_can_be_asked_again_at_once(page: AppTest, services: Services) -> None:
    services.chat.script = Script(pieces=("slow ",) * 100, pause_s=0.1)
    with pytest.raises(RuntimeError, match="timed out"):
        page.chat_input[0].set_value("Slowly?").run(timeout=1)
    assert services.chat.closed.wait(5)
    services.chat.script = Script()
    reloaded = AppTest.from_file(str(APP), default_timeout=20)
    reloaded.query_params["conversation"] = "c1"
    reloaded.run()
    assert words.STOPPED in shown(reloaded)
    html = press(reloaded, "again-t1")
    assert f"“{QUOTE}”" in html
    assert "2/2" in html


def test_an_answer_that_a_press_has_ended_is_shown_as_it_was_kept(
    page: AppTest, services: Services
) -> None:
    ask(page)
    turns = services.chat.stored["c1"]
    stopped = replace(turns[0], state=TurnState.STOPPED)
    turns[0] = replace(turns[0], state=TurnState.RUNNING, answer="")
    page.session_state[BEGUN] = stopped.id
    kept = threading.Timer(0.3, turns.__setitem__, (0, stopped))
    kept.start()
    html = shown(page.run())
    kept.join()
    assert words.STOPPED in html
    assert words.RUNNING not in html


@pytest.mark.parametrize("standalone", [None, "annual leave days"])
def test_a_wider_search_asks_the_same_question_again_searched_as_chosen(
    page: AppTest, services: Services, standalone: str | None
) -> None:
    ask(page)
    turn = services.chat.stored["c1"][0]
    change = Change.SEARCH if standalone else Change.NOTHING
    page.session_state[WANTED] = Again(turn, change, standalone or "", SearchChoice(k=9))
    html = shown(page.run())
    assert services.chat.searches == [SearchChoice(), SearchChoice(k=9)]
    assert f"<strong>{standalone or 'How many days? (standalone)'}</strong>" in html
    assert "2/2" in html
