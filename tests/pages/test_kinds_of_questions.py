"""Small talk and summaries on the chat page, over real services."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import APP, ask, install_services
from ui.text import words


@pytest.fixture
def page(monkeypatch, imported):
    for _ in install_services(imported(embed=True), monkeypatch):
        yield AppTest.from_file(str(APP), default_timeout=20).run()


def greeting():
    """An answer in progress for which nothing was searched."""
    from ui.chat.live_answer import LiveAnswer

    live = LiveAnswer(services=None)
    live.write("Hello! ")


def test_a_greeting_is_answered_without_a_search_or_an_evidence_panel(page):
    html = ask(page, "Hello!")
    assert "What would you like to know from your documents?" in html
    assert "fn-activity" not in html
    assert "fn-nothing" not in html
    assert "fn-doubt" not in html


def test_an_extract_shows_its_document_and_its_quotes(page):
    html = ask(page, "Summarize the leave policy")
    assert "This is an extract of “Leave policy”" in html
    assert words.SEARCHED_FOR.format(question="<strong>leave policy</strong>") in html
    assert "fn-nothing" not in html
    assert "fn-doubt" not in html


def test_no_search_is_shown_while_a_greeting_is_answered():
    page = AppTest.from_function(greeting, default_timeout=20).run()
    html = "\n".join(element.value for element in page.html)
    assert words.ANSWERING in html
    assert words.SEARCHING not in html
    assert words.NO_PASSAGE_FOUND not in html
