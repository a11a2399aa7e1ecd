"""What the chat page shows for small talk and for a summary, over the real services."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import APP, ask, served
from ui import words


@pytest.fixture
def page(monkeypatch, imported):
    for _ in served(imported(embed=True), monkeypatch):
        yield AppTest.from_file(str(APP), default_timeout=20).run()


def greeting():
    """An answer that is being written and for which nothing was searched."""
    from ui.live_answer import LiveAnswer

    live = LiveAnswer(turns=None)
    live.write("Hello! ")


def test_a_greeting_is_answered_without_a_search_and_without_a_panel_on_proof(page):
    told = ask(page, "Hello!")
    assert "What would you like to know from your documents?" in told
    assert "fn-activity" not in told
    assert "fn-nothing" not in told
    assert "fn-doubt" not in told


def test_an_extract_shows_its_document_and_its_quotes(page):
    told = ask(page, "Summarize the leave policy")
    assert "This is an extract of “Leave policy”" in told
    assert words.SEARCHED_FOR.format(question="<strong>leave policy</strong>") in told
    assert "fn-nothing" not in told
    assert "fn-doubt" not in told


def test_while_a_greeting_is_answered_no_search_is_shown():
    page = AppTest.from_function(greeting).run()
    told = "\n".join(element.value for element in page.html)
    assert words.ANSWERING in told
    assert words.SEARCHING not in told
    assert words.NOTHING_FOUND not in told
