"""The chat page while the first documents are being imported, over real services."""

import shutil

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from domain import LOCAL_USER, ImportState
from services.sources.source_service import SourceSettings
from tests.conversations import conversations_of
from tests.pages.conftest import APP, install_services, page_text
from tests.pages.events import event_during_progress
from ui.chat.first_import import SHOW_RETURNED
from ui.text import words

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture
def services(monkeypatch, build_services):
    yield from install_services(build_services(embed=True), monkeypatch)


@pytest.fixture
def samples(services):
    """The run that imports the samples, queued by the first start."""
    source = services.directories.add_samples_once(LOCAL_USER)
    return services.sources.refresh(LOCAL_USER, source.id)


def open_page():
    page = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not page.exception
    return page


def headings(page):
    return [one.value for one in page.subheader]


def test_the_page_says_that_documents_are_being_imported(services, samples):
    page = open_page()
    assert headings(page) == [words.FIRST_IMPORT]
    assert not page.chat_input[0].disabled


def test_a_question_is_answered_once_the_documents_are_imported(services, samples):
    page = open_page()
    page.chat_input[0].set_value(QUESTION).run()
    assert not page.exception
    [conversation] = conversations_of(services)
    assert conversation.title == QUESTION
    [turn] = services.turns.list(LOCAL_USER, conversation.id)
    assert "25" in turn.answer


def test_the_welcome_follows_when_the_import_has_ended(services, samples):
    page = open_page()
    services.worker.wait(LOCAL_USER, samples.id)
    assert headings(page.run()) == [words.WELCOME]


def test_a_library_whose_import_was_canceled_offers_documents(services, samples):
    services.queue.cancel(LOCAL_USER, samples.id)
    assert headings(open_page()) == [words.LIBRARY_EMPTY]


def text_in_the_input(page):
    return page.chat_input[0].proto.value


@pytest.fixture
def lost_folder(services, handbook):
    """The queued import of a folder that has disappeared."""
    fields = {"path": str(handbook)}
    source = services.sources.add(LOCAL_USER, "directory", fields, SourceSettings()).source
    shutil.rmtree(handbook)
    return services.sources.refresh(LOCAL_USER, source.id)


def test_a_question_whose_import_fails_returns_to_the_input_with_the_reason(services, lost_folder):
    page = open_page()
    page.chat_input[0].set_value(QUESTION).run()
    assert text_in_the_input(page) == QUESTION
    assert "added no documents" in page_text(page)
    assert "handbook does not exist" in page_text(page)
    assert words.EMPTY_LIBRARY not in page_text(page)
    assert conversations_of(services) == []


def test_a_question_whose_import_finds_no_documents_returns_to_the_input(services, handbook):
    fields = {"path": str(handbook)}
    source = services.sources.add(LOCAL_USER, "directory", fields, SourceSettings()).source
    shutil.rmtree(handbook)
    handbook.mkdir()
    services.sources.refresh(LOCAL_USER, source.id)
    page = open_page()
    page.chat_input[0].set_value(QUESTION).run()
    assert text_in_the_input(page) == QUESTION
    assert words.FIRST_IMPORT_EMPTY in page_text(page)
    assert "Reason" not in page_text(page)


def ask_until(page, event):
    """Ask; the event, which receives the runner of the page, ends the wait for the import."""
    with event_during_progress(words.FIRST_IMPORT_WAIT, event):
        page.chat_input[0].set_value(QUESTION).run()


@pytest.mark.parametrize(
    ("action", "reason"), [("pause", words.FIRST_IMPORT_PAUSED), ("cancel", "Reason: stopped")]
)
def test_a_question_whose_import_is_stopped_returns_to_the_input(services, samples, action, reason):
    def stop_import(_runner):
        getattr(services.queue, action)(LOCAL_USER, samples.id)

    page = open_page()
    ask_until(page, stop_import)
    assert text_in_the_input(page) == QUESTION
    assert reason in page_text(page)


def test_a_question_whose_source_is_removed_returns_to_the_input(services, samples):
    def remove_source(_runner):
        services.sources.delete(LOCAL_USER, samples.source_id)
        assert services.worker.run_next()

    page = open_page()
    ask_until(page, remove_source)
    assert text_in_the_input(page) == QUESTION
    assert "was removed with its source" in page_text(page)


def test_a_question_returns_to_the_input_when_the_reader_stops_the_wait(services, samples):
    page = open_page()
    ask_until(page, LocalScriptRunner.request_stop)
    assert text_in_the_input(page) == ""
    page.button(key=SHOW_RETURNED).click().run()  # as a script of the page does
    assert text_in_the_input(page) == QUESTION
    assert headings(page) == [words.FIRST_IMPORT]
    assert conversations_of(services) == []


def test_a_returned_question_can_be_asked_again(services, samples):
    page = open_page()
    ask_until(page, LocalScriptRunner.request_stop)
    page.button(key=SHOW_RETURNED).click().run()
    page.chat_input[0].set_value(QUESTION).run()
    assert text_in_the_input(page) == ""
    assert [one.title for one in conversations_of(services)] == [QUESTION]


def test_a_stop_of_a_page_that_imports_the_documents_itself_does_not_end_the_import(
    services, samples
):
    def stop_during_import(runner):
        if services.queue.get(LOCAL_USER, samples.id).state is ImportState.RUNNING:
            runner.request_stop()

    page = open_page()
    ask_until(page, stop_during_import)
    assert services.queue.get(LOCAL_USER, samples.id).state is ImportState.INTERRUPTED
    page.button(key=SHOW_RETURNED).click().run()
    assert headings(page) == [words.FIRST_IMPORT]
    page.chat_input[0].set_value(QUESTION).run()
    assert services.queue.get(LOCAL_USER, samples.id).state is ImportState.COMPLETED
    assert [one.title for one in conversations_of(services)] == [QUESTION]
