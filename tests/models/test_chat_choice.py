"""The model that answers if the settings name none, over the real protocol."""

import threading

import pytest
from pydantic import SecretStr

from domain import EXTRACTIVE
from domain.errors import ConfigError
from models import chat_choice
from models.chat_choice import ChatModelChoice, ChatSpec
from tests.fakes.openai import MODEL, Fault, Raw

KEY = SecretStr("sk-secret-7")


def choice(server, *others, **settings):
    return ChatModelChoice(ChatSpec(base_url=server.url, **settings), others)


def test_without_a_server_the_built_in_answerer_is_used_without_a_notice():
    assert ChatModelChoice(ChatSpec()).resolve() == (EXTRACTIVE, "")
    assert ChatModelChoice(ChatSpec("gpt-5")).resolve() == (EXTRACTIVE, "")


def test_a_configured_model_is_used_without_a_request(server):
    chosen = choice(server, model="mine")
    assert chosen.current() == chosen.resolve() == ("mine", "")
    assert server.requests == []


@pytest.mark.parametrize(
    "url", [None, "https://api.openai.com/v1", "https://eu.api.openai.com/v1/"]
)
def test_an_openai_key_without_a_model_sends_no_request(url, monkeypatch):
    monkeypatch.setattr(chat_choice, "listed_models", None)  # calling it would fail
    label, notice = ChatModelChoice(ChatSpec(api_key=KEY, base_url=url)).resolve()
    assert label == EXTRACTIVE
    assert "OPENAI_API_KEY is set, but FOOTNOTE_CHAT_MODEL is not" in notice
    assert "api.openai.com" in notice
    assert "sk-secret" not in notice


def test_the_openai_url_without_a_key_is_reported():
    label, notice = ChatModelChoice(ChatSpec(base_url="https://api.openai.com/v1")).resolve()
    assert label == EXTRACTIVE
    assert notice.startswith("OPENAI_BASE_URL is set, but FOOTNOTE_CHAT_MODEL is not")


def test_an_invalid_key_without_a_model_is_ignored():
    assert ChatModelChoice(ChatSpec(api_key=SecretStr("no key\n"))).resolve().label == EXTRACTIVE


def test_the_only_model_of_a_server_is_used_and_reported(server):
    server.models = [MODEL]
    chosen = choice(server, api_key=KEY)
    label, notice = chosen.resolve()
    assert label == MODEL
    assert f"{MODEL}, the only model that 127.0.0.1" in notice
    assert chosen.current() == (label, notice)
    [request] = server.requests
    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers["authorization"] == f"Bearer {KEY.get_secret_value()}"


def test_the_model_does_not_change_once_selected(server, monkeypatch):
    monkeypatch.setattr(chat_choice, "QUERY_INTERVAL_S", -1)
    server.models = [MODEL]
    chosen = choice(server)
    assert chosen.resolve().label == MODEL
    server.models = ["another"]
    assert chosen.resolve().label == MODEL
    assert len(server.requests) == 1


def test_the_embedding_model_of_the_server_is_not_a_candidate(server):
    assert choice(server, "test-embedding").resolve().label == MODEL


def test_several_models_are_listed_as_options(server):
    label, notice = choice(server).resolve()
    assert label == EXTRACTIVE
    assert "offers 2 models" in notice
    assert notice.endswith("to one of them: test-chat, test-embedding")


def test_only_a_few_of_many_models_are_listed(server):
    server.models = [f"m{n}" for n in range(400)]
    assert choice(server).resolve().notice.endswith("m6, m7, …")


def test_a_server_without_models_is_reported(server):
    server.models = []
    assert "offers no chat model" in choice(server).resolve().notice


def test_a_model_listed_twice_counts_once(server):
    server.models = [MODEL, MODEL]
    assert choice(server).resolve().label == MODEL


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Raw(b"<html>", "text/html"), "Its response is not a list of models."),
        (Raw(b'{"data": [1]}'), "Its response is not a list of models."),
        (Raw(b'{"models": []}'), "Its response is not a list of models."),
        (Raw(b"[" * 100_000), "Its response is not a list of models."),
        (Fault(404), "It returned HTTP 404."),
        (Fault(401), "It returned HTTP 401."),
    ],
)
def test_a_server_without_a_valid_model_list_is_reported_with_a_remedy(server, reply, reason):
    server.listing.append(reply)
    label, notice = choice(server).resolve()
    assert label == EXTRACTIVE
    assert reason in notice
    assert f"Check the endpoint ({server.url})" in notice
    assert len(server.requests) == 1


def test_a_failing_server_is_queried_once_more(server):
    server.models = [MODEL]
    server.listing.append(Fault(503))
    assert choice(server).resolve().label == MODEL
    assert len(server.requests) == 2


def test_reading_stops_at_the_size_limit_of_a_model_list(server, monkeypatch):
    monkeypatch.setattr(chat_choice, "LIST_BYTES", 100)
    server.listing.append(Raw(b" " * 10_000))
    assert "Its response did not end." in choice(server).resolve().notice


def test_a_server_that_starts_late_is_found_by_a_later_request(server, monkeypatch):
    late = ChatModelChoice(ChatSpec(base_url="http://127.0.0.1:9/v1"))
    assert "It can't be reached." in late.resolve().notice
    server.models = [MODEL]
    chosen = choice(server)
    server.listing.extend([Fault(404)])
    assert chosen.resolve().label == EXTRACTIVE
    assert chosen.resolve().label == EXTRACTIVE
    assert len(server.requests) == 1  # not at each question
    monkeypatch.setattr(chat_choice, "QUERY_INTERVAL_S", -1)
    assert chosen.resolve().label == MODEL


def test_a_page_does_not_wait_for_a_silent_server(server, monkeypatch):
    monkeypatch.setattr(chat_choice, "FIRST_WAIT_S", 0)
    may_reply = threading.Event()
    requested = threading.Event()

    def silent(_):
        requested.set()
        may_reply.wait(10)
        return [MODEL]

    monkeypatch.setattr(chat_choice, "listed_models", silent)
    chosen = choice(server)
    assert chosen.current().label == EXTRACTIVE
    assert requested.wait(10)
    assert chosen.current().label == EXTRACTIVE
    may_reply.set()
    assert chosen.resolve().label == MODEL  # a question waits
    assert chosen.current().label == MODEL


def test_concurrent_questions_query_the_server_once(server):
    server.models = [MODEL]
    chosen = choice(server)
    threads = [threading.Thread(target=chosen.resolve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 1


@pytest.mark.parametrize("model", ["", MODEL])
def test_an_invalid_base_url_is_reported(model):
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL is not a valid address"):
        ChatModelChoice(ChatSpec(model, base_url="localhost:11434"))


def test_an_invalid_key_for_a_configured_server_is_reported(server):
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not a valid key"):
        choice(server, api_key=SecretStr("sk-1 "))
