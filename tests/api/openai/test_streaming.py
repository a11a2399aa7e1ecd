import asyncio
import json

import openai
import pytest

from tests.api.openai.conftest import WAIT_S
from tests.api.openai.talks import ASKED, GOOD, SHOWN, said
from tests.fakes.openai import Fault, Text
from tests.fakes.tool_calls import Call, ToolCalls

PIECES = [f"{word} " for word in GOOD.split()]


def stream(client, model="footnote", **more):
    return client.chat.completions.create(model=model, messages=said(ASKED), stream=True, **more)


def raw_events(client):
    """The data of each event, as it goes over the wire."""
    body = {"model": "footnote", "messages": said(ASKED), "stream": True}
    told = client.chat.completions.with_raw_response.create(**body)
    assert told.headers["content-type"].startswith("text/event-stream")
    lines = told.http_response.read().decode().splitlines()
    return [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]


def text_of(chunks):
    return "".join(one.choices[0].delta.content or "" for one in chunks if one.choices)


def test_the_role_comes_first_and_the_evidence_last(client, model_server):
    model_server.will(Text(*PIECES))
    chunks = list(stream(client(chat=True)))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert all(one.object == "chat.completion.chunk" for one in chunks)
    assert {one.id for one in chunks} == {chunks[0].id}
    assert len({one.created for one in chunks}) == 1
    assert [one.choices[0].finish_reason for one in chunks[:-1]] == [None] * (len(chunks) - 1)
    last = chunks[-1].choices[0]
    assert last.finish_reason == "stop"
    assert [one["state"] for one in last.delta.footnote["citations"]] == ["verified"]
    assert last.delta.annotations == []


def test_what_is_streamed_is_what_is_told_at_once(client, model_server):
    model_server.will(Text(*PIECES), Text(GOOD + " "))
    made = client(chat=True)
    streamed = text_of(stream(made))
    whole = made.chat.completions.create(model="footnote", messages=said(ASKED))
    assert streamed == whole.choices[0].message.content
    assert "\n\nSources:\n[1] Leave policy" in streamed


def test_the_tokens_come_in_a_chunk_of_their_own_if_wanted(client, model_server):
    model_server.will(Text(GOOD, prompt_tokens=42, completion_tokens=9))
    *others, last = stream(client(chat=True), stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage.total_tokens == 51
    assert {one.usage for one in others} == {None}


def test_the_end_is_told_on_the_wire(client):
    *chunks, done = raw_events(client())
    assert done == "[DONE]"
    assert all("usage" not in json.loads(one) for one in chunks)


def test_the_pieces_are_put_together_by_the_client(client, model_server):
    model_server.will(Text(*PIECES))
    with client(chat=True).chat.completions.stream(
        model="footnote", messages=said(ASKED)
    ) as events:
        message = events.get_final_completion().choices[0].message
    assert message.content.endswith(message.footnote["citations"][0]["location"])


def test_what_fails_before_the_first_word_is_a_status(client, model_server):
    model_server.will(Fault(503, "overloaded"))
    with pytest.raises(openai.InternalServerError) as failed:
        stream(client(chat=True))
    assert failed.value.status_code == 503
    assert failed.value.response.headers["retry-after"].isdigit()


def test_what_fails_later_is_an_error_and_the_end_is_not_told(client, model_server):
    model_server.will(*[Text("They ", "get ", "25", break_after=2)] * 2)
    made = client(chat=True)
    seen = []
    with pytest.raises(openai.APIError, match="stopped responding"):
        seen.extend(stream(made))
    assert raw_events(made)[-1].startswith('{"error": {"message": ')


def test_a_client_that_goes_away_in_mid_stream_ends_the_answer_of_the_model(client, model_server):
    model_server.will(Text(*["word "] * 100, pause_s=0.2))
    with stream(client(chat=True)) as chunks:
        assert next(one for one in chunks if one.choices[0].delta.content)
    assert model_server.hung_up.wait(WAIT_S)


async def leave_once_the_model_is_asked(client, model_server, **more):
    address = {"base_url": client.base_url, "api_key": client.api_key}
    async with openai.AsyncOpenAI(**address, max_retries=0) as made, asyncio.timeout(WAIT_S):
        asking = asyncio.create_task(
            made.chat.completions.create(model="footnote", messages=said(ASKED), **more)
        )
        while not model_server.requests:
            await asyncio.sleep(0.02)
        asking.cancel()
        await asyncio.wait([asking])


async def test_a_client_that_does_not_wait_for_the_first_word_ends_it_too(client, model_server):
    model_server.will(Text(*["word "] * 100, delay_s=3, pause_s=0.1))
    await leave_once_the_model_is_asked(client(chat=True), model_server, stream=True)
    assert await asyncio.to_thread(model_server.hung_up.wait, WAIT_S)


async def test_a_client_that_does_not_wait_for_the_whole_ends_it_as_well(client, model_server):
    model_server.will(Text(*["word "] * 200, pause_s=0.1))
    await leave_once_the_model_is_asked(client(chat=True), model_server)
    assert await asyncio.to_thread(model_server.hung_up.wait, WAIT_S)


def test_what_an_agent_says_between_its_steps_is_a_paragraph_of_its_own(client, model_server):
    model_server.will(
        ToolCalls(Call("search_documents", {"query": "annual leave"}), text="I look."), Text(GOOD)
    )
    chunks = list(stream(client(chat=True), model="footnote-agent"))
    assert text_of(chunks).startswith(f"I look.\n\n{SHOWN}\n\nSources:")
    assert chunks[-1].choices[0].delta.footnote["steps"][0]["said"] == "I look."
