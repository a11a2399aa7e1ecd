"""The page before the first question, over real services."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER
from tests.conversations import conversations_of
from tests.pages.conftest import APP, install_services
from ui.text import words


@pytest.fixture
def services(monkeypatch, build_services):
    yield from install_services(build_services(embed=True), monkeypatch)


def open_page():
    page = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not page.exception
    return page


def labels(page):
    return [one.label for one in page.button if (one.key or "").startswith("sample-")]


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
    assert any("Leave policy" in label for label in labels(page))
    assert any("‘휴가 규정’" in label for label in labels(page))
    question = labels(page)[0]
    page.button(key=f"sample-{question}").click().run()
    assert [one.title for one in conversations_of(services)] == [question]


def test_samples_can_be_added_when_existing_sources_are_empty(services, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    services.directories.import_directory(LOCAL_USER, empty)
    page = open_page()
    page.button(key="import-samples").click().run()
    assert services.library.status(LOCAL_USER).has_samples


def test_markdown_in_a_title_is_shown_literally(services, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Rules [draft] for $cost$\n\nText.\n", encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, folder)
    assert "\\[draft\\]" in labels(open_page())[0]
