"""The chat page while the first documents are being imported, over real services."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER
from tests.conversations import conversations_of
from tests.pages.conftest import APP, install_services
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
