"""Which model answers where the settings leave it open, over the real protocol."""

import threading

import pytest
from pydantic import SecretStr

from domain import EXTRACTIVE
from errors import ConfigError
from models import chat_choice
from models.chat_choice import ChatModelChoice, ChatSpec
from tests.fakes.openai import MODEL, Fault, Raw

KEY = SecretStr("sk-secret-7")


def choice(server, *others, **settings):
    return ChatModelChoice(ChatSpec(base_url=server.url, **settings), others)


def test_without_a_server_the_built_in_answerer_answers_and_nothing_is_to_be_said():
    assert ChatModelChoice(ChatSpec()).settled() == (EXTRACTIVE, "")
    assert ChatModelChoice(ChatSpec("gpt-5")).settled() == (EXTRACTIVE, "")


def test_a_model_that_is_named_answers_and_nobody_is_asked(server):
    chosen = choice(server, model="mine")
    assert chosen.current() == chosen.settled() == ("mine", "")
    assert server.requests == []


@pytest.mark.parametrize(
    "url", [None, "https://api.openai.com/v1", "https://eu.api.openai.com/v1/"]
)
def test_a_key_of_openai_alone_is_no_leave_to_ask_anybody(url, monkeypatch):
    monkeypatch.setattr(chat_choice, "listed_models", None)  # calling it would fail
    label, notice = ChatModelChoice(ChatSpec(api_key=KEY, base_url=url)).settled()
    assert label == EXTRACTIVE
    assert "OPENAI_API_KEY is set, but FOOTNOTE_CHAT_MODEL is not" in notice
    assert "api.openai.com" in notice
    assert "sk-secret" not in notice


def test_the_address_of_openai_alone_is_named_where_there_is_no_key():
    label, notice = ChatModelChoice(ChatSpec(base_url="https://api.openai.com/v1")).settled()
    assert label == EXTRACTIVE
    assert notice.startswith("OPENAI_BASE_URL is set, but FOOTNOTE_CHAT_MODEL is not")


def test_whatever_another_program_has_for_a_key_does_no_harm():
    assert ChatModelChoice(ChatSpec(api_key=SecretStr("no key\n"))).settled().label == EXTRACTIVE


def test_the_only_model_of_a_server_answers_and_it_is_said(server):
    server.models = [MODEL]
    chosen = choice(server, api_key=KEY)
    label, notice = chosen.settled()
    assert label == MODEL
    assert f"{MODEL}, the only model that 127.0.0.1" in notice
    assert chosen.current() == (label, notice)
    [asked] = server.requests
    assert (asked.method, asked.path) == ("GET", "/v1/models")
    assert asked.headers["authorization"] == f"Bearer {KEY.get_secret_value()}"


def test_once_found_it_stays_whatever_the_server_does(server, monkeypatch):
    monkeypatch.setattr(chat_choice, "LOOK_AGAIN_S", -1)
    server.models = [MODEL]
    chosen = choice(server)
    assert chosen.settled().label == MODEL
    server.models = ["another"]
    assert chosen.settled().label == MODEL
    assert len(server.requests) == 1


def test_the_model_that_embeds_there_is_none_that_answers(server):
    assert choice(server, "test-embedding").settled().label == MODEL


def test_several_models_are_named_to_choose_from(server):
    label, notice = choice(server).settled()
    assert label == EXTRACTIVE
    assert "offers 2 models" in notice
    assert notice.endswith("Set FOOTNOTE_CHAT_MODEL to one of them: test-chat, test-embedding")


def test_of_many_models_a_few_are_named(server):
    server.models = [f"m{n}" for n in range(400)]
    assert choice(server).settled().notice.endswith("m6, m7, …")


def test_a_server_without_models_says_so(server):
    server.models = []
    assert "offers no chat model" in choice(server).settled().notice


def test_the_same_model_listed_twice_is_one(server):
    server.models = [MODEL, MODEL]
    assert choice(server).settled().label == MODEL


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Raw(b"<html>", "text/html"), "Its answer is not a list of models."),
        (Raw(b'{"data": [1]}'), "Its answer is not a list of models."),
        (Raw(b'{"models": []}'), "Its answer is not a list of models."),
        (Raw(b"[" * 100_000), "Its answer is not a list of models."),
        (Fault(404), "It answers with HTTP 404."),
        (Fault(401), "It answers with HTTP 401."),
    ],
)
def test_a_server_that_lists_nothing_is_named_with_what_to_do(server, reply, why):
    server.listing.append(reply)
    label, notice = choice(server).settled()
    assert label == EXTRACTIVE
    assert why in notice
    assert f"Check OPENAI_BASE_URL ({server.url})" in notice
    assert len(server.requests) == 1


def test_a_server_that_fails_is_asked_once_more(server):
    server.models = [MODEL]
    server.listing.append(Fault(503))
    assert choice(server).settled().label == MODEL
    assert len(server.requests) == 2


def test_a_list_that_never_ends_is_left(server, monkeypatch):
    monkeypatch.setattr(chat_choice, "LIST_BYTES", 100)
    server.listing.append(Raw(b" " * 10_000))
    assert "Its answer does not end." in choice(server).settled().notice


def test_a_server_that_starts_late_is_found_when_it_is_asked_again(server, monkeypatch):
    late = ChatModelChoice(ChatSpec(base_url="http://127.0.0.1:9/v1"))
    assert "It can't be reached." in late.settled().notice
    server.models = [MODEL]
    found = choice(server)
    server.listing.extend([Fault(404)])
    assert found.settled().label == EXTRACTIVE
    assert found.settled().label == EXTRACTIVE
    assert len(server.requests) == 1  # not at each question
    monkeypatch.setattr(chat_choice, "LOOK_AGAIN_S", -1)
    assert found.settled().label == MODEL


def test_a_page_does_not_wait_for_a_server_that_is_silent(server, monkeypatch):
    monkeypatch.setattr(chat_choice, "FIRST_LOOK_S", 0)
    answers = threading.Event()
    asked = threading.Event()

    def silent(_):
        asked.set()
        answers.wait(10)
        return [MODEL]

    monkeypatch.setattr(chat_choice, "listed_models", silent)
    chosen = choice(server)
    assert chosen.current().label == EXTRACTIVE
    assert asked.wait(10)
    assert chosen.current().label == EXTRACTIVE
    answers.set()
    assert chosen.settled().label == MODEL  # a question waits
    assert chosen.current().label == MODEL


def test_questions_at_the_same_time_ask_the_server_once(server):
    server.models = [MODEL]
    chosen = choice(server)
    threads = [threading.Thread(target=chosen.settled) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 1


@pytest.mark.parametrize("model", ["", MODEL])
def test_an_address_that_is_none_is_named(model):
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL is not a valid address"):
        ChatModelChoice(ChatSpec(model, base_url="localhost:11434"))


def test_a_key_that_can_be_none_is_named_where_a_server_is_to_be_asked(server):
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not a valid key"):
        choice(server, api_key=SecretStr("sk-1 "))
