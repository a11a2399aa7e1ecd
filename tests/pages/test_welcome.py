"""The page before the first question, over real services."""

from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, DocumentFilter, Principal
from tests.conversations import conversations_of
from tests.pages.conftest import APP, install_services, page_text
from ui.shared import session
from ui.text import words


@pytest.fixture
def services(monkeypatch, build_services):
    yield from install_services(build_services(embed=True), monkeypatch)


@pytest.fixture
def services_with_samples(monkeypatch, imported_samples):
    yield from install_services(imported_samples(embed=True), monkeypatch)


def open_page():
    page = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not page.exception
    return page


def labels(page):
    return [one.label for one in page.button if (one.key or "").startswith("sample-")]


def test_a_reader_of_an_empty_library_is_sent_to_an_editor(services, monkeypatch):
    monkeypatch.setattr(session, "principal", lambda services: Principal("ada"))
    page = open_page()
    texts = [one.value for one in page.markdown]
    assert words.EMPTY_FOR_READERS in texts
    assert words.EMPTY_HOW not in texts
    assert "import-samples" not in [one.key for one in page.button]
    assert not page.get("page_link")


def test_a_button_imports_the_samples_into_an_empty_library(services):
    page = open_page()
    assert page.subheader[0].value == words.LIBRARY_EMPTY
    page.button(key="import-samples").click().run()
    assert not page.exception
    assert services.library.status(LOCAL_USER).has_samples
    assert labels(page) == list(words.SAMPLE_QUESTIONS)


def test_a_users_library_suggests_questions_about_itself(services, handbook):
    services.directories.import_directory(LOCAL_USER, handbook)
    page = open_page()
    assert "Leave policy" in labels(page)[0]  # the page is in English
    assert len(labels(page)) == 4
    question = labels(page)[0]
    page.button(key=f"sample-{question}").click().run()
    assert [one.title for one in conversations_of(services)] == [question]


def test_questions_about_a_document_disappear_when_it_is_hidden(services, tmp_path, monkeypatch):
    folder = tmp_path / "plans"
    folder.mkdir()
    for name in ("Budget", "Travel"):
        text = f"# {name} plan\n\n## {name} rules\n\nThe {name} plan has rules for everyone here.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, folder)
    page = services.documents.page(LOCAL_USER, DocumentFilter())
    ids = {one.title: one.id for one in page.documents}
    nobody, restrictions = [frozenset()], services.access.restrictions
    restrictions.restrict_documents({ids["Budget plan"]: nobody, ids["Travel plan"]: []})
    monkeypatch.setattr(session, "principal", lambda services: Principal("ada"))
    page = open_page()
    assert any("Travel" in one for one in labels(page))
    restrictions.restrict_documents({ids["Budget plan"]: [], ids["Travel plan"]: nobody})
    shown = labels(page.run())
    assert any("Budget" in one for one in shown)
    assert not any("Travel" in one for one in shown)


def test_documents_can_be_added_beside_the_questions(services, handbook):
    services.directories.import_directory(LOCAL_USER, handbook)
    page = open_page()
    assert words.ADD_DOCUMENTS in [one.label for one in page.get("page_link")]
    assert words.SAMPLES_REMOVE not in page_text(page)


def test_own_documents_replace_the_questions_about_the_samples(services_with_samples, handbook):
    services_with_samples.directories.import_directory(LOCAL_USER, handbook)
    shown = labels(open_page())
    assert any("Leave policy" in label for label in shown)
    assert not set(shown) & set(words.SAMPLE_QUESTIONS)


@pytest.mark.parametrize(("language", "first"), [("ko", 1), ("ja", 2)])
def test_sample_questions_in_the_language_of_the_page_come_first(
    services_with_samples, language, first
):
    page = AppTest.from_file(str(APP), default_timeout=60)
    with patch("bootstrap.interface_language", return_value=language):
        page.run()
    assert labels(page)[0] == words.SAMPLE_QUESTIONS[first]
    assert len(labels(page)) == len(words.SAMPLE_QUESTIONS)


def test_a_button_removes_the_samples_after_saying_what_happens(services_with_samples, handbook):
    services = services_with_samples
    services.directories.import_directory(LOCAL_USER, handbook)
    page = open_page()
    assert words.SAMPLES_REMOVE_EFFECT in page_text(page)
    page.button(key="remove-samples").click().run()
    assert not page.exception
    status = services.library.status(LOCAL_USER)
    assert (status.documents, status.has_samples) == (4, False)
    assert "remove-samples" not in [one.key for one in page.button]


def test_samples_that_another_window_has_removed_cause_no_error(services_with_samples):
    services = services_with_samples
    page = open_page()
    source = services.directories.samples(LOCAL_USER)
    services.worker.wait(LOCAL_USER, services.sources.delete(LOCAL_USER, source.id).id)
    page.button(key="remove-samples").click().run()
    assert page.subheader[0].value == words.LIBRARY_EMPTY


def test_samples_can_be_added_when_existing_sources_are_empty(services, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    services.directories.import_directory(LOCAL_USER, empty)
    page = open_page()
    page.button(key="import-samples").click().run()
    assert services.library.status(LOCAL_USER).has_samples


def test_markdown_in_a_question_is_not_shown(services, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    text = "# Rules\n\n**How do I apply for *A* and *B*?**\nWrite to the office with your name.\n"
    (folder / "a.md").write_text(text, encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, folder)
    assert labels(open_page())[0] == "How do I apply for A and B?"
