"""Endless answers of a model, and which model the API reports."""

import pytest

from domain import EXTRACTIVE
from tests.api.openai.conversations import QUESTION, chat_messages
from tests.fakes.openai import MODEL, Endless, Text

LIMITS = [
    ({"chat_max_tokens": 16}, "FOOTNOTE_CHAT_MAX_TOKENS"),
    ({"chat_answer_timeout_s": 4, "chat_max_tokens": 0}, "FOOTNOTE_CHAT_ANSWER_TIMEOUT_S"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "setting"), LIMITS)
def test_a_truncated_answer_has_finish_reason_length_and_names_the_limit(
    build_client, model_server, settings, setting
):
    model_server.will(Endless(content="word "))
    client = build_client(chat=True, **settings)
    choice = client.chat.completions.create(
        model="footnote", messages=chat_messages(QUESTION)
    ).choices[0]
    assert choice.finish_reason == "length"
    assert choice.message.content.startswith("word word ")
    assert setting in choice.message.footnote["error"]
    assert model_server.hung_up.wait(10)


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "setting"), LIMITS)
def test_a_truncated_stream_has_finish_reason_length_and_names_the_limit(
    build_client, model_server, settings, setting
):
    model_server.will(Endless(content="word "))
    stream = build_client(chat=True, **settings).chat.completions.create(
        model="footnote", messages=chat_messages(QUESTION), stream=True
    )
    choices = [chunk.choices[0] for chunk in stream]
    assert choices[-1].finish_reason == "length"
    assert "".join(one.delta.content or "" for one in choices).startswith("word word ")
    assert setting in choices[-1].delta.footnote["error"]
    assert model_server.hung_up.wait(10)


def test_the_agent_is_listed_if_the_server_has_one_model(build_client, model_server):
    model_server.models = [MODEL]
    client = build_client(openai_base_url=model_server.url)
    client.services.chat.answerers.resolve()
    assert "footnote-agent" in [one.id for one in client.models.list()]


def test_with_only_a_key_there_is_no_agent_and_answers_quote_the_library(
    build_client, model_server
):
    client = build_client(openai_api_key="sk-1")
    assert "footnote-agent" not in [one.id for one in client.models.list()]
    choice = client.chat.completions.create(
        model="footnote", messages=chat_messages(QUESTION)
    ).choices[0]
    assert choice.message.footnote["model"] == EXTRACTIVE
    assert model_server.requests == []


def test_the_extract_follows_an_uncited_answer_whole_and_streamed(build_client, model_server):
    model_server.will(Text("Thirty ", "days of holidays."), Text("Thirty ", "days of holidays."))
    client = build_client(chat=True)
    parameters = {"model": "footnote", "messages": chat_messages(QUESTION)}
    whole = client.chat.completions.create(**parameters).choices[0].message
    chunks = [
        chunk.choices[0].delta
        for chunk in client.chat.completions.create(**parameters, stream=True)
    ]
    model, heading, quote, *_ = whole.content.split("\n\n")
    assert model == "Thirty days of holidays."
    assert heading.startswith("**The text above cites nothing")
    assert quote.endswith("[1]")
    assert "\nSources:\n[1] " in whole.content
    assert "".join(delta.content or "" for delta in chunks) == whole.content
    assert {one["state"] for one in whole.footnote["citations"]} == {"verified"}
