"""Answers of the API that never end, and what it says of the model that answers."""

import pytest

from domain import EXTRACTIVE
from tests.api.openai.talks import ASKED, said
from tests.fakes.openai import MODEL, Endless, Text

LIMITS = [
    ({"chat_max_tokens": 16}, "FOOTNOTE_CHAT_MAX_TOKENS"),
    ({"chat_answer_timeout_s": 4, "chat_max_tokens": 0}, "FOOTNOTE_CHAT_ANSWER_TIMEOUT_S"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "setting"), LIMITS)
def test_a_whole_answer_ends_with_length_and_says_why(client, model_server, settings, setting):
    model_server.will(Endless(content="word "))
    made = client(chat=True, **settings)
    told = made.chat.completions.create(model="footnote", messages=said(ASKED)).choices[0]
    assert told.finish_reason == "length"
    assert told.message.content.startswith("word word ")
    assert setting in told.message.footnote["error"]
    assert model_server.hung_up.wait(10)


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "setting"), LIMITS)
def test_a_streamed_answer_ends_with_length_and_says_why(client, model_server, settings, setting):
    model_server.will(Endless(content="word "))
    stream = client(chat=True, **settings).chat.completions.create(
        model="footnote", messages=said(ASKED), stream=True
    )
    choices = [chunk.choices[0] for chunk in stream]
    assert choices[-1].finish_reason == "length"
    assert "".join(one.delta.content or "" for one in choices).startswith("word word ")
    assert setting in choices[-1].delta.footnote["error"]
    assert model_server.hung_up.wait(10)


def test_the_agent_is_there_where_a_server_has_one_model(client, model_server):
    model_server.models = [MODEL]
    made = client(openai_base_url=model_server.url)
    made.services.chat.answerers.settled()
    assert "footnote-agent" in [one.id for one in made.models.list()]


def test_with_a_key_alone_there_is_no_agent_and_the_library_is_quoted(client, model_server):
    made = client(openai_api_key="sk-1")
    assert "footnote-agent" not in [one.id for one in made.models.list()]
    told = made.chat.completions.create(model="footnote", messages=said(ASKED)).choices[0]
    assert told.message.footnote["model"] == EXTRACTIVE
    assert model_server.requests == []


def test_an_unproven_answer_has_the_extract_whole_and_streamed(client, model_server):
    model_server.will(Text("Thirty ", "days of holidays."), Text("Thirty ", "days of holidays."))
    made = client(chat=True)
    ask = {"model": "footnote", "messages": said(ASKED)}
    whole = made.chat.completions.create(**ask).choices[0].message
    chunks = [chunk.choices[0].delta for chunk in made.chat.completions.create(**ask, stream=True)]
    model, heading, quote, *_ = whole.content.split("\n\n")
    assert model == "Thirty days of holidays."
    assert heading.startswith("**The text above cites nothing")
    assert quote.endswith("[1]")
    assert "\nSources:\n[1] " in whole.content
    assert "".join(delta.content or "" for delta in chunks) == whole.content
    assert {one["state"] for one in whole.footnote["citations"]} == {"verified"}
