"""Questions if a server or a key is configured, but no chat model."""

import socket

import pytest

from domain import EXTRACTIVE, LOCAL_USER, SearchChoice, TurnState
from domain.errors import ConflictError, ModelError
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, Call, Fault, Text, ToolCalls

QUESTION = "How many days of annual leave do new employees get?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'
KEY = "sk-of-another-program"


@pytest.fixture
def no_network(monkeypatch):
    """Fail the test if it looks up any host."""
    hosts = []

    def refuse(host, *_, **__):
        hosts.append(host)
        raise OSError("no network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    assert hosts == []


def chat_requests(server):
    return [one.body for one in server.requests if "messages" in one.body]


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", [None, "", " "])
def test_with_only_a_key_the_built_in_answerer_answers_and_nothing_is_sent(imported, name):
    services = imported(openai_api_key=KEY, chat_model=name)
    services.warm_up()
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.model) == (TurnState.COMPLETE, EXTRACTIVE)
    assert turn.citations
    assert services.chat.model_label == EXTRACTIVE
    assert "OPENAI_API_KEY is set" in services.chat.answerers.current().notice


@pytest.mark.usefixtures("no_network")
def test_with_only_a_key_there_is_no_agent(imported):
    services = imported(openai_api_key=KEY)
    with pytest.raises(ConflictError, match="FOOTNOTE_CHAT_MODEL"):
        services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))


def test_the_only_model_of_a_server_answers_and_is_named_as_the_model(imported, model_server):
    model_server.models = [MODEL]
    model_server.will(Text(GOOD))
    services = imported(openai_base_url=model_server.url)
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.model) == (TurnState.COMPLETE, MODEL)
    assert services.chat.model_label == MODEL
    assert services.costs.model == MODEL
    assert [body["model"] for body in chat_requests(model_server)] == [MODEL]
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_the_agent_also_uses_the_only_model(imported, model_server):
    model_server.models = [MODEL]
    model_server.will(ToolCalls(Call("search_documents", {"query": "annual leave"})), Text(GOOD))
    services = imported(openai_base_url=model_server.url)
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert (turn.state, turn.model) == (TurnState.COMPLETE, MODEL)


def test_the_only_model_writes_alternative_questions(imported, model_server):
    model_server.models = [MODEL]
    model_server.will(Text("Which annual leave?"), Text(GOOD))
    services = imported(openai_base_url=model_server.url, multi_query=1)
    assert services.chat.ask(LOCAL_USER, QUESTION).model == MODEL


def test_with_several_models_the_built_in_answerer_answers(imported, model_server):
    services = imported(openai_base_url=model_server.url, multi_query=1)
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert (turn.state, turn.model) == (TurnState.COMPLETE, EXTRACTIVE)
    assert MODEL in services.chat.answerers.current().notice
    assert chat_requests(model_server) == []


def test_with_an_unreachable_server_the_built_in_answerer_answers(imported):
    services = imported(openai_base_url="http://127.0.0.1:9/v1")
    assert services.chat.ask(LOCAL_USER, QUESTION).model == EXTRACTIVE
    assert "It can't be reached." in services.chat.answerers.current().notice


def test_the_embedding_model_of_the_server_is_not_used_as_a_chat_model(imported, model_server):
    model_server.models = [EMBEDDING_MODEL]
    services = imported(
        openai_base_url=model_server.url,
        embedding_provider="openai",
        embedding_model=EMBEDDING_MODEL,
    )
    assert services.chat.ask(LOCAL_USER, QUESTION).model == EXTRACTIVE
    assert any("input" in one.body for one in model_server.requests)  # it still embeds


def test_a_catalog_question_is_analyzed_and_answered_by_the_only_model(
    imported_restaurants, model_server
):
    model_server.models = [MODEL]
    model_server.answer = lambda _: Text("{}")
    services = imported_restaurants(openai_base_url=model_server.url)
    *_, last = services.catalog.search(LOCAL_USER, "ramen")
    assert last.answer.model == MODEL
    assert f"not by {MODEL}" in last.answer.query.notice


def test_with_only_a_key_a_catalog_question_needs_no_model(imported_restaurants):
    services = imported_restaurants(openai_api_key=KEY)
    *_, last = services.catalog.search(LOCAL_USER, "ramen")
    assert (last.answer.model, last.answer.query.notice) == (EXTRACTIVE, "")


def test_the_error_for_an_unknown_model_names_it(imported, model_server):
    model_server.will(Fault(404))
    services = imported(openai_base_url=model_server.url, chat_model="tset-chat")
    with pytest.raises(ModelError, match="has no model named 'tset-chat'"):
        services.chat.ask(LOCAL_USER, QUESTION)
