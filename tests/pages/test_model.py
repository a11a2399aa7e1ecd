"""How the chat page names the answering model, and answers cut off at a limit."""

from html import escape

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from services.chat.running_answer import BLANK, CALLED_TOOLS, FILTERED
from tests.fakes.openai import MODEL, Call, Endless, Reasoned, Text, ToolCalls
from tests.pages.conftest import APP, install_services, page_text
from ui.text import words

QUESTION = "How many days of annual leave do new employees get?"
BUILT_IN = "Answers by the built-in extractive answerer"
KEY_ALONE = "OPENAI_API_KEY is set, but FOOTNOTE_CHAT_MODEL is not"


@pytest.fixture
def open_page(imported, monkeypatch):
    """Opens the page over services with these settings."""
    generators = []

    def run_page(**settings):
        services = imported(**settings)
        generators.append(install_services(services, monkeypatch))
        next(generators[-1])
        services.chat.answerers.resolve()
        return AppTest.from_file(str(APP), default_timeout=30).run()

    yield run_page
    for one in generators:
        next(one, None)


def ask(page):
    return page.chat_input[0].set_value(QUESTION).run()


def test_a_key_without_a_model_is_explained_and_the_question_is_answered(open_page):
    page = open_page(openai_api_key="sk-secret")
    html = page_text(page)
    assert BUILT_IN in html
    assert KEY_ALONE in html
    assert "sk-secret" not in html
    assert "25 days" in page_text(ask(page))


def test_without_a_key_there_is_no_explanation(open_page):
    html = page_text(open_page())
    assert BUILT_IN in html
    assert "FOOTNOTE_CHAT_MODEL" not in html


def test_the_only_model_of_a_server_is_used_and_named(open_page, model_server):
    model_server.models = [MODEL]
    model_server.will(Text("25 days."))
    page = open_page(openai_base_url=model_server.url)
    html = page_text(page)
    assert f"Answers by {MODEL}" in html
    assert "the only model that 127.0.0.1" in html
    assert not page.toggle[0].disabled  # so that the agent is available
    assert "25 days." in page_text(ask(page))


def test_several_available_models_are_listed(open_page, model_server):
    html = page_text(open_page(openai_base_url=model_server.url))
    assert BUILT_IN in html
    assert "one of them: test-chat, test-embedding" in html


def test_the_explanation_is_in_the_readers_language(open_page, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "ko")
    html = page_text(open_page(openai_api_key="sk-secret"))
    assert KEY_ALONE not in html
    assert "FOOTNOTE_CHAT_MODEL이 설정되지 않아" in html


def test_an_invalid_url_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:11434")
    st.cache_resource.clear()
    page = AppTest.from_file(str(APP), default_timeout=20).run()
    assert "OPENAI_BASE_URL is not a valid address" in page_text(page)
    assert not page.chat_input
    st.cache_resource.clear()


def test_an_endless_answer_is_shown_up_to_the_limit(open_page, model_server):
    page = open_page(openai_base_url=model_server.url, chat_model=MODEL, chat_max_tokens=16)
    model_server.will(Endless(content="word "))
    html = page_text(ask(page))
    assert "word word" in html
    assert words.INCOMPLETE in html
    assert "FOOTNOTE_CHAT_MAX_TOKENS" in html
    assert model_server.hung_up.wait(10)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Text(""), BLANK),
        (ToolCalls(Call("search", {})), CALLED_TOOLS),
        (Text("They get", finish_reason="content_filter"), FILTERED),
    ],
)
def test_a_reply_without_an_answer_is_explained_above_no_closest_passages(
    open_page, model_server, reply, reason
):
    model_server.will(reply)
    page = ask(open_page(openai_base_url=model_server.url, chat_model=MODEL))
    for html in (page_text(page), page_text(page.run())):
        assert escape(reason) in html
        assert words.INCOMPLETE in html
        assert "found without it:" in html or "found without the language model:" in html
        assert "25 days of annual leave a year" in html
        assert words.NOTHING_TITLE not in html


def test_the_reasoning_is_folded_above_the_answer_and_escaped(open_page, model_server):
    model_server.will(Reasoned("Is it <b>25</b>?", text="The documents do not say."))
    page = ask(open_page(openai_base_url=model_server.url, chat_model=MODEL))
    for html in (page_text(page), page_text(page.run())):
        reasoning = html.partition('<details class="fn-reasoning">')[2]
        assert f"<summary>{words.REASONING}</summary>" in reasoning
        assert words.REASONING_NOTE in reasoning
        thought, _, answer = reasoning.partition("</details>")
        assert "Is it &lt;b&gt;25&lt;/b&gt;?" in thought
        assert "The documents do not say." in answer
        assert "25" not in answer.partition("</div>")[0]


def test_an_answer_that_times_out_names_the_setting(open_page, model_server):
    page = open_page(openai_base_url=model_server.url, chat_model=MODEL, chat_answer_timeout_s=3)
    model_server.will(Endless(content="word ", pause_s=0.01))
    html = page_text(ask(page))
    assert "word word" in html
    assert "FOOTNOTE_CHAT_ANSWER_TIMEOUT_S" in html
    assert model_server.hung_up.wait(10)


def test_the_extract_follows_an_uncited_answer_at_once_and_after_a_reload(open_page, model_server):
    model_server.will(Text("Thirty days of holidays, in <code> for all:\n\n```\ndays = 30"))
    page = ask(open_page(openai_base_url=model_server.url, chat_model=MODEL))
    for html in (page_text(page), page_text(page.run())):
        assert "<strong>The text above cites nothing that was found in the documents." in html
        extract = html.partition("<strong>The text above")[2]
        assert "New employees get 25 days of annual leave a year." in extract
        assert "</pre>" not in extract.partition("25 days")[0]
