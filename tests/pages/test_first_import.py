"""The chat page while the first documents are being imported, over real services."""

import shutil

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER
from errors import NotFoundError
from services.sources.source_service import SourceSettings
from tests.conversations import conversations_of
from tests.pages.conftest import APP, install_services, page_text
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


@pytest.mark.parametrize(
    ("action", "reason"), [("pause", words.FIRST_IMPORT_PAUSED), ("cancel", "Reason: stopped")]
)
def test_a_question_whose_import_is_stopped_returns_to_the_input(
    services, samples, monkeypatch, action, reason
):
    wait = services.worker.wait

    def wait_for_stopped_import(principal, import_id, show):
        getattr(services.queue, action)(principal, import_id)
        return wait(principal, import_id, show)

    monkeypatch.setattr(services.worker, "wait", wait_for_stopped_import)
    page = open_page()
    page.chat_input[0].set_value(QUESTION).run()
    assert text_in_the_input(page) == QUESTION
    assert reason in page_text(page)


def test_a_question_whose_source_is_removed_returns_to_the_input(services, samples, monkeypatch):
    def wait(principal, import_id, show):
        raise NotFoundError("There is no such import.")

    monkeypatch.setattr(services.worker, "wait", wait)
    page = open_page()
    page.chat_input[0].set_value(QUESTION).run()
    assert text_in_the_input(page) == QUESTION
    assert "There is no such import." in page_text(page)
