"""The agent switch and the agent's steps on the chat page, over real services."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, Scope, SearchChoice
from services.agent.document_agent import SEARCH_FOR
from tests.fakes.openai import Call, Text, ToolCalls
from tests.pages.conftest import APP, install_services, page_text
from tests.pages.events import html_log
from ui.text import words

QUESTION = "How many days of annual leave?"
SEARCH = Call("search_documents", {"query": "annual leave", "k": 2, "mode": "bm25"})
REPLY = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


@pytest.fixture
def services(monkeypatch, imported):
    yield from install_services(imported(chat=True, embed=True), monkeypatch)


@pytest.fixture
def model(services, model_server):
    """A model that searches once, if tools are offered, and answers with the result."""

    def answer(body):
        if "tools" not in body or body["messages"][-1]["role"] == "tool":
            return Text(REPLY)
        return ToolCalls(SEARCH, text="Let me look.")

    model_server.answer = answer
    return model_server


@pytest.fixture
def services_without_model(monkeypatch, imported):
    yield from install_services(imported(embed=True), monkeypatch)


def open_page(conversation=""):
    page = AppTest.from_file(str(APP), default_timeout=30)
    if conversation:
        page.query_params["conversation"] = conversation
    return page.run()


def ask_agent(page=None):
    """The page after a question to the agent."""
    page = page or open_page()
    if not page.toggle[0].value:
        page.toggle[0].set_value(True).run()
    page.chat_input[0].set_value(QUESTION).run()
    assert not page.exception
    return page


def press(page, label):
    next(button for button in page.button if button.label == label).click().run()
    return page_text(page)


def last_turn(services, page):
    return services.turns.list(LOCAL_USER, page.query_params["conversation"])[-1]


def test_the_agent_switch_is_remembered_with_its_conversation(services, model):
    page = ask_agent()
    assert last_turn(services, page).steps
    conversation_id = page.query_params["conversation"]
    assert services.conversations.get(LOCAL_USER, conversation_id).search == SearchChoice(
        by_agent=True
    )
    assert open_page(conversation_id).toggle[0].value is True
    press(page, words.NEW_CONVERSATION)
    assert page.toggle[0].value is False


def test_switching_off_sends_the_next_question_straight_to_search(services, model):
    page = ask_agent()
    page.toggle[0].set_value(False).run()
    page.chat_input[0].set_value("And sick leave?").run()
    turn = last_turn(services, page)
    assert (turn.question, turn.steps, turn.search.by_agent) == ("And sick leave?", (), False)
    assert not any("tools" in request.body for request in model.requests[-2:])


def test_the_scope_and_its_reset_do_not_change_the_switch(services, model):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    narrow = SearchChoice(Scope(formats=("md",)), by_agent=True)
    services.conversations.remember(LOCAL_USER, conversation_id, narrow)
    page = open_page(conversation_id)
    assert page.toggle[0].value is True
    press(page, words.SCOPE_RESET)
    assert services.conversations.get(LOCAL_USER, conversation_id).search == SearchChoice(
        by_agent=True
    )
    assert page.toggle[0].value is True
    assert next(one for one in page.button if one.label == words.SCOPE_RESET).disabled


def test_without_a_chat_model_the_switch_names_the_setting_and_is_off(services_without_model):
    conversations = services_without_model.conversations
    conversation_id = conversations.begin(LOCAL_USER, "Leave").id
    conversations.remember(LOCAL_USER, conversation_id, SearchChoice(k=3, by_agent=True))
    page = open_page(conversation_id)
    switch = page.toggle[0]
    assert (switch.disabled, switch.value) == (True, False)
    assert "FOOTNOTE_CHAT_MODEL" in switch.help
    page.chat_input[0].set_value(QUESTION).run()
    assert not page.exception
    turn = last_turn(services_without_model, page)
    assert (turn.search.k, turn.search.by_agent, turn.steps) == (3, False, ())
    assert "25 days" in turn.answer
    assert conversations.get(LOCAL_USER, conversation_id).search.by_agent


def test_the_steps_of_a_stored_turn_are_collapsed_into_one_line(model):
    page = ask_agent()
    reopened = open_page(page.query_params["conversation"])
    for html in (page_text(page), page_text(reopened)):
        line, steps = html.split('class="fn-taken"')[1].split("</summary>", 1)
        assert ">1 step · 2 passages in" in line
        assert "Let me look." in steps
        assert "Searched for <strong>annual leave</strong>" in steps
        assert "They get 25 days" in html
        assert "1 quote found in the documents" in html
    assert words.SEARCH_AGAIN not in [button.label for button in reopened.button]


def test_a_step_shows_when_it_starts_and_earlier_text_is_not_the_answer(model):
    page = open_page()
    page.toggle[0].set_value(True).run()
    with html_log() as log:
        page.chat_input[0].set_value(QUESTION).run()
    begin, step = next((at, html) for at, html in enumerate(log) if "fn-step fn-now" in html)
    assert "Searching for <strong>annual leave</strong>" in step
    assert "Let me look." in step
    answer_before, *_ = [html for html in reversed(log[:begin]) if "fn-answer" in html]
    answer_after, *_ = [html for html in log[begin:] if "fn-answer" in html]
    assert "Let me look." in answer_before
    assert "Let me look." not in answer_after


def live(page):
    """Text on the page before anything is stored."""
    return [one.value for one in page.html if "fn-agent" in one.value or "fn-answer" in one.value]


def test_results_show_next_to_their_step_once_it_finishes(model):
    unknown = Call("jira_find", {"text": "휴가 <no>"})
    break_off = Text("They get", " 25 days.", break_after=1)
    model.will(ToolCalls(SEARCH, text="Let me look."), ToolCalls(unknown, text="One more."))
    model.will(break_off)
    done, failed, answer = live(ask_agent())
    assert "fn-done" in done
    assert "2 passages" in done
    assert '<span class="fn-cite">1</span>' in done
    assert "jira_find" in failed
    assert "&lt;no&gt;" in failed
    assert "fn-failed" in failed
    assert "Failed: " not in failed
    assert "They get" in answer
    assert "One more." not in answer


def test_asking_again_follows_the_switch_and_an_edited_query_skips_the_agent(services, model):
    page = ask_agent()
    turns = [last_turn(services, page)]
    page.toggle[0].set_value(False).run()
    press(page, words.ASK_AGAIN)
    turns.append(last_turn(services, page))
    page.toggle[0].set_value(True).run()
    press(page, words.SEARCH_AGAIN)
    page.text_area[0].set_value("days off")
    press(page, words.SEARCH)
    turns.append(last_turn(services, page))
    press(page, words.ASK_AGAIN)
    turns.append(last_turn(services, page))
    assert [bool(turn.steps) for turn in turns] == [True, False, False, True]
    assert [turn.standalone_given for turn in turns] == [False, False, True, False]
    assert turns[2].standalone_question == "days off"
    assert not any(SEARCH_FOR in str(request.body) for request in model.requests)


def test_an_uncited_answer_offers_to_ask_the_agent(model):
    model.answer = lambda _body: Text("I do not know.")
    page = ask_agent()
    nothing_found = next(one.value for one in page.html if "fn-nothing" in one.value)
    assert words.NOTHING_TITLE in nothing_found
    assert words.NOTHING_SEARCHED not in nothing_found
    box = next(area for area in page.text_area if area.label == words.YOUR_QUESTION)
    assert box.value == QUESTION
    box.set_value("How much holiday?")
    html = press(page, words.WIDEN_ASK)
    assert '<div class="fn-question">How much holiday?</div>' in html
    chats = [one.body for one in model.requests if one.path.endswith("/chat/completions")]
    assert all(body["tools"] for body in chats)
    assert [body["messages"][-1]["content"] for body in chats] == [QUESTION, "How much holiday?"]
