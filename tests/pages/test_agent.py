"""The agent switch and the agent's steps on the chat page, over real services."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from domain import EXTRACTIVE, LOCAL_USER, Answerer, Scope, SearchChoice, Step, StepState
from domain.errors import ModelError
from services.chat.chain_builder import AnswerChain
from tests.fakes.openai import MODEL
from tests.pages.conftest import APP, install_services, page_text
from tests.pages.double import Answerers
from ui.text import words

QUESTION = "How many days of annual leave?"
REPLY = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'
STARTED = Step(1, "search_documents", {"query": "annual leave"})


class Agent:
    """Streams the events of the test and records the search choice."""

    def __init__(self):
        self.pieces, self.searches, self.inputs = [], [], []

    def build(self, principal, search, conversation_id):
        self.searches.append(search)
        return AnswerChain(self, MODEL, 60)

    def stream(self, inputs, config):
        self.inputs.append(inputs)
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


@pytest.fixture
def services(monkeypatch, imported):
    yield from install_services(imported(chat=True, embed=True), monkeypatch)


@pytest.fixture
def agent(services, monkeypatch):
    """An agent that searches once and answers with the result."""
    passages = services.search.search(LOCAL_USER, "annual leave", k=2)
    finished = replace(
        STARTED, state=StepState.DONE, result="25 days", sources=(1, 2), milliseconds=400
    )
    agent = Agent()
    agent.pieces = [
        {"answer": "Let me look."},
        {"step": STARTED},
        {"source_documents": passages, "step": finished},
        {"answer": REPLY},
    ]
    monkeypatch.setattr(services.chat, "chains", agent)
    monkeypatch.setattr(services.chat, "agents", agent)
    return agent


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


def test_the_agent_switch_is_remembered_with_its_conversation(services, agent):
    page = ask_agent()
    assert [search.by_agent for search in agent.searches] == [True]
    conversation_id = page.query_params["conversation"]
    assert services.conversations.get(LOCAL_USER, conversation_id).search == SearchChoice(
        by_agent=True
    )
    assert open_page(conversation_id).toggle[0].value is True
    press(page, words.NEW_CONVERSATION)
    assert page.toggle[0].value is False


def test_switching_off_sends_the_next_question_straight_to_search(agent):
    page = ask_agent()
    page.toggle[0].set_value(False).run()
    page.chat_input[0].set_value("And sick leave?").run()
    assert [search.by_agent for search in agent.searches] == [True, False]


def test_the_scope_and_its_reset_do_not_change_the_switch(services, agent):
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


def test_without_a_chat_model_the_switch_names_the_setting_and_is_off(services, agent, monkeypatch):
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave").id
    services.conversations.remember(LOCAL_USER, conversation_id, SearchChoice(k=3, by_agent=True))
    monkeypatch.setattr(services.chat, "answerers", Answerers(Answerer(EXTRACTIVE)))
    page = open_page(conversation_id)
    switch = page.toggle[0]
    assert (switch.disabled, switch.value) == (True, False)
    assert "FOOTNOTE_CHAT_MODEL" in switch.help
    page.chat_input[0].set_value(QUESTION).run()
    assert not page.exception
    assert (agent.searches[0].k, agent.searches[0].by_agent) == (3, False)
    assert services.conversations.get(LOCAL_USER, conversation_id).search.by_agent


def test_the_steps_of_a_stored_turn_are_collapsed_into_one_line(agent):
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


def live(page):
    """Text on the page before anything is stored."""
    return [one.value for one in page.html if "fn-agent" in one.value or "fn-answer" in one.value]


def test_a_step_shows_when_it_starts_and_earlier_text_is_not_the_answer(agent):
    agent.pieces = [*agent.pieces[:2], ModelError("It broke off.")]
    step, answer = live(ask_agent())
    assert "fn-now" in step
    assert "Searching for <strong>annual leave</strong>" in step
    assert "Let me look." in step
    assert "Let me look." not in answer


def test_results_show_next_to_their_step_once_it_finishes(agent):
    second = Step(2, "jira_find", {"text": "휴가"})
    agent.pieces = [
        *agent.pieces[:3],
        {"answer": "One more."},
        {"step": second},
        {"step": replace(second, state=StepState.FAILED, result="Failed: <no>")},
        {"answer": "They get"},
        ModelError("It broke off."),
    ]
    done, failed, answer = live(ask_agent())
    assert "fn-done" in done
    assert "2 passages" in done
    assert '<span class="fn-cite">1</span>' in done
    assert "jira_find" in failed
    assert "&lt;no&gt;" in failed
    assert "Failed: " not in failed
    assert "They get" in answer
    assert "One more." not in answer


def test_asking_again_follows_the_switch_and_an_edited_query_skips_the_agent(agent):
    page = ask_agent()
    page.toggle[0].set_value(False).run()
    agent.pieces = [{"searched_questions": ["annual leave"]}, {"answer": "25."}]
    press(page, words.ASK_AGAIN)
    page.toggle[0].set_value(True).run()
    press(page, words.SEARCH_AGAIN)
    page.text_area[0].set_value("days off")
    press(page, words.SEARCH)
    press(page, words.ASK_AGAIN)
    assert [search.by_agent for search in agent.searches] == [True, False, False, True]
    standalone = [inputs.get("standalone_question") for inputs in agent.inputs]
    assert standalone == [None, None, "days off", None]


def test_an_uncited_answer_offers_to_ask_the_agent(agent):
    agent.pieces = [{"answer": "I do not know."}]
    page = ask_agent()
    nothing_found = next(one.value for one in page.html if "fn-nothing" in one.value)
    assert words.NOTHING_TITLE in nothing_found
    assert words.NOTHING_SEARCHED not in nothing_found
    box = next(area for area in page.text_area if area.label == words.YOUR_QUESTION)
    assert box.value == QUESTION
    box.set_value("How much holiday?")
    html = press(page, words.WIDEN_ASK)
    assert '<div class="fn-question">How much holiday?</div>' in html
    assert [search.by_agent for search in agent.searches] == [True, True]
    assert agent.inputs[-1]["question"] == "How much holiday?"
